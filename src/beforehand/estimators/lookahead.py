"""How likely a question still is to come out as wanted: dynamic programming over a surrogate's contexts, backwards in time.

value[k][c, s] is the chance, under the surrogate, that after context c and from automaton state s, with k events gone, the
outcomes wanted still come (weighted, if they are several). For questions without a horizon the recursion runs until it
stands still.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from beforehand.estimators.frontier import Tables
from beforehand.models import Markov

STANDSTILL = 1e-9
LONGEST = 500


class Values:
    """The value functions of one automaton under one surrogate; steps are made when they are first asked for, backwards."""

    def __init__(self, surrogate: Markov, tables: Tables, wanted: Sequence[Tensor]) -> None:
        self.surrogate, self.tables, self.wanted = surrogate, tables, wanted
        self.states = tables.automaton.states
        sums = surrogate.probabilities if tables.every_event_apart else surrogate.probabilities @ tables.membership
        self.class_masses = sums
        self.horizon = tables.automaton.horizon
        self._by_step: dict[int, Tensor] = {}

    def after(self, step: int) -> Tensor:
        """[contexts × states, …]: the value once so many events have happened."""
        last = self.horizon or max(self.tables.automaton.deadlines, default=0)
        if step not in self._by_step:
            self._fill(last)
        return self._by_step[min(step, last)]

    def _fill(self, last: int) -> None:
        value = torch.zeros(len(self.surrogate.follow), self.states, dtype=torch.float64)
        if self.horizon is None:
            for _ in range(LONGEST):
                earlier = self._back(value, last + 1)
                still = float((earlier - value).abs().max()) < STANDSTILL
                value = earlier
                if still:
                    break
        self._by_step[last] = value
        for step in range(last, 0, -1):
            value = self._by_step[step - 1] = self._back(value, step)

    def _back(self, value: Tensor, step: int) -> Tensor:
        """One event earlier: what it decides at once, and the value of where it leads."""
        moves = self.tables.at(step)
        found = torch.zeros_like(value)
        for question, weights in enumerate(self.wanted):
            if moves.emitting[question]:
                emits = moves.emits[question]
                gain = torch.where(emits >= 0, weights[emits.clamp(min=0)], 0.0)
                found += self.class_masses @ gain.T
        for state in range(self.states):
            lands = moves.next[state, self.tables.classes]
            if bool((lands >= 0).any()):
                found[:, state] += self._onward(value, lands)
        return found

    def _onward(self, value: Tensor, lands: Tensor) -> Tensor:
        running = (lands >= 0).double()
        if self.states == 1:
            onward = value[:, 0][self.surrogate.follow]
        else:
            onward = value.flatten()[self.surrogate.follow * self.states + lands.clamp(min=0)]
        return (self.surrogate.probabilities * (onward * running)).sum(1)
