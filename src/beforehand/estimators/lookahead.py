"""How likely a question still is to come out as wanted: dynamic programming over a surrogate's contexts, backwards in time.

After step k, value[c, s] is the expected reward still to come from context c and automaton state s, under the surrogate: each
outcome has a reward, and for a single probability that of the wanted outcome is one, so the value is its chance. A question
without a horizon is followed backwards until its values stand still.
"""

from __future__ import annotations

import weakref

import torch
from torch import Tensor

from beforehand.estimators.frontier import StepTables, Tables
from beforehand.models import Surrogate
from beforehand.queries import Automaton

STANDSTILL, LONGEST = 1e-9, 500
# Contexts worked on at once: their numbers stay in the processor's cache.
BLOCK = 2_048
# Multiplications of one dynamic programme, and numbers kept of it; longer contexts are given up to stay below.
MOST_WORK, MOST_KEPT = 1e9, 3e7
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

    def after(self, step: int) -> Tensor:
        """[contexts, states]: once so many events have happened."""
        return self._by_step[min(step, self.last)]

    def candidates(self, moves: StepTables, automaton: Tensor, contexts: Tensor, step: int) -> Tensor:
        """[rows or 1, vocabulary]: the value after each event, for rows in these automaton states and contexts."""
        alike = len(self.surrogate.follow) == 1
        onward = self.surrogate.follow[self.surrogate.shorter[contexts[:1] if alike else contexts]]
        value = self.after(step)
        if self.states == 1:
            return value[:, 0][onward]
        lands = moves.next[automaton][:, self.tables.classes].clamp(min=0)
        return value.flatten()[onward * self.states + lands]

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


_known: weakref.WeakKeyDictionary[Automaton, tuple[weakref.ref[Surrogate], Values | None]] = weakref.WeakKeyDictionary()


def look_ahead(surrogate: Surrogate, tables: Tables) -> Values | None:
    """The values of a question, made once; with as long contexts as can be afforded, or None if not even none can."""
    automaton = tables.automaton
    known = _known.get(automaton)
    if known is None or known[0]() is not surrogate:
        order = _affordable(surrogate, automaton)
        values = None if order is None else Values(surrogate.shortened(order), tables)
        _known[automaton] = known = (weakref.ref(surrogate), values)
    return known[1]


def _affordable(surrogate: Surrogate, automaton: Automaton) -> int | None:
    vocabulary = surrogate.probabilities.shape[1]
    steps = automaton.horizon or max(automaton.deadlines, default=0) + LONGEST // 5
    for order in range(len(surrogate.levels) - 1, -1, -1):
        rows = surrogate.levels[order] * automaton.states * steps
        if rows * vocabulary <= MOST_WORK and rows <= MOST_KEPT:
            return order
    return None
