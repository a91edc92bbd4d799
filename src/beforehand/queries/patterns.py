"""Regular expressions over events: what `matches` and `then` are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from beforehand.errors import QueryError
from beforehand.queries.sets import EventSet, event_set

MOST_TIMES = 4_000


class Pattern:
    """A regular language over events."""

    def sets(self) -> Iterator[EventSet]:
        """The event sets it names, in order of appearance."""
        raise NotImplementedError


@dataclass(frozen=True)
class One(Pattern):
    """One event of a set."""

    events: EventSet

    def sets(self) -> Iterator[EventSet]:
        """Its only set."""
        yield self.events

    def __str__(self) -> str:
        return str(self.events)


@dataclass(frozen=True)
class Chain(Pattern):
    """Patterns one after the other."""

    parts: tuple[Pattern, ...]

    def sets(self) -> Iterator[EventSet]:
        """The sets of its parts."""
        for part in self.parts:
            yield from part.sets()

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Chain) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Choice(Pattern):
    """Any one of several patterns."""

    parts: tuple[Pattern, ...]

    def sets(self) -> Iterator[EventSet]:
        """The sets of its parts."""
        for part in self.parts:
            yield from part.sets()

    def __str__(self) -> str:
        return "(" + " | ".join(map(str, self.parts)) + ")"


@dataclass(frozen=True)
class Repeat(Pattern):
    """A pattern at least `low` and at most `high` times; no `high`, any number."""

    part: Pattern
    low: int
    high: int | None

    def __post_init__(self) -> None:
        if not isinstance(self.part, Pattern):
            raise QueryError(f"a pattern is repeated; got {self.part!r}: write bh.pattern({self.part!r})")
        if any(not isinstance(end, int) or isinstance(end, bool) for end in (self.low, self.high) if end is not None):
            raise QueryError(f"a repetition has whole numbers; got {self.low!r}..{self.high!r}")
        if max(self.low, self.high or 0) > MOST_TIMES:
            raise QueryError(f"a pattern can be repeated at most {MOST_TIMES:,} times; got {self.low}..{self.high}")
        if self.low < 0 or (self.high is not None and self.high < max(1, self.low)):
            raise QueryError(f"a repetition needs 0 <= low <= high and high >= 1; got {self.low}..{self.high}")

    def sets(self) -> Iterator[EventSet]:
        """The sets of its part."""
        yield from self.part.sets()

    def __str__(self) -> str:
        inner = f"({self.part})" if isinstance(self.part, Chain | Repeat) else str(self.part)
        marks = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        if (self.low, self.high) in marks:
            return inner + marks[self.low, self.high]
        bounds = str(self.low) if self.low == self.high else f"{self.low}..{'' if self.high is None else self.high}"
        return f"{inner}{{{bounds}}}"


def pattern(part: Pattern | EventSet | str | Iterable[str]) -> Pattern:
    """A pattern from what Python users write: a set of events, or a pattern already."""
    return part if isinstance(part, Pattern) else One(event_set(part))


def _check_parts(parts: list[Pattern]) -> None:
    if not parts:
        raise QueryError("a pattern has at least one event")
    for part in parts:
        if not isinstance(part, Pattern):
            raise QueryError(f"a pattern is made of patterns; got {part!r}: write bh.pattern({part!r})")


def chain(parts: Iterable[Pattern]) -> Pattern:
    """Patterns one after the other; chains within are opened, and a chain of one is that one."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Chain) else (part,))]
    _check_parts(flat)
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


def choice(parts: Iterable[Pattern]) -> Pattern:
    """Any one of several patterns; choices within are opened, and a choice of one is that one."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Choice) else (part,))]
    _check_parts(flat)
    return flat[0] if len(flat) == 1 else Choice(tuple(flat))
