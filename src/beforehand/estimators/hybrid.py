"""The paper's hybrid (its appendix on the hybrid method): search first, then sample what the search has left out.

The search leaves a tree: at step k the prefixes B_k with everything the model said after them. Let r(x) be the share of
the proposal q below a prefix x that is not in the tree's last level; r = 0 on that level, and
r(x) = Σ_v q(v | x)·r(x, v) with r = 1 for children outside the tree. Sampling each event with q(v | x)·r(x, v)/r(x) draws
paths from q given that they are not in B, and their weight p/q_B is (1 − q(B)) times the masses that stayed undecided.
Inside the tree the model has nothing new to say, so paths cost nothing until they leave it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from beforehand.errors import MethodError
from beforehand.estimators.engine import Run, begin, follow
from beforehand.estimators.frontier import Expansion, Frontier, Picks
from beforehand.estimators.paths import DEFAULT_SAMPLES, ImportancePaths
from beforehand.estimators.search import UpperCluster
from beforehand.estimators.tally import Tally
from beforehand.models import Model, join


@dataclass
class Level:
    """One level of the tree: its rows, which child of which row each is, and r."""

    frontier: Frontier
    parents: Tensor
    events: Tensor
    outside: Tensor


class Climber(UpperCluster):
    """The tail-splitting search, remembering every level."""

    def __init__(self, run: Run, most: int, budget: int | None) -> None:
        super().__init__(run, most, budget)
        self.levels: list[Level] = []
        self.children: list[Tensor] = []

    def settle(self, expansion: Expansion) -> None:
        """Remembers q of every candidate, for the way back."""
        super().settle(expansion)
        mass = expansion.running_mass * 1
        q = expansion.probs * expansion.running * (expansion.scale / torch.where(mass > 0, mass, 1))[:, None]
        self.children.append(q)
        if not self.levels:
            nothing = torch.zeros(0, dtype=torch.long, device=q.device)
            self.levels.append(
                Level(expansion.frontier, nothing, nothing, torch.zeros(len(q), dtype=torch.float64, device=q.device))
            )

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Remembers the level."""
        frontier = super().advance(model, expansion, picks)
        self.levels.append(Level(frontier, picks.rows, picks.events, torch.zeros_like(frontier.log_weight)))
        return frontier

    def look_back(self) -> None:
        """r from the last level up; `children` become q(v | x)·r(x, v)."""
        below: Level | None = None
        for level, children in zip(self.levels[::-1], self.children[::-1], strict=True):
            if below is not None:
                children[below.parents, below.events] *= below.outside
            level.outside = children.sum(1)
            below = level


class BeamThenPaths(ImportancePaths):
    """Importance sampling outside the tree of a search."""

    def __init__(self, run: Run, samples: int | None, most: int, budget: int | None) -> None:
        steps = max(1, min(run.steps - 1, 100))
        if samples is None and budget is not None and budget < 2 * steps:
            raise MethodError(
                f"a budget of {budget} calls is not enough for a beam and a path of {steps} steps; give at least {2 * steps}"
            )
        self.tree = Climber(run, most, None if budget is None else budget // 2)
        follow(run, self.tree, begin(run))
        self.tree.look_back()
        spent = self.tree.ledger.calls
        super().__init__(run, samples or 1, budget)
        self.budget = budget
        if samples is None and budget is not None:
            self.launch((budget - spent) // steps)
        elif samples is None:
            self.launch(torch.full_like(spent, DEFAULT_SAMPLES))
        self.ledger.calls += spent
        self.left_out = self.tree.levels[0].outside.clone()
        self.row_of = torch.where(self.left_out[self.owner] > 0, self.row_of, -1)

    def settle(self, expansion: Expansion) -> None:
        """The search has settled its own rows; only paths that have left the tree gain here."""
        here = self.row_of
        self.row_of = torch.where(here >= self._level_size(expansion.step), here, -1)
        super().settle(expansion)
        self.row_of = here

    def proposal(self, expansion: Expansion) -> Tensor:
        """q, bent away from the tree on its rows."""
        inside = self._level_size(expansion.step)
        proposal = super().proposal(expansion)
        if inside:
            proposal[:inside] = self.tree.children[expansion.step - 1]
        return proposal

    def growth(self, expansion: Expansion, rows: Tensor, events: Tensor, cumulative: Tensor) -> Tensor:
        """The mass that stays undecided; the bend is paid for once, by the factor 1 − q(B)."""
        return expansion.running_mass[rows]

    def select(self, expansion: Expansion) -> Picks:
        """Children that are in the tree keep their rows there; the others follow, as rows of their own."""
        picks = self.entering = super().select(expansion)
        below = self._level(expansion.step + 1)
        if below is None or not len(picks.rows):
            return picks
        vocabulary = expansion.probs.shape[1]
        known = below.parents * vocabulary + below.events
        codes = picks.rows * vocabulary + picks.events
        order = torch.argsort(known)
        place = torch.searchsorted(known[order], codes).clamp(max=max(0, len(known) - 1))
        stays = (known[order][place] == codes) if len(known) else torch.zeros_like(codes, dtype=torch.bool)
        new = ~stays
        number = torch.where(stays, order[place] if len(known) else place, len(known) + new.cumsum(0) - 1)
        self.row_of = torch.where(self.row_of >= 0, number[self.row_of.clamp(min=0)], -1)
        self.entering = Picks(picks.rows[new], picks.events[new], picks.log_weight[new])
        return picks

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Only rows outside the tree cost a call."""
        entering = self.entering
        self.ledger.count(expansion.frontier.owner[entering.rows])
        outer = expansion.take(entering, model.advance(expansion.frontier.state, entering.rows, entering.events))
        below = self._level(expansion.step + 1)
        if below is None:
            return outer
        inner = below.frontier
        weight = (expansion.frontier.log_weight + expansion.running_mass.log())[below.parents]
        return Frontier(
            torch.cat([inner.owner, outer.owner]),
            torch.cat([inner.automaton, outer.automaton]),
            torch.cat([weight, outer.log_weight]),
            join([inner.state, outer.state]),
        )

    def tallies(self) -> list[Tally]:
        """What the search found, and (1 − q(B)) times what the paths found."""
        found = self.tree.tallies()
        return [self._add(mine, beam) for mine, beam in zip(super().tallies(), found, strict=True)]

    def _level(self, step: int) -> Level | None:
        return self.tree.levels[step - 1] if step <= len(self.tree.levels) else None

    def _level_size(self, step: int) -> int:
        level = self._level(step)
        return 0 if level is None else len(level.frontier)

    def _add(self, paths: Tally, beam: Tally) -> Tally:
        share = self.left_out
        mass = beam.mass + share[:, None] * paths.mass
        tally = Tally(paths.columns, mass, beam.mass, paths.calls, torch.zeros_like(beam.missing))
        inner = paths.spread
        assert inner is not None and paths.samples is not None
        tally.spread = lambda wanted: _scaled(inner(wanted), share)
        tally.coverage, tally.ceiling = beam.coverage, share
        tally.samples, tally.sizes = paths.samples * share[:, None, None], paths.sizes
        return tally

    def _note_certain(self, expansion: Expansion) -> None:
        self.certain = [torch.zeros_like(mass) for mass in self.ledger.mass]


def _scaled(spread: tuple[Tensor, Tensor], share: Tensor) -> tuple[Tensor, Tensor]:
    variance, freedom = spread
    return variance * share[:, None] ** 2, freedom
