"""What a run found out about one question, for every history of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from beforehand.queries import Automaton

Spread = Callable[[Tensor], Tensor]


def columns(automaton: Automaton, question: int) -> int:
    """How many numbers per row are followed through a run: one per outcome, and for a timed question the first moment."""
    return automaton.outcomes[question] + (1 if automaton.timed[question] else 0)


def follow_columns(decided: Tensor, step: int, timed: bool) -> Tensor:
    """[rows, columns] from [rows, outcomes]; the last column of a timed question is step × hit."""
    return torch.cat([decided, step * decided[:, 1:2]], 1) if timed else decided


@dataclass
class Tally:
    """Masses that add up to one with what is undecided, and how far they may be off.

    `mass`, `certain`: per column (see `columns`), what was estimated and what is certain of it. `step_mass`, `step_certain`,
    `step_variance`: per step, for the hits of a timed question. `missing`: mass that a search has dropped. `spread`: the
    variances of combinations of columns, [histories, columns, combinations] to [histories, combinations]; None where there is
    no chance. `samples`: one independent value per path and column, where a method has them, each in [0, `ceiling`].
    """

    mass: Tensor
    certain: Tensor
    calls: Tensor
    missing: Tensor
    step_mass: Tensor | None = None
    step_certain: Tensor | None = None
    step_variance: Tensor | None = None
    spread: Spread | None = None
    freedom: Tensor | None = None
    samples: Tensor | None = None
    ceiling: Tensor | None = None
    coverage: Tensor | None = None
    notes: dict[str, Tensor] = field(default_factory=dict)


class Ledger:
    """The running sums behind a tally, for the questions of one automaton."""

    def __init__(self, automaton: Automaton, histories: int, device: torch.device) -> None:
        self.automaton, self.histories = automaton, histories
        zeros = {"dtype": torch.float64, "device": device}
        counts = [columns(automaton, q) for q in range(len(automaton.outcomes))]
        self.mass = [torch.zeros(histories, count, **zeros) for count in counts]  # type: ignore[arg-type]
        horizon = automaton.horizon or 0
        self.steps = [torch.zeros(histories, horizon, **zeros) if timed else None for timed in automaton.timed]  # type: ignore[arg-type]
        self.calls = torch.zeros(histories, dtype=torch.long, device=device)

    def add(self, question: int, step: int, sums: Tensor) -> None:
        """Adds [histories, columns] that were decided at a step."""
        self.mass[question] += sums
        steps = self.steps[question]
        if steps is not None:
            steps[:, step - 1] += sums[:, 1]

    def count(self, owner: Tensor) -> None:
        """Counts one model call for each row."""
        self.calls += torch.bincount(owner, minlength=self.histories)
