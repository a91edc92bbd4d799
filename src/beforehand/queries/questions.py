"""What can be asked: each question names the outcomes that its answer speaks of."""

from __future__ import annotations

from dataclasses import dataclass

from beforehand.errors import QueryError
from beforehand.queries.propositions import Proposition, check_steps
from beforehand.queries.sets import EventSet
from beforehand.queries.texts import Text


class Question:
    """Anything that can be asked of a model."""


@dataclass(frozen=True)
class Probability(Question):
    """How likely a proposition is, perhaps given another."""

    proposition: Proposition
    given: Proposition | None = None

    def __str__(self) -> str:
        return f"P({self.proposition})" if self.given is None else f"P({self.proposition} | {self.given})"


@dataclass(frozen=True)
class EventAt(Question):
    """Which event comes `step` steps from now."""

    step: int

    def __post_init__(self) -> None:
        check_steps(self.step, "the step of event(k)")

    def __str__(self) -> str:
        return "next" if self.step == 1 else f"event({self.step})"


@dataclass(frozen=True)
class WhenDistribution(Question):
    """After how many events the first of `events` happens, or a text is complete, up to a horizon."""

    events: EventSet | Text
    horizon: int

    def __post_init__(self) -> None:
        check_steps(self.horizon)

    def __str__(self) -> str:
        return f"when({self.events}) within {self.horizon}"


@dataclass(frozen=True)
class CountDistribution(Question):
    """How often the events happen within a horizon."""

    events: EventSet
    horizon: int

    def __post_init__(self) -> None:
        check_steps(self.horizon)

    def __str__(self) -> str:
        return f"count({self.events}) within {self.horizon}"


@dataclass(frozen=True)
class Which(Question):
    """Which of several sets of events, or of several texts, happens first, within a horizon."""

    options: tuple[EventSet | Text, ...]
    horizon: int

    def __post_init__(self) -> None:
        check_steps(self.horizon)
        if len(self.options) < 2:
            raise QueryError("which(...) compares at least two events")
        if len({isinstance(option, Text) for option in self.options}) > 1:
            raise QueryError("which(...) compares events with events, or texts with texts")

    def __str__(self) -> str:
        return f"which({', '.join(map(str, self.options))}) within {self.horizon}"


@dataclass(frozen=True)
class Expectation(Question):
    """The mean of a distribution over numbers; of `when`, given that it happens within the horizon."""

    of: WhenDistribution | CountDistribution

    def __str__(self) -> str:
        return f"E({self.of})"


@dataclass(frozen=True)
class Futures(Question):
    """Futures in which a proposition comes true: the likeliest, and some drawn at random."""

    where: Proposition

    def __str__(self) -> str:
        return f"futures where {self.where}"
