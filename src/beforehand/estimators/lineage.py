"""The variance of one run of the sieve, from the run itself.

A row belongs to the first of its ancestors that lived by chance, its unit; a row without one belongs to its history, whose
number is that of the unit. The units made at one step are a systematic sample, in order; with y the mass that each finally
decided, neighbours' differences tell their variance, n/(2(n − 1)) Σ (y_i − y_{i−1})², added up over the steps. What no chance
was involved in has no variance and is certain.

That is too much where later draws make up for earlier ones, as systematic draws do: a unit's y is noisy though the sum of all is
not. Where a lookahead tells values, there is a second estimate: how far, step by step, the chosen rows turned out to be worth one
step later more or less than their values said (`Surprises`). It misses what comes out only after several steps, and so is rather
too small where the first is too large; the geometric mean of both variances comes closest (docs/explanation/intervals.md).
"""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.frontier import by_history
from beforehand.estimators.tally import Columns, Combinations


class Lineage:
    """Units, and what each has decided so far. The first ones are the histories themselves."""

    def __init__(self, histories: int, most: int, columns: list[Columns], device: torch.device) -> None:
        self.histories = self.count = histories
        self.columns = columns
        self.owner = torch.arange(histories + most, device=device)
        self.step = torch.zeros(histories + most, dtype=torch.long, device=device)
        self.found = [torch.zeros(histories + most, len(each), dtype=torch.float64, device=device) for each in columns]
        self.corrected = torch.zeros(histories + most, dtype=torch.float64, device=device)
        self.weight = torch.zeros(histories + most, dtype=torch.float64, device=device)

    def add(self, question: int, unit: Tensor, decided: Tensor, step: int) -> None:
        """Adds what rows [rows, outcomes] decide at a step to their units."""
        columns, found = self.columns[question], self.found[question]
        if columns.steps:
            place = torch.tensor(columns.at(step), device=unit.device)
            found.index_put_((unit[:, None], place[None]), columns.gains(decided, step), accumulate=True)
        else:
            found.index_add_(0, unit, decided)

    def correct(self, unit: Tensor, amount: Tensor) -> None:
        """Adds a correction of expectation zero: it counts for the estimate and its variance, but is never certain."""
        self.corrected.index_add_(0, unit, amount)

    def descend(self, unit: Tensor, owner: Tensor, thinned: Tensor, weight: Tensor, step: int) -> Tensor:
        """The units of the next rows: their parents', or new ones where chance comes in for the first time."""
        new = thinned & (unit < self.histories)
        numbers = self.count - 1 + new.cumsum(0)
        fresh = owner[new]
        self.owner[self.count : self.count + len(fresh)] = fresh
        self.step[self.count : self.count + len(fresh)] = step
        self.weight[self.count : self.count + len(fresh)] = weight[new]
        self.count += len(fresh)
        return torch.where(new, numbers, unit)

    def certain(self, question: int) -> Tensor:
        """[histories, columns]: what rows that never lived by chance have decided."""
        return self.found[question][: self.histories]

    def doubt(self) -> Tensor:
        """[histories]: the largest weight that any unit began with."""
        chosen = slice(self.histories, self.count)
        nothing = torch.zeros(self.histories, dtype=torch.float64, device=self.weight.device)
        return nothing.scatter_reduce_(0, self.owner[chosen], self.weight[chosen], "amax")

    def total(self, question: int, corrected_column: int | None) -> Tensor:
        """[histories, columns]."""
        total = by_history(self.found[question][: self.count], self.owner[: self.count], self.histories)
        if corrected_column is not None:
            total[:, corrected_column] += by_history(self.corrected[: self.count], self.owner[: self.count], self.histories)
        return total

    def spread(self, question: int, corrected_column: int | None, wanted: Combinations) -> tuple[Tensor, Tensor]:
        """Variances of columns, or of their combinations, and their degrees of freedom: Satterthwaite's, from the fourth powers,
        so that a variance which a few units make up counts for few."""
        chosen = slice(self.histories, self.count)
        order = torch.argsort(self.owner[chosen], stable=True)
        owner, step = self.owner[chosen][order], self.step[chosen][order]
        found, corrected = self.found[question][chosen][order], self.corrected[chosen][order]
        if corrected_column is not None:
            found[:, corrected_column] += corrected
        each = found[:, wanted] if isinstance(wanted, slice) else torch.einsum("uc,ucj->uj", found, wanted[owner])
        parts = _successive(each, *_groups(owner, step))
        variance, squares = (by_history(part, owner, self.histories) for part in (parts, parts**2))
        return variance, torch.where(squares > 0, 2 * variance**2 / squares.clamp(min=1e-300), torch.inf)


class Surprises:
    """The variance of every step's draw, from what the rows drawn were worth one step later beyond what had been expected."""

    def __init__(self, histories: int, device: torch.device) -> None:
        self.variance = torch.zeros(histories, dtype=torch.float64, device=device)
        self._pending: tuple[Tensor, Tensor, Tensor] | None = None

    def expect(self, owner: Tensor, drawn: Tensor, worth: Tensor) -> None:
        """The rows that live on, which of them lived by chance, and what they are expected to be worth."""
        self._pending = (owner, drawn, worth) if len(owner) else None

    def find(self, worth: Tensor) -> None:
        """What the same rows are worth one step later."""
        if self._pending is None:
            return
        owner, drawn, expected = self._pending
        owner, surprise = owner[drawn], (worth - expected)[drawn][:, None]
        _, number, size = torch.unique_consecutive(owner, return_inverse=True, return_counts=True)
        self.variance.index_add_(0, owner, _successive(surprise, number, size.double()[:, None])[:, 0])
        self._pending = None


def _successive(each: Tensor, number: Tensor, size: Tensor) -> Tensor:
    """Each draw's part of n/(2(n − 1)) Σ (y_i − y_{i−1})² within its group; one that is alone counts as its own square."""
    parts = torch.where(size[number] > 1, 0, each**2)
    share = torch.where(size > 1, size / (2 * (size - 1).clamp(min=1)), 0)[number[1:]]
    parts[1:] += torch.where((number[1:] == number[:-1])[:, None], share * (each[1:] - each[:-1]) ** 2, 0)
    return parts


def _groups(owner: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    """Units of one history and step stand together: each unit's group, and the groups' sizes."""
    steps = int(step.max()) + 1 if len(step) else 1
    _, number, size = torch.unique_consecutive(owner * steps + step, return_inverse=True, return_counts=True)
    return number, size.double()[:, None]
