"""The variance of one run of the sieve, from the run itself.

A row belongs to the first of its ancestors that lived by chance, its unit. The units made at one step are a systematic
sample, in order; with y the mass that each finally decided, neighbours' differences tell their variance,
n/(2(n − 1)) Σ (y_i − y_{i−1})², added up over the steps. What no chance was involved in has no variance and is certain.
"""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.frontier import by_history


class Lineage:
    """Units, and what each has decided so far."""

    def __init__(self, histories: int, most: int, columns: list[int], device: torch.device) -> None:
        self.histories, self.count = histories, 0
        self.owner = torch.zeros(most, dtype=torch.long, device=device)
        self.step = torch.zeros(most, dtype=torch.long, device=device)
        self.found = [torch.zeros(most, width, dtype=torch.float64, device=device) for width in columns]
        self.certain = [torch.zeros(histories, width, dtype=torch.float64, device=device) for width in columns]

    def add(self, question: int, unit: Tensor, owner: Tensor, columns: slice | list[int], gain: Tensor) -> None:
        """Adds [rows, …] to the rows' units, or to what is certain where there is none."""
        free = unit < 0
        self._add_certain(question, owner[free], columns, gain[free])
        place = torch.arange(len(self.found[question]), device=gain.device)[: self.count]
        sums = torch.zeros(self.count, gain.shape[1], dtype=torch.float64, device=gain.device)
        sums.index_add_(0, unit[~free], gain[~free])
        if isinstance(columns, slice):
            self.found[question][: self.count, columns] += sums
        else:
            self.found[question][place[:, None], torch.tensor(columns, device=gain.device)] += sums

    def _add_certain(self, question: int, owner: Tensor, columns: slice | list[int], gain: Tensor) -> None:
        self.certain[question][:, columns] += by_history(gain, owner, self.histories)

    def descend(self, unit: Tensor, owner: Tensor, thinned: Tensor, step: int) -> Tensor:
        """The units of the next rows: their parents', or new ones where chance comes in for the first time."""
        new = thinned & (unit < 0)
        made = int(new.sum())
        numbers = torch.where(new, self.count + new.cumsum(0) - 1, unit)
        self.owner[self.count : self.count + made] = owner[new]
        self.step[self.count : self.count + made] = step
        self.count += made
        return numbers

    def total(self, question: int) -> Tensor:
        """[histories, columns]."""
        units = by_history(self.found[question][: self.count], self.owner[: self.count], self.histories)
        return units + self.certain[question]

    def _groups(self, owner: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        """Units of one history and step stand together: each unit's group, and the groups' sizes."""
        steps = int(step.max()) + 1 if len(step) else 1
        _, number, size = torch.unique_consecutive(owner * steps + step, return_inverse=True, return_counts=True)
        return number, size.double()[:, None]

    def spread(self, question: int, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Variances of combinations of columns, [histories, columns, combinations] to [histories, combinations], and their
        degrees of freedom: Satterthwaite's, from the fourth powers, so that a variance which a few units make up counts for few."""
        owner, step = self.owner[: self.count], self.step[: self.count]
        order = torch.argsort(owner, stable=True)
        owner, step = owner[order], step[order]
        each = torch.einsum("uc,ucj->uj", self.found[question][: self.count][order], weights[owner])
        number, size = self._groups(owner, step)
        neighbours = (number[1:] == number[:-1])[:, None]
        share = torch.where(size > 1, size / (2 * (size - 1).clamp(min=1)), 0)[number[1:]]
        apart = torch.where(neighbours, share * (each[1:] - each[:-1]) ** 2, 0)
        alone = torch.where(size[number] > 1, 0, each**2)
        variance = by_history(apart, owner[1:], self.histories) + by_history(alone, owner, self.histories)
        squares = by_history(apart**2, owner[1:], self.histories) + by_history(alone**2, owner, self.histories)
        return variance, torch.where(squares > 0, 2 * variance**2 / squares.clamp(min=1e-300), torch.inf)
