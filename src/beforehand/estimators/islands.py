"""One run as several independent ones that share all that is certain: its error bar comes from how far they differ.

Rows that have lived for certain so far, and all their ancestors, are common ground. What is drawn from it, or from an island, by
chance belongs to an island, and every island draws with a random number of its own: from its own rows and from its share of the
common ground. So, given the common ground, the islands are independent and alike, their sum is the answer, and

    variance = n/(n − 1) Σ (z_i − mean)²,  n − 1 degrees of freedom,

with z_i what island i has decided. (Interpenetrating samples: Mahalanobis 1946.) What the common ground has decided is certain.
"""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.frontier import Layout
from beforehand.estimators.spread import in_order
from beforehand.estimators.tally import Columns, Combinations

# More islands make for narrower intervals, fewer for a smaller error; an island has at least so many rows a step on average.
MOST, ROWS_EACH = 8, 4


def how_many(budget: int, steps: int) -> int:
    """One island alone, of very small budgets, knows nothing of its error."""
    return max(1, min(MOST, budget // (ROWS_EACH * max(1, steps))))


class Islands:
    """What each has decided so far; number 0 of each history is the common ground."""

    def __init__(self, histories: int, count: int, columns: list[Columns], device: torch.device) -> None:
        self.histories, self.count, self.columns = histories, count, columns
        grounds = histories * (count + 1)
        self.found = [torch.zeros(grounds, len(each), dtype=torch.float64, device=device) for each in columns]
        self.corrected = torch.zeros(grounds, dtype=torch.float64, device=device)
        self.heaviest = torch.zeros(histories, dtype=torch.float64, device=device)

    def add(self, question: int, ground: Tensor, decided: Tensor, step: int) -> None:
        """Adds what rows [rows, outcomes] decide at a step."""
        columns, found = self.columns[question], self.found[question]
        if columns.steps:
            place = torch.tensor(columns.at(step), device=ground.device)
            found.index_put_((ground[:, None], place[None]), columns.gains(decided, step), accumulate=True)
        else:
            found.index_add_(0, ground, decided)

    def correct(self, ground: Tensor, amount: Tensor) -> None:
        """Adds a correction of expectation zero: it counts for the estimate and its variance, but is never certain."""
        self.corrected.index_add_(0, ground, amount)

    def drawn(self, owner: Tensor, weight: Tensor) -> None:
        """Remembers the heaviest row that was ever left to chance: what one unlucky draw could have held."""
        self.heaviest.scatter_reduce_(0, owner, weight, "amax")

    def certain(self, question: int) -> Tensor:
        """[histories, columns]: what the common ground has decided."""
        return self._apart(self.found[question])[:, 0]

    def total(self, question: int, corrected_column: int | None) -> Tensor:
        """[histories, columns]."""
        return in_order(self._apart(self._counted(question, corrected_column)), 1)

    def spread(
        self, question: int, corrected_column: int | None, wanted: Combinations, shares: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Variances of columns, or of their combinations, and their degrees of freedom; with `shares` [histories, wanted], of what
        differs from these shares of all outcomes together, because their sum is known."""
        islands = self._apart(self._counted(question, corrected_column))[:, 1:]
        each = islands[:, :, wanted] if isinstance(wanted, slice) else torch.einsum("hic,hcj->hij", islands, wanted)
        if shares is not None:
            each = each - shares[:, None] * islands[:, :, : self.columns[question].outcomes].sum(2, keepdim=True)
        if self.count == 1:
            unknown = torch.where(self.heaviest > 0, torch.inf, 0.0)[:, None].expand(-1, each.shape[2])
            return unknown, torch.ones_like(unknown)
        off = each - in_order(each, 1)[:, None] / self.count
        variance = in_order(off**2, 1) * (self.count / (self.count - 1))
        return variance, torch.full_like(variance, self.count - 1)

    def _counted(self, question: int, corrected_column: int | None) -> Tensor:
        if corrected_column is None:
            return self.found[question]
        found = self.found[question].clone()
        found[:, corrected_column] += self.corrected
        return found

    def _apart(self, values: Tensor) -> Tensor:
        return values.reshape(self.histories, self.count + 1, -1)


class Grounds:
    """Which rows of each history are common ground, and which of each island. Rows must be sorted by ground."""

    def __init__(self, of_row: Tensor, histories: int, islands: int, layout: Layout) -> None:
        self.of_row, self.islands, self.layout = of_row, islands, layout
        sizes = torch.bincount(of_row, minlength=histories * (islands + 1)).reshape(histories, -1)
        # [histories, grounds + 1]: where each begins among the rows of its history, and where the last one ends.
        self.edges = torch.nn.functional.pad(sizes.cumsum(1), (1, 0))


class Line:
    """The candidates of each history on one line: ground by ground, in each by event and then by row."""

    def __init__(self, grounds: Grounds) -> None:
        self.layout, self.of_row = grounds.layout, grounds.of_row
        self.sizes = torch.bincount(grounds.of_row, minlength=grounds.edges.numel() - len(grounds.edges))
        self.first = self.sizes.cumsum(0) - self.sizes

    def of(self, values: Tensor) -> Tensor:
        """[histories, candidates] from [rows, vocabulary]."""
        rows, vocabulary = values.shape
        before = self.first * (vocabulary - 1)
        if not self.layout.full:  # every history is given the room of the largest
            histories = torch.arange(self.layout.histories, device=values.device)
            moved = histories * self.layout.width - self.layout.begins
            before += moved.repeat_interleave(len(self.first) // len(moved)) * vocabulary
        first = before[self.of_row] + torch.arange(rows, device=values.device)
        place = first[:, None] + self.sizes[self.of_row][:, None] * torch.arange(vocabulary, device=values.device)
        line = torch.zeros(self.layout.histories * self.layout.width * vocabulary, dtype=values.dtype, device=values.device)
        line[place] = values
        return line.reshape(self.layout.histories, -1)

    def candidate(self, history: Tensor, place: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
        """Row and event of places on the line."""
        begins = self.layout.begins[history]
        ground = self.of_row[begins + place // vocabulary]
        size, first = self.sizes[ground], self.first[ground]
        inside = place - (first - begins) * vocabulary
        return first + inside % size, inside // size
