"""How likely a question still is to come out as wanted: dynamic programming over a surrogate's contexts, backwards in time.

After step k, value[c, s] is the expected reward still to come from context c and automaton state s, under the surrogate: each
outcome has a reward, and for a probability that of the wanted outcome is one, so the value is its chance. A question
without a horizon is followed backwards until its values stand still.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from beforehand.estimators.frontier import StepTables, Tables
from beforehand.models import Surrogate

STANDSTILL, LONGEST = 1e-9, 500
# Contexts worked on at once: their numbers stay in the processor's cache.
BLOCK = 2_048


class Values:
    """The value functions of one automaton under one surrogate."""

    def __init__(self, surrogate: Surrogate, tables: Tables, rewards: Sequence[Tensor]) -> None:
        self.surrogate, self.tables, self.rewards = surrogate, tables, rewards
        self.states, self.horizon = tables.automaton.states, tables.automaton.horizon
        probabilities = surrogate.probabilities
        self.class_masses = probabilities if tables.every_event_apart else probabilities @ tables.membership
        self.last = self.horizon or max(tables.automaton.deadlines, default=0)
        self._by_step = self._backwards()

    def after(self, step: int) -> Tensor:
        """[contexts, states]: once so many events have happened."""
        return self._by_step[min(step, self.last)]

    def candidates(self, moves: StepTables, automaton: Tensor, contexts: Tensor, step: int) -> Tensor:
        """[rows or 1, vocabulary]: the value after each event, for rows in these automaton states and contexts."""
        shorter = self.surrogate.shorter[contexts] if len(self.surrogate.follow) > 1 else torch.zeros_like(contexts[:1])
        onward = self.surrogate.follow[shorter]
        value = self.after(step)
        if self.states == 1:
            return value[:, 0][onward]
        lands = moves.next[automaton][:, self.tables.classes].clamp(min=0)
        return value.flatten()[onward * self.states + lands]

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
