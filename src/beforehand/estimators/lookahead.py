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
from beforehand.models import Surrogate
from beforehand.queries import Automaton

STANDSTILL, LONGEST = 1e-9, 500
# Contexts worked on at once: their numbers stay in the processor's cache.
BLOCK = 2_048
# Multiplications of one dynamic programme, and numbers kept of it; longer contexts are given up to stay below.
MOST_WORK, MOST_KEPT, MOST_TABLES, REMEMBERED = 1e9, 3e7, 2.5e7, 64
# An outcome rarer than this, as far as the single events tell, counts as if it were not.
RAREST = 1e-3


class Values:
    """The value functions of one automaton under one surrogate."""

    def __init__(self, surrogate: Surrogate, tables: Tables) -> None:
        self.surrogate, self.tables = surrogate, tables
        automaton = tables.automaton
        self.states, self.horizon = automaton.states, automaton.horizon
        probabilities = surrogate.probabilities
        self.class_masses = probabilities if tables.every_event_apart else probabilities @ tables.membership
        self.last = self.horizon or max(automaton.deadlines, default=0)
        wanted = [len(each) for each in automaton.wanted]
        self.single = wanted == [1] and not automaton.timed[0]
        self.rewards = self._rewards()
        self._by_step = self._backwards()
        self.tables_of: dict[int, tuple[Tensor, Tensor]] = {}

    @property
    def kept(self) -> int:
        """How many numbers it holds, tables apart."""
        return sum(value.numel() for value in self._by_step)

    def after(self, step: int) -> Tensor:
        """[contexts, states]: once so many events have happened."""
        return self._by_step[min(step, self.last)]

    def candidates(self, moves: StepTables, automaton: Tensor, contexts: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """[rows or 1, vocabulary] twice: the value after each event and how much it may matter, for rows in these automaton
        states and contexts."""
        shorter = self.surrogate.shorter[contexts[:1] if len(self.surrogate.follow) == 1 else contexts]
        if self.states == 1 and 2 * self.surrogate.follow.numel() * (self.last - step) <= MOST_TABLES:
            value, matters = self._after_one_event(step)
            return value.index_select(0, shorter), matters.index_select(0, shorter)
        onward = self.surrogate.follow[shorter] * self.states
        if self.states > 1:
            onward = onward + moves.next[automaton][:, self.tables.classes].clamp(min=0)
        value = self.after(step).flatten()[onward]
        return value, self._matters(value)

    def _after_one_event(self, step: int) -> tuple[Tensor, Tensor]:
        """[shorter contexts, vocabulary]: with a single state the same for all rows of a context. The later steps, which have
        the most rows, come first in what there is room for."""
        if step not in self.tables_of:
            value = self.after(step)[:, 0][self.surrogate.follow]
            self.tables_of[step] = value, self._matters(value)
        return self.tables_of[step]

    def _matters(self, value: Tensor) -> Tensor:
        """The standard deviation of what may still be decided, sqrt(V (1 − V)); of several outcomes, the root of their sum."""
        return (value * (1 - value) if self.single else value).clamp(min=0).sqrt()

    def _rewards(self) -> list[Tensor]:
        """One for a single wanted outcome; of several, each counts by one over its rough chance, so that all matter alike."""
        automaton = self.tables.automaton
        rough = [torch.ones(1)] * len(automaton.outcomes) if self.single else self._rough_chances()
        rewards = []
        for question, outcomes in enumerate(automaton.outcomes):
            reward = torch.zeros(outcomes, dtype=torch.float64)
            wanted = torch.tensor(automaton.wanted[question])
            reward[wanted] = 1.0 if self.single or automaton.timed[question] else 1 / rough[question][wanted].clamp(min=RAREST)
            rewards.append(reward)
        return rewards

    def _rough_chances(self) -> list[Tensor]:
        """The outcomes' chances if events came independently, each as often as on average."""
        automaton, kinds = self.tables.automaton, self.class_masses[0]
        found = [torch.zeros(outcomes + 1, dtype=torch.float64) for outcomes in automaton.outcomes]
        mass = torch.zeros(self.states, dtype=torch.float64)
        mass[automaton.start] = 1
        for step in range(1, (self.horizon or LONGEST) + 1):
            moves = self.tables.at(step)
            moving = (mass[:, None] * kinds).flatten()
            for chances, emits in zip(found, moves.emits, strict=True):
                chances.index_add_(0, torch.where(emits < 0, len(chances) - 1, emits).flatten(), moving)
            onward = torch.where(moves.next < 0, self.states, moves.next).flatten()
            mass = torch.zeros(self.states + 1, dtype=torch.float64).index_add_(0, onward, moving)[:-1]
        return [chances[:-1] for chances in found]

    def _backwards(self) -> list[Tensor]:
        value = torch.zeros(len(self.surrogate.probabilities), self.states, dtype=torch.float64)
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
        found = torch.zeros_like(value)
        for emits, reward, emitting in zip(moves.emits, self.rewards, moves.emitting, strict=True):
            if emitting:
                found += self.class_masses @ torch.where(emits >= 0, reward[emits.clamp(min=0)], 0.0).T
        for state in range(self.states):
            lands = moves.next[state]
            if bool((lands >= 0).any()):
                found[:, state] += self._onward(value, lands[self.tables.classes])
        return found

    def _onward(self, value: Tensor, lands: Tensor) -> Tensor:
        """Σ_v p(v | c)·value(c then v): what follows is looked up for the shorter contexts alone."""
        surrogate = self.surrogate
        if self.states == 1:
            ahead = value[:, 0][surrogate.follow]
        else:
            ahead = value.flatten()[surrogate.follow * self.states + lands.clamp(min=0)]
        ahead = ahead * (lands >= 0)
        if len(ahead) == 1:
            return surrogate.probabilities @ ahead[0]
        found = torch.empty(len(value), dtype=torch.float64)
        for first in range(0, len(value), BLOCK):
            block = slice(first, first + BLOCK)
            torch.sum(surrogate.probabilities[block] * ahead[surrogate.shorter[block]], 1, out=found[block])
        return found


_known: OrderedDict[int, tuple[Automaton, Surrogate, Values | None]] = OrderedDict()


def look_ahead(surrogate: Surrogate, tables: Tables) -> Values | None:
    """The values of a question, made once; with as long contexts as can be afforded, or None if not even none can.

    The last few dozen questions are remembered, the tables of the last alone.
    """
    automaton = tables.automaton
    known = _known.pop(id(automaton), None)
    if known is None or known[0] is not automaton or known[1] is not surrogate:
        order = _affordable(surrogate, automaton)
        values = None if order is None else Values(surrogate.shortened(order), tables)
        for _, _, other in _known.values():
            if other is not None:
                other.tables_of.clear()
        known = automaton, surrogate, values
    _known[id(automaton)] = known
    while len(_known) > 1 and (len(_known) > REMEMBERED or sum(each.kept for _, _, each in _known.values() if each) > MOST_KEPT):
        _known.popitem(last=False)
    return known[2]


def _affordable(surrogate: Surrogate, automaton: Automaton) -> int | None:
    vocabulary = surrogate.probabilities.shape[1]
    steps = automaton.horizon or max(automaton.deadlines, default=0) + LONGEST // 5
    for order in range(len(surrogate.levels) - 1, -1, -1):
        rows = surrogate.levels[order] * automaton.states * steps
        if rows * vocabulary <= MOST_WORK and rows <= MOST_KEPT:
            return order
    return None
