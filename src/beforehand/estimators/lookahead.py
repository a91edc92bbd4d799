"""How likely a question still is to come out as wanted: dynamic programming over a surrogate's contexts, backwards in time.

After step k, value[c, s] is the expected reward still to come from context c and automaton state s, under the surrogate: each
outcome has a reward, and for a single probability that of the wanted outcome is one, so the value is its chance. A question
without a horizon is followed backwards until its values stand still.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor

from beforehand.estimators.frontier import StepTables, Tables
from beforehand.estimators.local import backwards
from beforehand.estimators.rewards import is_single, rewards
from beforehand.models import Surrogate
from beforehand.queries import Automaton

STANDSTILL, LONGEST = 1e-9, 500
# Contexts worked on at once: their numbers stay in the processor's cache.
BLOCK = 2_048
# Multiplications of one dynamic programme, and numbers kept of it; longer contexts are given up to stay below.
MOST_WORK, MOST_KEPT, MOST_TABLES, REMEMBERED = 1e9, 3e7, 2.5e7, 64
# A table of values for every context is made when so many times the rows at hand are more than the contexts.
WORTH_A_TABLE = 4


class Values:
    """The value functions of one automaton under one surrogate."""

    def __init__(self, surrogate: Surrogate, tables: Tables, dtype: torch.dtype) -> None:
        self.surrogate, self.tables = surrogate, tables
        automaton = tables.automaton
        self.horizon = automaton.horizon
        probabilities = surrogate.probabilities
        self.class_masses = probabilities if tables.every_event_apart else probabilities @ tables.membership()
        self.last = self.horizon or max(automaton.deadlines, default=0)
        self.single = is_single(automaton)
        self.reward_rows = rewards(tables, self.class_masses[:1])
        self.rewards = [each[0] for each in self.reward_rows]
        self._by_step = [value.to(dtype) for value in self._backwards()]
        self.tables_of: dict[int, Tensor] = {}
        self._single_events: list[Tensor] | None = None

    @property
    def kept(self) -> int:
        """How many numbers it holds, tables apart."""
        return sum(value.numel() for value in self._by_step)

    def after(self, step: int) -> Tensor:
        """[contexts, states]: once so many events have happened."""
        return self._by_step[min(step, self.last)]

    def along_single_events(self, class_of: Tensor, dtype: torch.dtype) -> list[Tensor]:
        """[1, vocabulary, states] after each number of events, were only the last event known."""
        if self._single_events is None:
            chain = self.surrogate.after_single_events()[None].to(dtype)
            self._single_events = backwards(chain, class_of, self.tables, self.reward_rows, 0, self.last)
        return self._single_events

    def candidates(self, moves: StepTables, automaton: Tensor, contexts: Tensor, step: int) -> Tensor:
        """[rows or 1, vocabulary]: the value after each event, for rows in these automaton states and contexts."""
        shorter = self.surrogate.shorter[contexts[:1] if len(self.surrogate.follow) == 1 else contexts]
        if moves.single and (table := self._after_one_event(step, len(shorter))) is not None:
            return table.index_select(0, shorter)
        onward = self.surrogate.follow[shorter] * moves.after
        if moves.after > 1:
            onward = onward + moves.next[automaton][:, self.tables.classes].clamp(min=0)
        return self.after(step).flatten()[onward]

    def _after_one_event(self, step: int, rows: int) -> Tensor | None:
        """[shorter contexts, vocabulary]: with a single state the same for all rows of a context. Made when enough rows want it,
        as long as there is room."""
        follow = self.surrogate.follow
        if (
            step not in self.tables_of
            and rows * WORTH_A_TABLE > len(follow)
            and (len(self.tables_of) + 1) * follow.numel() <= MOST_TABLES
        ):
            self.tables_of[step] = self.after(step)[:, 0][follow]
        return self.tables_of.get(step)

    def _backwards(self) -> list[Tensor]:
        value = torch.zeros(len(self.surrogate.probabilities), self.tables.states(self.last), dtype=torch.float64)
        if self.horizon is None:
            value = self._still(value)
        found = [value]
        for step in range(self.last, 0, -1):
            found.append(self._back(found[-1], self.tables.at(step)))
        return found[::-1]

    def _still(self, value: Tensor) -> Tensor:
        moves = self.tables.at(self.last + 1)
        for _ in range(LONGEST):
            earlier = self._back(value, moves)
            if float((earlier - value).abs().max()) < STANDSTILL:
                return earlier
            value = earlier
        return value

    def _back(self, value: Tensor, moves: StepTables) -> Tensor:
        """One event earlier: what it decides at once, and the value of where it leads."""
        found = torch.zeros(len(value), len(moves.next), dtype=torch.float64)
        for emits, reward, emitting in zip(moves.emits, self.rewards, moves.emitting, strict=True):
            if emitting:
                found += self.class_masses @ torch.where(emits >= 0, reward[emits.clamp(min=0)], 0.0).T
        for state, lands in enumerate(moves.next):
            if bool((lands >= 0).any()):
                found[:, state] += self._onward(value, lands[self.tables.classes])
        return found

    def _onward(self, value: Tensor, lands: Tensor) -> Tensor:
        """Σ_v p(v | c)·value(c then v): what follows is looked up for the shorter contexts alone."""
        surrogate, states = self.surrogate, value.shape[1]
        ahead = value.flatten()[surrogate.follow * states + lands.clamp(min=0)] if states > 1 else value[:, 0][surrogate.follow]
        ahead = ahead * (lands >= 0)
        if len(ahead) == 1:
            return surrogate.probabilities @ ahead[0]
        found = torch.empty(len(value), dtype=torch.float64)
        for first in range(0, len(value), BLOCK):
            block = slice(first, first + BLOCK)
            torch.sum(surrogate.probabilities[block] * ahead[surrogate.shorter[block]], 1, out=found[block])
        return found


_known: OrderedDict[int, tuple[Automaton, Surrogate, Values | None]] = OrderedDict()


def look_ahead(surrogate: Surrogate, tables: Tables, dtype: torch.dtype) -> Values | None:
    """The values of a question, made once; with as long contexts as can be afforded, or None if not even none can.

    The last few dozen questions are remembered, the tables of the last alone.
    """
    automaton = tables.automaton
    known = _known.pop(id(automaton), None)
    if known is None or known[0] is not automaton or known[1] is not surrogate:
        order = _affordable(surrogate, tables)
        values = None if order is None else Values(surrogate.shortened(order), tables, dtype)
        for _, _, other in _known.values():
            if other is not None:
                other.tables_of.clear()
        known = automaton, surrogate, values
    _known[id(automaton)] = known
    while len(_known) > 1 and (len(_known) > REMEMBERED or sum(each.kept for _, _, each in _known.values() if each) > MOST_KEPT):
        _known.popitem(last=False)
    return known[2]


def _affordable(surrogate: Surrogate, tables: Tables) -> int | None:
    vocabulary, horizon = surrogate.probabilities.shape[1], tables.automaton.horizon
    steps = horizon or max(tables.automaton.deadlines, default=0) + LONGEST // 5
    states = sum(tables.states(step) for step in range(steps + 1))
    for order in range(len(surrogate.levels) - 1, -1, -1):
        rows = surrogate.levels[order] * states
        if rows * vocabulary <= MOST_WORK and rows <= MOST_KEPT:
            return order
    return None
