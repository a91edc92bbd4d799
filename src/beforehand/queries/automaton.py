"""Questions as one deterministic automaton over classes of events.

`moves[s, c]` is the state after an event of class c, −1 once nothing is left to decide; `emits[q, s, c]` is the outcome
that question q takes on that move, −1 for none. A `Deadline` does the same for every state once its number of events
has happened. Decided mass is read off the moves, so decided states need no place in the table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Numbers kept of what is certain early: knowing it saves model calls, not knowing it changes no answer.
MOST_FORCED = 200_000


class Moves(NamedTuple):
    """Where each state goes, and which outcome each question takes on the way: the tables of one step."""

    next: Ints  # [states, classes]
    emits: Ints  # [questions, states, classes]


class Deadline(NamedTuple):
    """What becomes of each state when a number of events has happened."""

    next: Ints  # [states]
    emits: Ints  # [questions, states]


@dataclass(frozen=True, eq=False)
class Automaton:
    """Several questions over one vocabulary; `start` is −1 and `at_start` tells the outcomes if nothing is left to decide."""

    classes: Ints  # [vocabulary]
    moves: Moves
    deadlines: Mapping[int, Deadline]
    start: int
    at_start: tuple[int, ...]
    outcomes: tuple[int, ...]
    timed: tuple[bool, ...]
    wanted: tuple[tuple[int, ...], ...]  # the outcomes that each answer speaks of

    @property
    def states(self) -> int:
        """How many states are not decided."""
        return len(self.moves.next)

    @cached_property
    def class_count(self) -> int:
        """How many kinds of events the questions tell apart."""
        return int(self.moves.next.shape[1])

    @cached_property
    def horizon(self) -> int | None:
        """The step by which everything is decided; None if that may take any time."""
        last = max(self.deadlines, default=None)
        return last if last is not None and (self.deadlines[last].next < 0).all() else None

    def at(self, step: int) -> Moves:
        """The tables of one step: its deadline applied, and what can no longer come out differently decided at once."""
        moves, forced = self._with_deadline(step), self._forced_after(step)
        if step > 1 and (known := self._forced_after(step - 1)) is not None:  # told already, on the way into the state
            moves = Moves(moves.next, np.where(known[:, :, None] >= 0, -1, moves.emits))
        else:
            known = None
        if forced is None:
            return moves
        lands = np.maximum(moves.next, 0)
        early = np.where((moves.next >= 0)[None] & (moves.emits < 0), forced[:, lands], -1)
        if known is not None:
            early = np.where(known[:, :, None] >= 0, -1, early)
        left = (self._pending[:, lands] & (forced[:, lands] < 0)).any(axis=0)
        return Moves(np.where((moves.next >= 0) & left, moves.next, -1), np.where(early >= 0, early, moves.emits))

    def phase(self, step: int) -> tuple[int, ...]:
        """Equal for two steps whose tables are equal: what a cache needs to know."""
        if step in self.deadlines or step == 1:
            return (-step,)
        return bisect_right(self._breaks, step - 1), bisect_right(self._breaks, step)

    def _with_deadline(self, step: int) -> Moves:
        deadline = self.deadlines.get(step)
        if deadline is None:
            return self.moves
        running, lands = self.moves.next >= 0, np.maximum(self.moves.next, 0)
        emits = np.where(running[None] & (self.moves.emits < 0), deadline.emits[:, lands], self.moves.emits)
        return Moves(np.where(running, deadline.next[lands], -1), emits)

    @cached_property
    def _pending(self) -> NDArray[np.bool_]:
        """[questions, states]: can the question still take an outcome from here?"""
        pending: NDArray[np.bool_] = np.asarray((self.moves.emits >= 0).any(axis=2))
        for deadline in self.deadlines.values():
            pending |= deadline.emits >= 0
        while True:
            lands = np.maximum(self.moves.next, 0)
            grown: NDArray[np.bool_] = np.asarray(pending | (pending[:, lands] & (self.moves.next >= 0)[None]).any(axis=2))
            for deadline in self.deadlines.values():
                grown |= pending[:, np.maximum(deadline.next, 0)] & (deadline.next >= 0)[None]
            if (grown == pending).all():
                return pending
            pending = grown

    @cached_property
    def _forced(self) -> tuple[list[int], list[Ints]]:
        """From which step on which outcome is certain: step i's table holds after steps breaks[i−1]+1 … breaks[i].

        Backwards from the horizon. Between deadlines the table stops changing as soon as it repeats itself, and the
        rest of the way to the deadline before is skipped. Where the tables would grow large, only the last steps are known.
        """
        horizon = self.horizon
        if horizon is None or self.states == 1:
            return [], []
        breaks: list[int] = []
        tables: list[Ints] = []
        sure = np.full((len(self.outcomes), self.states), -1, dtype=np.int64)  # after the horizon nobody is left
        step = horizon
        while step > 0:
            moves = self._with_deadline(step)
            onward = np.where((moves.next >= 0)[None], sure[:, np.maximum(moves.next, 0)], -1)
            each = np.where(moves.emits >= 0, moves.emits, onward)
            earlier = np.where((each == each[:, :, :1]).all(axis=2), each[:, :, 0], -1)
            for question, timed in enumerate(self.timed):
                if timed:  # its answer tells the step, so a certain hit is not told before it happens
                    earlier[question] = np.where(earlier[question] == 1, -1, earlier[question])
            settled = step not in self.deadlines and tables and (earlier == sure).all()
            step -= 1
            if settled:
                step = max((deadline for deadline in self.deadlines if deadline <= step), default=0)
                breaks[-1] = step
                continue
            if len(tables) * sure.size > MOST_FORCED:
                break
            sure = earlier
            breaks.append(step)
            tables.append(sure)
        return breaks[::-1], tables[::-1]

    @cached_property
    def _breaks(self) -> list[int]:
        return self._forced[0]

    def _forced_after(self, step: int) -> Ints | None:
        breaks, tables = self._forced
        place = bisect_right(breaks, step) - 1
        if not tables or place < 0 or step >= (self.horizon or 0):
            return None
        return tables[place] if (tables[place] >= 0).any() else None
