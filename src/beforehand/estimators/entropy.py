"""The restricted entropy of a question: how spread out the proposal q is, the paper's measure of difficulty."""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.engine import Run
from beforehand.estimators.frontier import Expansion
from beforehand.estimators.paths import ImportancePaths
from beforehand.estimators.spread import variance_of_mean


class EntropyPaths(ImportancePaths):
    """H_q = E_q Σ_k H(q(· | x_<k)): the entropy of each row's proposal, added up along paths drawn from q, in nats."""

    def __init__(self, run: Run, samples: int | None, budget: int | None) -> None:
        super().__init__(run, samples, budget)
        self.entropy = torch.zeros(len(self.owner), dtype=torch.float64, device=run.device)

    def settle(self, expansion: Expansion) -> None:
        """Every path gains the entropy of its row."""
        super().settle(expansion)
        kept = expansion.probs * expansion.running
        mass = kept.sum(1)
        rows = torch.where(mass > 0, mass.log() + torch.special.entr(kept).sum(1) / mass.clamp(min=1e-300), 0)
        alive = self.row_of >= 0
        self.entropy[alive] += rows[self.row_of[alive]]

    def estimate(self) -> tuple[Tensor, Tensor]:
        """Mean and standard error per history."""
        paths = self.entropy.reshape(len(self.run.histories), -1)
        return paths.mean(1), variance_of_mean(paths, self.sizes)[0].sqrt()
