"""Guides of the sieve: what tells the value of a candidate before its row is stepped.

Three, by what is at hand: a distilled lookahead with what the run itself has met, one without (a vocabulary or an automaton too
large for the run's own chains), or the run alone.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from beforehand.estimators.engine import Run
from beforehand.estimators.frontier import Expansion
from beforehand.estimators.local import AGAIN, Chains, Local, backwards, by_candidate, classes_fit, events_apart
from beforehand.estimators.lookahead import Values, look_ahead
from beforehand.models import Surrogate

# How far what the run has met bends the distilled values: to this power of the ratio, and by at most this factor before.
BEND, MOST_BEND = 0.5, 4.0
# The first row alone has too little to say.
FIRST_LOOK = 2


class Guide(Protocol):
    """Values for the candidates of one run."""

    single: bool

    def candidates(self, expansion: Expansion) -> Tensor:
        """[rows or 1, vocabulary]: the value after each event."""
        ...

    def descend(self, rows: Tensor, events: Tensor) -> None:
        """The rows that live on, and the event that each takes."""
        ...


def guide(run: Run) -> Guide | None:
    """The best that there is for a run; None where a question tells too many events apart for any."""
    surrogate: Surrogate | None = getattr(run.model, "lookahead", None)
    values = None if surrogate is None else look_ahead(surrogate, run.tables, run.read.log_probs.dtype)
    if values is None:
        return Local(run) if classes_fit(run) else None
    bends = run.automaton.horizon is not None and len(values.surrogate.levels) > 1 and events_apart(run)
    return Bent(values, run) if bends else Distilled(values, run)


class Distilled:
    """Where each row stands in the surrogate's contexts tells its values."""

    def __init__(self, values: Values, run: Run) -> None:
        self.values, self.single = values, values.single
        self.context = values.surrogate.read(run.histories, run.model.vocabulary)

    def candidates(self, expansion: Expansion) -> Tensor:
        """Looked up."""
        return self.values.candidates(expansion.moves, expansion.frontier.automaton, self.context, expansion.step)

    def descend(self, rows: Tensor, events: Tensor) -> None:
        """One event further."""
        self.context = self.values.surrogate.step(self.context[rows], events)


class Bent(Distilled):
    """The surrogate speaks of histories in general; a chain of single events learned from this very run, beside the surrogate's
    own chain of single events, tells how this history differs."""

    def __init__(self, values: Values, run: Run) -> None:
        super().__init__(values, run)
        self.run = run
        self.chains = Chains(run, values.surrogate.after_single_events())
        self.here: list[Tensor] = []
        self.usual = values.along_single_events(self.chains.class_of, run.read.log_probs.dtype)
        self.looked = 0

    def candidates(self, expansion: Expansion) -> Tensor:
        """Learns from the rows, then bends what is looked up."""
        self.chains.observe(expansion)
        value, step = super().candidates(expansion), expansion.step
        if step < FIRST_LOOK:
            return value
        if not self.looked or step >= AGAIN * self.looked:
            self._look(step)
        here, usual = self.here[step - self.looked], self.usual[step]
        bend = (here / usual.clamp(min=torch.finfo(here.dtype).tiny)).clamp_(1 / MOST_BEND, MOST_BEND).pow_(BEND)
        value = value * by_candidate(bend, self.chains.kind, expansion)
        return value.clamp_(max=1) if self.single else value

    def descend(self, rows: Tensor, events: Tensor) -> None:
        """One event further, in both."""
        super().descend(rows, events)
        self.chains.descend(events)

    def _look(self, step: int) -> None:
        chains, values = self.chains, self.values
        self.here = backwards(chains.table()[0], chains.class_of, self.run.tables, values.reward_rows, step, values.last)
        self.looked = step
