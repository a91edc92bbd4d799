"""Statements about the future that come out true or false."""

from __future__ import annotations

from dataclasses import dataclass

from beforehand.errors import QueryError
from beforehand.queries.patterns import Pattern
from beforehand.queries.sets import EventSet
from beforehand.queries.texts import Text

LONGEST_HORIZON = 1_000_000


class Proposition:
    """A statement that a future makes true or false; `&`, `|` and `~` combine them."""

    def __and__(self, other: Proposition) -> Proposition:
        return And(_flatten(And, self, other))

    def __or__(self, other: Proposition) -> Proposition:
        return Or(_flatten(Or, self, other))

    def __invert__(self) -> Proposition:
        return Not(self)

    def __bool__(self) -> bool:
        raise QueryError(
            f"({self}) is neither true nor false yet: combine statements with &, | and ~ instead of and, or and not, "
            "and write a range as .between(low, high)"
        )


def _flatten(kind: type[And] | type[Or], *parts: Proposition) -> tuple[Proposition, ...]:
    for part in parts:
        if not isinstance(part, Proposition):
            raise QueryError(
                f"only statements about the future can be combined; got {part!r}: say when it must happen, as in .within(10)"
            )
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)))


def check_steps(steps: object, what: str = "a horizon") -> None:
    """A number of events must be a whole number from 1 on."""
    if not isinstance(steps, int) or isinstance(steps, bool):
        raise QueryError(f"{what} is a whole number of events; got {steps!r}")
    if steps < 1:
        raise QueryError(f"{what} is at least 1 event from now; got {steps}", about=steps)
    if steps > LONGEST_HORIZON:
        raise QueryError(f"{what} of {steps:,} events is past the limit of {LONGEST_HORIZON:,}", about=steps)


def _check_range(low: object, high: object, what: str) -> None:
    for end in (low, high):
        if end is not None and (not isinstance(end, int) or isinstance(end, bool)):
            raise QueryError(f"{what} is compared with whole numbers; got {end!r}")


@dataclass(frozen=True)
class _Bounded(Proposition):
    def __post_init__(self) -> None:
        check_steps(self.horizon)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Occurs(_Bounded):
    """One of the events happens within the horizon."""

    events: EventSet
    horizon: int

    def __str__(self) -> str:
        return f"{self.events} within {self.horizon}"


@dataclass(frozen=True)
class Says(_Bounded):
    """The text of the events within the horizon has a text in it."""

    text: Text
    horizon: int

    def __str__(self) -> str:
        return f"{self.text} within {self.horizon}"


@dataclass(frozen=True)
class Before(_Bounded):
    """One of `first` happens before any of `second`; without a horizon, whenever that is."""

    first: EventSet
    second: EventSet
    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.horizon is not None:
            super().__post_init__()

    def within(self, horizon: int) -> Before:
        """The same, decided within so many events."""
        return Before(self.first, self.second, horizon)

    def __str__(self) -> str:
        return f"{self.first} before {self.second}" + (f" within {self.horizon}" if self.horizon else "")


@dataclass(frozen=True)
class EventIs(Proposition):
    """The event `step` steps from now is one of the events (the paper's Q2)."""

    step: int
    events: EventSet

    def __post_init__(self) -> None:
        check_steps(self.step, "the step of event(k)")

    def __str__(self) -> str:
        return f"event({self.step}) = {self.events}"


@dataclass(frozen=True)
class WhenIs(Proposition):
    """The first of the events happens at a step from `low` to `high`; no `high`, not before `low` (the paper's Q3)."""

    events: EventSet
    low: int
    high: int | None

    def __post_init__(self) -> None:
        check_steps(self.low, "the step of when(...)")
        if self.high is not None:
            check_steps(self.high, "the step of when(...)")
            if self.high < self.low:
                raise QueryError(f"when(...) in {self.low}..{self.high} can never be true: the range is empty", about=self.high)

    def __str__(self) -> str:
        return f"when({self.events}) {_comparison(self.low, self.high, floor=1)}"


@dataclass(frozen=True)
class CountIs(_Bounded):
    """The events happen from `low` to `high` times within the horizon; no `high`, at least `low` times (the paper's Q5)."""

    events: EventSet
    low: int
    high: int | None
    horizon: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_range(self.low, self.high, "count(...)")
        if self.low < 0:
            raise QueryError(f"a count is never below 0; got {self.low}")
        if self.high is not None and self.high < self.low:
            raise QueryError(f"count(...) in {self.low}..{self.high} can never be true: the range is empty", about=self.high)

    def __str__(self) -> str:
        return f"count({self.events}) {_comparison(self.low, self.high, floor=0)} within {self.horizon}"


@dataclass(frozen=True)
class Sequence(_Bounded):
    """The events happen one after the other within the horizon; where `immediate`, with nothing between."""

    steps: tuple[EventSet, ...]
    immediate: tuple[bool, ...]
    horizon: int

    def __str__(self) -> str:
        words = str(self.steps[0])
        for at_once, events in zip(self.immediate, self.steps[1:], strict=True):
            words += f" {'immediately ' if at_once else ''}then {events}"
        return f"{words} within {self.horizon}"


@dataclass(frozen=True)
class Never(_Bounded):
    """None of the events happens within the horizon."""

    events: EventSet
    horizon: int

    def __str__(self) -> str:
        return f"never {self.events} within {self.horizon}"


@dataclass(frozen=True)
class Always(_Bounded):
    """Every event within the horizon is one of the events."""

    events: EventSet
    horizon: int

    def __str__(self) -> str:
        return f"always {self.events} within {self.horizon}"


@dataclass(frozen=True)
class Until(_Bounded):
    """Only events of `hold` happen until one of `goal` does, within the horizon."""

    hold: EventSet
    goal: EventSet
    horizon: int

    def __str__(self) -> str:
        return f"{self.hold} until {self.goal} within {self.horizon}"


@dataclass(frozen=True)
class Matches(_Bounded):
    """The future begins with a word of the pattern, at most as long as the horizon."""

    pattern: Pattern
    horizon: int

    def __str__(self) -> str:
        return f"matches {self.pattern} within {self.horizon}"


@dataclass(frozen=True)
class And(Proposition):
    """All of the parts are true."""

    parts: tuple[Proposition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Or | And) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Or(Proposition):
    """At least one of the parts is true."""

    parts: tuple[Proposition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Not(Proposition):
    """The part is false."""

    part: Proposition

    def __str__(self) -> str:
        return f"not ({self.part})"


def _comparison(low: int, high: int | None, floor: int) -> str:
    if high is None:
        return f">= {low}"
    if low == high:
        return f"= {low}"
    return f"<= {high}" if low == floor else f"in {low}..{high}"
