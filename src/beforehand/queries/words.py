"""From a pattern over events to the deterministic automaton that finds its first match.

Positions automaton (Glushkov 1961), then the subset construction with sets of positions as bits of one integer.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import TooManyStatesError
from beforehand.queries.patterns import Chain, Choice, One, Pattern, Repeat
from beforehand.queries.sets import EventSet

MOST_POSITIONS = 4_000
MOST_STATES = 20_000


@dataclass(frozen=True)
class _Part:
    """What a piece of a pattern can begin and end with, and whether it may be empty."""

    first: int
    last: int
    empty: bool


class _Positions:
    """Numbers the event sets of a pattern and learns which may follow which."""

    def __init__(self) -> None:
        self.sets: list[EventSet] = []
        self.follow: list[int] = []

    def read(self, pattern: Pattern) -> _Part:
        if isinstance(pattern, One):
            return self._one(pattern.events)
        if isinstance(pattern, Chain):
            return self._chain([self.read(part) for part in pattern.parts])
        if isinstance(pattern, Choice):
            return self._choice([self.read(part) for part in pattern.parts])
        assert isinstance(pattern, Repeat)
        return self._repeat(pattern)

    def _one(self, events: EventSet) -> _Part:
        if len(self.sets) >= MOST_POSITIONS:
            raise TooManyStatesError(f"the pattern is longer than {MOST_POSITIONS:,} events when its repetitions are written out")
        self.sets.append(events)
        self.follow.append(0)
        bit = 1 << (len(self.sets) - 1)
        return _Part(bit, bit, False)

    def _link(self, last: int, first: int) -> None:
        while last:
            low = last & -last
            self.follow[low.bit_length() - 1] |= first
            last ^= low

    def follows(self, positions: int) -> int:
        """What may follow any of some positions."""
        found = 0
        while positions:
            low = positions & -positions
            found |= self.follow[low.bit_length() - 1]
            positions ^= low
        return found

    def _chain(self, parts: list[_Part]) -> _Part:
        """From the right, so that every part is linked once to all that may come next."""
        whole = _Part(0, 0, True)
        for part in reversed(parts):
            self._link(part.last, whole.first)
            first = part.first | (whole.first if part.empty else 0)
            last = whole.last | (part.last if whole.empty else 0)
            whole = _Part(first, last, whole.empty and part.empty)
        return whole

    def _choice(self, parts: list[_Part]) -> _Part:
        first = last = 0
        for part in parts:
            first, last = first | part.first, last | part.last
        return _Part(first, last, any(part.empty for part in parts))

    def _repeat(self, pattern: Repeat) -> _Part:
        copies = [self.read(pattern.part) for _ in range(max(1, pattern.low if pattern.high is None else pattern.high))]
        if pattern.high is None:
            self._link(copies[-1].last, copies[-1].first)
        optional = [_Part(c.first, c.last, c.empty or i >= pattern.low) for i, c in enumerate(copies)]
        return self._chain(optional)


def recogniser(
    pattern: Pattern, of: Callable[[EventSet], NDArray[np.bool_]], classes: int, dead: int, found: int
) -> tuple[NDArray[np.int64], int]:
    """`moves[s, c]` and the start: `found` once a word of the pattern is complete, `dead` when none can be any more."""
    positions = _Positions()
    whole = positions.read(pattern)
    if whole.empty:
        return np.full((1, classes), found, dtype=np.int64), found
    masks = np.array([of(events) for events in positions.sets])
    allowed = [sum(1 << int(i) for i in np.flatnonzero(column)) for column in masks.T]
    subsets = _Subsets(whole, dead, found)
    always = functools.reduce(operator.and_, allowed)
    rows = []
    for ready in subsets.waiting:  # grows as it goes
        usual = ready & always  # what every class hits is looked up once
        after_usual = positions.follows(usual)
        known: dict[int, int] = {}  # most classes hit the same positions
        for each in allowed:
            hit = ready & each
            if hit not in known:
                known[hit] = subsets.after(hit, after_usual | positions.follows(hit ^ usual))
        rows.append([known[ready & each] for each in allowed])
    return np.array(rows, dtype=np.int64), 0


class _Subsets:
    """The states: each a set of positions that may come next, numbered as they are met."""

    def __init__(self, whole: _Part, dead: int, found: int) -> None:
        self.last, self.dead, self.found = whole.last, dead, found
        self.numbers, self.waiting = {whole.first: 0}, [whole.first]

    def after(self, hit: int, ready: int) -> int:
        """Where an event leads that hits some positions, after which others are ready."""
        if hit & self.last:
            return self.found
        if not ready:
            return self.dead
        if ready not in self.numbers:
            if len(self.numbers) >= MOST_STATES:
                raise TooManyStatesError(f"the pattern needs more than {MOST_STATES:,} states; make its repetitions shorter")
            self.numbers[ready] = len(self.waiting)
            self.waiting.append(ready)
        return self.numbers[ready]
