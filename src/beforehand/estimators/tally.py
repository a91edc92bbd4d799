"""What a run found out about one question, for every history of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from beforehand.queries import Automaton

Combinations = Tensor | slice
Spread = Callable[..., tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Columns:
    """The numbers followed for one question: the mass of each outcome and, if the answer tells the step, more.

    A timed question has two outcomes, 1 being the hit. After them stand the sum of step × hit, and the hits of each step.
    """

    outcomes: int
    steps: int  # 0 when the answer does not tell the step
    endless: bool = False  # nothing decides the question by a certain step

    @classmethod
    def of(cls, automaton: Automaton, question: int) -> Columns:
        """The columns of a question of an automaton."""
        steps = (automaton.horizon or 0) if automaton.timed[question] else 0
        return cls(automaton.outcomes[question], steps, automaton.horizon is None)

    def __len__(self) -> int:
        return self.outcomes + (1 + self.steps if self.steps else 0)

    def at(self, step: int) -> slice | list[int]:
        """Which columns a step adds to."""
        if not self.steps:
            return slice(0, self.outcomes)
        return [*range(self.outcomes), self.outcomes, self.outcomes + step]

    def gains(self, decided: Tensor, step: int) -> Tensor:
        """What it adds there, from [rows, outcomes]."""
        return torch.cat([decided, step * decided[:, 1:2], decided[:, 1:2]], 1) if self.steps else decided

    @property
    def moment(self) -> int:
        """The column of step × hit."""
        return self.outcomes

    @property
    def first_step(self) -> int:
        """The column of the hits of step 1."""
        return self.outcomes + 1


@dataclass
class Tally:
    """Masses that add up to one with what is undecided, and how far they may be off; all per history and column.

    `mass` was estimated, `certain` of it is certain. `missing`: mass that a search has dropped. `spread`: the variances of
    combinations of columns, weights [histories, columns, combinations] or the columns of a slice one by one, to
    [histories, combinations], and their degrees of freedom; None where nothing was left to chance. `skewed`: every draw
    adds, so an estimate is rather too small than too large. `doubt`: per history, what one more unlucky draw could have
    held; `blind`: nothing told which draws that might be. `summed`: the masses of all outcomes are known to add up to one, and
    `spread` takes the outcomes' shares of what is not certain. `samples`: [histories, paths, columns] independent values, where a
    method has them, the first `sizes` of each history, each within [0, `ceiling`] beyond what is certain.
    """

    columns: Columns
    mass: Tensor
    certain: Tensor
    calls: Tensor
    missing: Tensor
    spread: Spread | None = None
    samples: Tensor | None = None
    sizes: Tensor | None = None
    ceiling: Tensor | None = None
    skewed: bool = False
    doubt: Tensor | None = None
    blind: bool = False
    summed: bool = False
    coverage: Tensor | None = None
    open: Tensor | None = None  # what is undecided, where the masses alone do not tell because they were corrected
    first_is_certain: bool = True  # what the first event decides was read off, not drawn


def settled_at_start(automaton: Automaton, tallies: list[Tally]) -> list[Tally]:
    """The same tallies, those of questions apart that were decided before anything happened."""
    return [
        tally if outcome < 0 else _known(tally.columns, outcome, len(tally.mass), tally.calls)
        for outcome, tally in zip(automaton.at_start, tallies, strict=True)
    ]


def all_at_start(automaton: Automaton, histories: int) -> list[Tally]:
    """The tallies of questions that are all decided before anything happens: no calls."""
    calls = torch.zeros(histories, dtype=torch.long)
    return [
        _known(Columns(n, 0), outcome, histories, calls) for n, outcome in zip(automaton.outcomes, automaton.at_start, strict=True)
    ]


def _known(columns: Columns, outcome: int, histories: int, calls: Tensor) -> Tally:
    mass = torch.zeros(histories, len(columns), dtype=torch.float64)
    mass[:, outcome] = 1
    return Tally(columns, mass, mass, calls, torch.zeros(histories, dtype=torch.float64))


class Ledger:
    """The running sums behind the tallies of one run."""

    def __init__(self, automaton: Automaton, histories: int, device: torch.device) -> None:
        self.histories = histories
        self.columns = [Columns.of(automaton, q) for q in range(len(automaton.outcomes))]
        self.mass = [torch.zeros(histories, len(each), dtype=torch.float64, device=device) for each in self.columns]
        self.calls = torch.zeros(histories, dtype=torch.long, device=device)

    def add(self, question: int, step: int, decided: Tensor) -> None:
        """Adds [histories, outcomes] that were decided at a step."""
        columns = self.columns[question]
        self.mass[question][:, columns.at(step)] += columns.gains(decided, step)

    def count(self, owner: Tensor) -> None:
        """Counts one model call for each row."""
        self.calls += torch.bincount(owner, minlength=self.histories)

    def certain(self, missing: Tensor, coverage: Tensor | None = None) -> list[Tally]:
        """Tallies of a method that leaves nothing to chance."""
        found = zip(self.columns, self.mass, strict=True)
        return [Tally(columns, mass, mass, self.calls, missing, coverage=coverage) for columns, mass in found]


def averaged(tallies: Sequence[Tally]) -> Tally:
    """Independent runs about the same question as one: means of masses, variances of the mean."""
    count, first = len(tallies), tallies[0]

    def mean(name: str) -> Tensor:
        return torch.stack([getattr(each, name) for each in tallies]).mean(0)

    def spread(wanted: Combinations, *shares: Tensor) -> tuple[Tensor, Tensor]:
        """Welch's and Satterthwaite's degrees of freedom."""
        each = [tally.spread(wanted, *shares) for tally in tallies if tally.spread is not None]
        variances, freedoms = (torch.stack([found[i] for found in each]) for i in (0, 1))
        total = variances.sum(0)
        freedom = total**2 / (variances**2 / freedoms).sum(0).clamp(min=1e-300)
        return total / count**2, torch.where(total == 0, torch.inf, freedom.nan_to_num(1))

    calls = torch.stack([each.calls for each in tallies]).sum(0)
    tally = replace(first, mass=mean("mass"), certain=mean("certain"), calls=calls, missing=mean("missing"), spread=spread)
    if first.doubt is not None:
        tally.doubt = mean("doubt")
    if first.open is not None:
        tally.open = mean("open")
    return tally
