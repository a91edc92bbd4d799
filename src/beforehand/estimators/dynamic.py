"""Exact answers for Markov models: dynamic programming over context × automaton state, forwards in time.

The mass of every (context, state) is carried along; what a step decides is taken off. A question without a horizon ends in
a part that does not change any more: there, the mass decided in 2n steps follows from that in n, so doubling n a few dozen
times is as good as forever.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from beforehand.errors import TooExpensiveError
from beforehand.estimators.frontier import StepTables, tables_of
from beforehand.estimators.spread import in_order
from beforehand.estimators.tally import Ledger, Tally, all_at_start, settled_at_start
from beforehand.models import Markov
from beforehand.queries import Automaton

# The largest table of (history, context, state, event) worked on at once, and the largest system that is doubled.
ENTRIES_AT_ONCE = 20_000_000
LARGEST_SYSTEM = 4_000
MOST_WORK = 2e11
DOUBLINGS = 60


def work(model: Markov, automaton: Automaton, histories: int) -> float:
    """Roughly how many multiplications an exact answer takes."""
    contexts, vocabulary = model.probabilities.shape
    steps = automaton.horizon or max(automaton.deadlines, default=0) + 1
    endless = 0.0 if automaton.horizon else 2.0 * DOUBLINGS / 3 * min(contexts * automaton.states, LARGEST_SYSTEM) ** 3
    return float(histories) * contexts * automaton.states * vocabulary * steps + endless


def solve(model: Markov, automaton: Automaton, histories: Sequence[Sequence[int]]) -> list[Tally]:
    """One tally per question; no model calls, no error."""
    if automaton.start < 0:
        return all_at_start(automaton, len(histories))
    if work(model, automaton, len(histories)) > MOST_WORK:
        raise TooExpensiveError(
            "the exact answer needs too large a table for this question and model; use method='auto' or a shorter horizon"
        )
    contexts = model.start(histories).memory
    at_once = max(1, ENTRIES_AT_ONCE // (model.probabilities.numel() * automaton.states))
    parts = [_Forward(model, automaton, chunk).tallies() for chunk in contexts.split(at_once)]
    return settled_at_start(automaton, [_under_each_other([part[q] for part in parts]) for q in range(len(automaton.outcomes))])


class _Forward:
    def __init__(self, model: Markov, automaton: Automaton, contexts: Tensor) -> None:
        self.automaton, self.model = automaton, model
        self.tables = tables_of(automaton, contexts.device)
        self.ledger = Ledger(automaton, len(contexts), contexts.device)
        sums = model.probabilities if self.tables.every_event_apart else model.probabilities @ self.tables.membership()
        self.class_masses = sums  # [contexts, classes]
        mass = torch.zeros(len(contexts), len(model.follow), self.tables.states(0), dtype=torch.float64)
        mass[torch.arange(len(contexts)), contexts, self.tables.start] = 1
        last = automaton.horizon or max(automaton.deadlines, default=0)
        for step in range(1, last + 1):
            moves = self.tables.at(step)
            self._settle(mass, moves, step)
            if step < last or automaton.horizon is None:
                mass = self._advance(mass, moves)
        if automaton.horizon is None:
            self._forever(mass, self.tables.at(last + 1))

    def tallies(self) -> list[Tally]:
        """All of it is certain."""
        return self.ledger.certain(missing=torch.zeros(self.ledger.histories, dtype=torch.float64))

    def _settle(self, mass: Tensor, moves: StepTables, step: int) -> None:
        for question, emitting in enumerate(moves.emitting):
            if emitting:
                self.ledger.add(question, step, self._outcomes(self._by_class(mass), moves, question))

    def _by_class(self, mass: Tensor) -> Tensor:
        """[histories, states, classes]: what moves by each class from each state; in order, so that no batch changes a bit."""
        return in_order(mass[..., None] * self.class_masses[:, None, :], 1)

    def _outcomes(self, by_class: Tensor, moves: StepTables, question: int) -> Tensor:
        """[histories, outcomes] from the mass that moves by each class from each state."""
        count, emits = self.automaton.outcomes[question], moves.emits[question].flatten()
        sums = torch.zeros(len(by_class), count + 1, dtype=torch.float64)
        return sums.index_add_(1, torch.where(emits < 0, count, emits), by_class.flatten(1))[:, :count]

    def _advance(self, mass: Tensor, moves: StepTables) -> Tensor:
        """All moves that decide nothing: (context, state) by event to (next context, next state)."""
        states = moves.after
        lands = moves.next[:, self.tables.classes]  # [states before, vocabulary]
        nowhere = len(self.model.follow) * states
        target = self.model.follow[:, None, :] * states + lands[None]
        target = torch.where(lands[None] >= 0, target, nowhere).flatten()
        moving = (mass[..., None] * self.model.probabilities[:, None, :]).flatten(1)
        onward = torch.zeros(len(mass), nowhere + 1, dtype=torch.float64).index_add_(1, target, moving)
        return onward[:, :nowhere].reshape(len(mass), -1, states)

    def _forever(self, mass: Tensor, moves: StepTables) -> None:
        """What is decided from here on, however long it takes."""
        contexts, states = len(self.model.follow), self.automaton.states
        size = contexts * states
        if size > LARGEST_SYSTEM:
            self._until_settled(mass, moves)
            return
        unit = torch.eye(size, dtype=torch.float64).reshape(size, contexts, states)
        stays = self._advance(unit, moves).reshape(size, size)
        by_class = torch.einsum("hcs,ck->hsk", unit, self.class_masses)
        found = [self._outcomes(by_class, moves, q) for q in range(len(self.automaton.outcomes))]
        for _ in range(DOUBLINGS):
            more = [stays @ each for each in found]
            found = [each + onward for each, onward in zip(found, more, strict=True)]
            if max(float(onward.max()) for onward in more) < 1e-17:
                break
            stays = stays @ stays
        for question, each in enumerate(found):
            self.ledger.add(question, 0, in_order(mass.reshape(-1, size, 1) * each, 1))

    def _until_settled(self, mass: Tensor, moves: StepTables) -> None:
        for _ in range(1_000_000):
            if float(mass.sum((1, 2)).max()) < 1e-12:
                return
            self._settle(mass, moves, 1)
            mass = self._advance(mass, moves)


def _under_each_other(parts: list[Tally]) -> Tally:
    def stack(name: str) -> Tensor:
        return torch.cat([getattr(part, name) for part in parts])

    return Tally(parts[0].columns, stack("mass"), stack("certain"), stack("calls"), stack("missing"))
