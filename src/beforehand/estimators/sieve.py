"""The sieve: search and sampling in one unbiased pass.

At each step the candidates that would keep the question open are scored by u·ψ, u their weight and ψ a guess of how much
they matter; the heavy ones live with their exact weight, the light ones by chance (`selection`). ψ comes from the value V of a
candidate under a surrogate of the model (`lookahead`): the standard deviation sqrt(V(1 − V)) of what it may still decide,
plus a floor, because the surrogate may be wrong. Without a surrogate ψ is one.

Where the question is a single number, the surrogate also corrects what selection did to it: at each step, the value of all
candidates minus the weighted value of those that live is added to the estimate. Its expectation is zero, and if V were
the truth the answer would be exact for any number of rows.

Rows rise linearly with the step: later rows cost the same and are what the answer is read from.
"""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.errors import MethodError
from beforehand.estimators.engine import TOLERANCE, Run, plain_advance
from beforehand.estimators.frontier import Expansion, Frontier, Layout, Picks, by_history
from beforehand.estimators.guides import Guide, guide
from beforehand.estimators.lineage import Lineage, Surprises
from beforehand.estimators.randomness import uniforms
from beforehand.estimators.rewards import matters
from beforehand.estimators.selection import sift
from beforehand.estimators.tally import Combinations, Ledger, Tally
from beforehand.models import Model
from beforehand.queries import YES

# The floor of ψ, as a share of its mean: how far the surrogate is trusted to call a candidate unimportant.
FLOOR = 0.1
# How many rows a question without a horizon is never left with less of, and how fast it is expected to be decided at most.
FEWEST, SLOWEST = 2, 400


