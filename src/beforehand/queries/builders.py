"""The language for those who would rather write Python; each builder makes the very object that the text parses to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from beforehand.errors import QueryError
from beforehand.queries.patterns import Pattern, chain, choice, pattern
from beforehand.queries.propositions import (
    Always,
    Before,
    CountIs,
    EventIs,
    Matches,
    Never,
    Occurs,
    Proposition,
    Says,
    Sequence,
    Until,
    WhenIs,
)
from beforehand.queries.questions import (
    CountDistribution,
    EventAt,
    Expectation,
    Futures,
    Probability,
    Question,
    WhenDistribution,
    Which,
)
from beforehand.queries.sets import EventSet, event_set
from beforehand.queries.texts import Text

Events = EventSet | str | Iterable[str]


class _Comparable:
    """Something with a number; the comparisons make propositions."""

    __hash__ = None  # type: ignore[assignment]

    def between(self, low: int, high: int | None) -> Any:
        raise NotImplementedError

    _floor = 0

    def __eq__(self, value: object) -> Any:
        return self.between(_whole(value), _whole(value))

    def __ne__(self, value: object) -> Any:
        return ~self.between(_whole(value), _whole(value))

    def __ge__(self, value: int) -> Any:
        return self.between(_whole(value), None)

    def __gt__(self, value: int) -> Any:
        return self.between(_whole(value) + 1, None)

    def __le__(self, value: int) -> Any:
        return self.between(self._floor, _whole(value))

    def __lt__(self, value: int) -> Any:
        return self.between(self._floor, _whole(value) - 1)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise QueryError(f"compare with a whole number; got {value!r}")
    return value


class when(_Comparable):  # noqa: N801 - reads as a word of the language
    """`when("purchase") == 10`, `when("purchase").within(50)`: the number of events until the first purchase."""

    _floor = 1

    def __init__(self, events: Events | _Text) -> None:
        self.events = _happening(events)

    def between(self, low: int, high: int | None) -> WhenIs:
        """The first of the events comes at a step from `low` to `high`."""
        if isinstance(self.events, Text):
            raise QueryError("of a text, ask for the whole distribution: when(text…).within(K), or for text… .within(K)")
        return WhenIs(self.events, low, high)

    def within(self, horizon: int) -> WhenDistribution:
        """Its whole distribution, up to a horizon."""
        return WhenDistribution(self.events, horizon)


class _CountWithin(_Comparable):
    def __init__(self, events: EventSet, horizon: int) -> None:
        self.events, self.horizon = events, horizon

    def between(self, low: int, high: int | None) -> CountIs:
        return CountIs(self.events, low, high, self.horizon)

    @property
    def distribution(self) -> CountDistribution:
        return CountDistribution(self.events, self.horizon)


class count:  # noqa: N801 - reads as a word of the language
    """`count("error").within(10) == 3` is a proposition; `count("error").within(10)` alone asks for the distribution."""

    def __init__(self, events: Events) -> None:
        self.events = event_set(events)

    def within(self, horizon: int) -> _CountWithin:
        """Within so many events."""
        return _CountWithin(self.events, horizon)


class event(_Comparable):  # noqa: N801 - reads as a word of the language
    """`event(10) == "purchase"` is a proposition; `event(10)` alone asks which event comes ten steps from now."""

    def __init__(self, step: int) -> None:
        self.question = EventAt(step)

    def __eq__(self, events: object) -> Any:
        return EventIs(self.question.step, event_set(events))  # type: ignore[arg-type]

    def __ne__(self, events: object) -> Any:
        return ~EventIs(self.question.step, event_set(events))  # type: ignore[arg-type]

    def between(self, low: object, high: object) -> Any:
        """An event is no number."""
        raise QueryError(f"event({self.question.step}) is an event, so it can equal labels, but is not above or below anything")


class _Then:
    def __init__(self, steps: tuple[EventSet, ...], immediate: tuple[bool, ...]) -> None:
        self.steps, self.immediate = steps, immediate

    def then(self, events: Events, immediately: bool = False) -> _Then:
        return _Then((*self.steps, event_set(events)), (*self.immediate, immediately))

    def within(self, horizon: int) -> Sequence:
        return Sequence(self.steps, self.immediate, horizon)


class _Until:
    def __init__(self, hold: EventSet, goal: EventSet) -> None:
        self.hold, self.goal = hold, goal

    def within(self, horizon: int) -> Until:
        return Until(self.hold, self.goal, horizon)


class occurs:  # noqa: N801 - reads as a word of the language
    """`occurs("purchase").within(30)`, `.before("logout")`, `.then("purchase")`, `.until("purchase")`."""

    def __init__(self, events: Events) -> None:
        self.events = event_set(events)

    def within(self, horizon: int) -> Occurs:
        """It happens within so many events."""
        return Occurs(self.events, horizon)

    def before(self, events: Events) -> Before:
        """It happens before any of the other events does, whenever that is; `.within(K)` bounds it."""
        return Before(self.events, event_set(events))

    def then(self, events: Events, immediately: bool = False) -> _Then:
        """It happens, and later (or at once) the other does."""
        return _Then((self.events, event_set(events)), (immediately,))

    def until(self, events: Events) -> _Until:
        """Nothing else happens until the other does."""
        return _Until(self.events, event_set(events))


class _Text:
    """A text to come; `.within(K)` makes a statement of it."""

    def __init__(self, wanted: str | re.Pattern[str], anywhere: bool) -> None:
        expression = isinstance(wanted, re.Pattern)
        self.text = Text(wanted.pattern if isinstance(wanted, re.Pattern) else wanted, expression, anywhere)

    def within(self, horizon: int) -> Says:
        return Says(self.text, horizon)


class text:  # noqa: N801 - reads as a word of the language
    """`text.contains("good").within(10)`, `text.matches(re.compile(" [A-Z].*"))`: what the events spell, however it is cut into
    them. A regular expression is given compiled."""

    @staticmethod
    def contains(wanted: str | re.Pattern[str]) -> _Text:
        """It stands somewhere in what comes."""
        return _Text(wanted, anywhere=True)

    @staticmethod
    def matches(wanted: str | re.Pattern[str]) -> _Text:
        """What comes begins with it."""
        return _Text(wanted, anywhere=False)


def _happening(events: Events | _Text) -> EventSet | Text:
    return events.text if isinstance(events, _Text) else event_set(events)


class _Within:
    def __init__(self, kind: type[Never] | type[Always], events: Events) -> None:
        self.kind, self.events = kind, event_set(events)

    def within(self, horizon: int) -> Never | Always:
        return self.kind(self.events, horizon)


def never(events: Events) -> _Within:
    """`never("refund").within(50)`."""
    return _Within(Never, events)


def always(events: Events) -> _Within:
    """`always({"a", "b"}).within(5)`."""
    return _Within(Always, events)


class _Matches:
    def __init__(self, wanted: Pattern) -> None:
        self.pattern = wanted

    def within(self, horizon: int) -> Matches:
        return Matches(self.pattern, horizon)


def matches(*parts: Pattern | EventSet | str | Iterable[str]) -> _Matches:
    """`matches(repeat("view"), "purchase").within(20)`: the future begins with these patterns one after the other."""
    return _Matches(chain(map(pattern, parts)))


def products(*rows: Iterable[Events]) -> Matches:
    """An explicit union of set products, each row V₁ × … × V_K: `products(["a", "b"], [{"a", "c"}, "a"])`."""
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise QueryError(f"each row of products(...) is a list of sets, one a step; got {row!r}")
    chains = [chain(pattern(events) for events in row) for row in rows]
    horizon = max((sum(1 for _ in each.sets()) for each in chains), default=0)
    return Matches(choice(chains), horizon)


class which:  # noqa: N801 - reads as a word of the language
    """`which("purchase", "logout").within(30)`: what happens first."""

    def __init__(self, *options: Events | _Text) -> None:
        self.options = tuple(map(_happening, options))

    def within(self, horizon: int) -> Which:
        """Within so many events."""
        return Which(self.options, horizon)


def P(proposition: Proposition, given: Proposition | None = None) -> Probability:  # noqa: N802 - the mathematics' own name
    """The probability of a proposition, perhaps given another."""
    _check_statement(proposition, "P(...)")
    if given is not None:
        _check_statement(given, "P(...)")
    return Probability(proposition, given)


def _check_statement(part: object, where: str) -> None:
    if not isinstance(part, Proposition):
        raise QueryError(f"{where} takes a statement about the future; got {part!r}: say when it must happen, as in .within(10)")


def E(distribution: object) -> Expectation:  # noqa: N802 - the mathematics' own name
    """The mean of a `when` or a `count` distribution."""
    asked = as_question(distribution)
    if not isinstance(asked, WhenDistribution | CountDistribution):
        raise QueryError(f"E(...) takes when(...) within K or count(...) within K; got {asked}")
    return Expectation(asked)


def futures(where: Proposition) -> Futures:
    """Futures in which a proposition comes true."""
    _check_statement(where, "futures(...)")
    return Futures(where)


def as_question(asked: object) -> Question:
    """A question from what a builder leaves: `event(10)` and `count(...).within(10)` are questions on their own."""
    if isinstance(asked, Question):
        return asked
    if isinstance(asked, event):
        return asked.question
    if isinstance(asked, _CountWithin):
        return asked.distribution
    if isinstance(asked, Proposition):
        raise QueryError(f"{asked} is a statement; ask for its probability: P({asked})")
    raise QueryError(f"not a question: {asked!r}; write text, or use the builders (bh.P, bh.when, bh.event, …)")


next_event = EventAt(1)