class SievePolicy:
    """One run."""

    def __init__(self, run: Run, budget: int, lookahead: bool, correct: bool) -> None:
        self.run, self.budget = run, budget
        count, steps = len(run.histories), run.steps - 1
        if run.automaton.horizon is not None and budget < steps:
            raise MethodError(f"a budget of {budget} calls is not enough for a single row of {steps} steps; give at least {steps}")
        self.ledger = Ledger(run.automaton, count, run.device)
        self.lineage = Lineage(count, count * budget, self.ledger.columns, run.device)
        self.unit = torch.arange(count, device=run.device)
        self.starts = uniforms(run.keys[:, None], 0, torch.arange(run.steps + 1, device=run.device))
        self.guide: Guide | None = guide(run) if lookahead else None
        self.corrects = correct and self.guide is not None and self.guide.single
        self.surprises = Surprises(count, run.device)
        self.left = torch.zeros(count, dtype=torch.float64, device=run.device)

    def open_mass(self, expansion: Expansion) -> Tensor:
        """The weight of the rows. What this step leaves of it is remembered, in case it is the last."""
        running = expansion.moves.running[expansion.frontier.automaton if len(expansion.moves.running) > 1 else slice(None)]
        stays = expansion.weight * (expansion.class_masses * running).sum(1)
        found, after = (by_history(mass, expansion.frontier.owner, expansion.histories) for mass in (expansion.weight, stays))
        self.left = torch.where(found > 0, after, self.left)
        return found

    def settle(self, expansion: Expansion) -> None:
        """What the rows decide goes to their units."""
        self.gained = torch.zeros_like(expansion.weight)
        for question, emitting in enumerate(expansion.moves.emitting):
            if emitting:
                decided = expansion.decided(question) * expansion.weight[:, None]
                self.lineage.add(question, self.unit, decided, expansion.step)
                if self.corrects:
                    self.gained = decided[:, YES]

    def select(self, expansion: Expansion) -> Picks:
        """Scores, sifts, and notes who lived by chance."""
        frontier, histories = expansion.frontier, expansion.histories
        u = expansion.shares * (expansion.weight * expansion.scale).to(expansion.shares.dtype)[:, None]
        if expansion.closed is not None or not expansion.moves.all_running:
            u *= expansion.running.to(u.dtype)
        value, score = self._score(expansion, u)
        layout = Layout(frontier.owner, histories)
        ordered = layout.pad(score, 0).transpose(1, 2).reshape(histories, -1)  # by event, then by parent: alike ones side by side
        room = self._room(expansion)
        lived = sift(ordered, room, self.starts[:, expansion.step])
        rows, events = layout.rows(lived.history, lived.place % layout.width), lived.place // layout.width
        weight = u[rows, events].double() * lived.factor
        unit = self.lineage.descend(self.unit[rows], lived.history, lived.thinned, weight, expansion.step)
        if value is not None and self.corrects:
            before = (u * value).sum(1, dtype=torch.float64) * (room > 0)[frontier.owner]
            after = weight * value.expand_as(u)[rows, events]
            self.lineage.correct(self.unit, before)
            self.lineage.correct(unit, -after)
            self.surprises.find(self.gained + before)
            self.surprises.expect(lived.history, lived.thinned, after)
        if self.guide is not None:
            self.guide.descend(rows, events)
        self.unit = unit
        return Picks(rows, events, weight.log())

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Counts a call for every row."""
        self.ledger.count(expansion.frontier.owner[picks.rows])
        return plain_advance(model, expansion, picks)

    def tallies(self) -> list[Tally]:
        """Sums over units."""
        self.surprises.find(self.gained)
        return [self._tally(question) for question in range(len(self.ledger.columns))]

    def _room(self, expansion: Expansion) -> Tensor:
        """Rows in proportion to the step, of what is left of the budget; without a horizon, as many as it will probably take."""
        left, step, steps = self.budget - self.ledger.calls, expansion.step, self.run.steps - 1
        if self.run.automaton.horizon is None:
            return torch.minimum((left // self._steps_left(expansion)).clamp(min=FEWEST), left)
        rest = (steps * (steps + 1) - step * (step - 1)) // 2
        return (left * step // max(1, rest)).clamp(min=1)

    def _steps_left(self, expansion: Expansion) -> Tensor:
        """Until next to nothing is undecided, if it goes on as at this step."""
        before = by_history(expansion.weight, expansion.frontier.owner, expansion.histories)
        after = by_history(expansion.weight * expansion.running_mass, expansion.frontier.owner, expansion.histories)
        rate = (after / before.clamp(min=1e-300)).clamp(1e-6, 1 - 1e-6).log()
        return ((TOLERANCE / after.clamp(min=TOLERANCE / 2)).log() / rate).ceil().clamp(5, SLOWEST).nan_to_num(5).long()

    def _score(self, expansion: Expansion, u: Tensor) -> tuple[Tensor | None, Tensor]:
        """[rows, vocabulary]: the surrogate's value of every candidate, and u·ψ; ψ is never far below its mean."""
        if self.guide is None:
            return None, u.clone()
        frontier = expansion.frontier
        value = self.guide.candidates(expansion)
        score = matters(value, self.guide.single).mul_(u) if len(value) == len(u) else u * matters(value, self.guide.single)
        whole = by_history(expansion.weight * expansion.running_mass, frontier.owner, expansion.histories)
        mean = by_history(score.sum(1).double(), frontier.owner, expansion.histories) / whole.clamp(min=1e-300)
        return value, score.addcmul_(u, (FLOOR * mean[frontier.owner] + 1e-12).to(u.dtype)[:, None])

    def _spread(self, question: int, column: int | None, wanted: Combinations) -> tuple[Tensor, Tensor]:
        variance, freedom = self.lineage.spread(question, column, wanted)
        only_yes = self.corrects and isinstance(wanted, slice) and wanted == slice(YES, YES + 1)
        return (variance * self.surprises.variance[:, None]).sqrt() if only_yes else variance, freedom

    def _tally(self, question: int) -> Tally:
        column = YES if self.corrects else None
        mass, columns = self.lineage.total(question, column), self.ledger.columns[question]
        tally = Tally(columns, mass, self.lineage.certain(question), self.ledger.calls, torch.zeros_like(mass[:, 0]))
        tally.spread = lambda wanted: self._spread(question, column, wanted)
        tally.doubt, tally.skewed = self.lineage.doubt(), not self.corrects
        tally.open = self.left
        return tally
