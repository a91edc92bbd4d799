"""The sieve: search and sampling in one unbiased pass.

At each step the candidates that would keep the question open are scored by u·ψ, u their weight and ψ a guess of how much
they matter; the heavy ones live with their exact weight, the light ones by chance (`selection`). ψ comes from the value V of a
candidate under a surrogate of the model (`lookahead`): the standard deviation sqrt(V(1 − V)) of what it may still decide,
plus a floor, because the surrogate may be wrong. Without any guide ψ is one. What was drawn by chance belongs to one of several
independent islands, whose differences tell the error (`islands`).

Where the question is a single number, the surrogate also corrects what selection did to it: at each step, the value of all
candidates minus the weighted value of those that live is added to the estimate. Its expectation is zero, and if V were
the truth the answer would be exact for any number of rows.

Rows rise linearly with the step: later rows cost the same and are what the answer is read from. Where the answer is found step by
step, they also follow how much of it is still to come.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from beforehand.errors import MethodError
from beforehand.estimators.engine import TOLERANCE, Run, plain_advance
from beforehand.estimators.frontier import Expansion, Frontier, Layout, Picks, Tables, by_history
from beforehand.estimators.guides import Distilled, Guide, guide
from beforehand.estimators.islands import Grounds, Islands, how_many
from beforehand.estimators.randomness import uniforms
from beforehand.estimators.rewards import matters
from beforehand.estimators.selection import sift
from beforehand.estimators.sums import LONG
from beforehand.estimators.tally import Ledger, Tally
from beforehand.models import Model
from beforehand.queries import YES

# The floor of ψ, as a share of its mean: how far the surrogate is trusted to call a candidate unimportant.
FLOOR = 0.15
# A question without a horizon is expected to be decided in so many steps at most, and its budget is laid out for so many.
SLOWEST, EXPECTED = 400, 100
STEPS_AT_ONCE = 32
# What is to come is not believed to fall faster than this a step; and no step has less than this share of an even one.
SLOWEST_FALL, LEAST_SHARE = 0.5, 0.5


class SievePolicy:
    """One run."""

    def __init__(self, run: Run, budget: int, lookahead: bool, correct: bool) -> None:
        self.run, self.budget = run, budget
        count, steps = len(run.histories), run.steps - 1
        if run.automaton.horizon is not None and budget < steps:
            raise MethodError(f"a budget of {budget} calls is not enough for a single row of {steps} steps; give at least {steps}")
        self.ledger = Ledger(run.automaton, count, run.device)
        self.count = how_many(budget, EXPECTED if run.automaton.horizon is None else steps)
        self.islands = Islands(count, self.count, self.ledger.columns, run.device)
        self.ground = torch.arange(count, device=run.device) * (self.count + 1)
        self.guide: Guide | None = guide(run) if lookahead else None
        self.corrects = correct and self.guide is not None and self.guide.single
        self.knows = isinstance(self.guide, Distilled)  # or else only what this run has met
        self.even = not self.knows and len(run.automaton.classes) >= LONG
        self.gradual = self.knows and _decides_before_the_end(run.tables)
        self.left = torch.zeros(count, dtype=torch.float64, device=run.device)
        self.block, self.numbers = -1, self.left
        self.to_come = self.to_come_at_first = self.left

    def open_mass(self, expansion: Expansion) -> Tensor:
        """The weight of the rows. What this step leaves of it is remembered, in case it is the last."""
        running = expansion.moves.running[expansion.frontier.automaton if len(expansion.moves.running) > 1 else slice(None)]
        stays = expansion.weight * (expansion.class_masses * running).sum(1)
        found, after = (by_history(mass, expansion.frontier.owner, expansion.histories) for mass in (expansion.weight, stays))
        self.left = torch.where(found > 0, after, self.left)
        return found

    def settle(self, expansion: Expansion) -> None:
        """What the rows decide goes to their islands."""
        for question, emitting in enumerate(expansion.moves.emitting):
            if emitting:
                decided = expansion.decided(question) * expansion.weight[:, None]
                self.islands.add(question, self.ground, decided, expansion.step)

    def select(self, expansion: Expansion) -> Picks:
        """Scores, sifts, and notes who lived by chance."""
        frontier, histories = expansion.frontier, expansion.histories
        u = expansion.shares * (expansion.weight * expansion.scale).to(expansion.shares.dtype)[:, None]
        if expansion.closed is not None or not expansion.moves.all_running:
            u *= expansion.running.to(u.dtype)
        value, score = self._score(expansion, u)
        to_come = None if value is None else _summed(u, value)
        room = self._room(expansion, to_come)
        grounds = Grounds(self.ground, histories, self.count, Layout(frontier.owner, histories))
        lived = sift(score, grounds, room, self._random(expansion.step))
        weight = u[lived.row, lived.event].double() * lived.factor
        self.islands.drawn(frontier.owner[lived.row[lived.certain :]], weight[lived.certain :])
        in_place = torch.argsort((lived.ground * u.shape[1] + lived.event) * len(u) + lived.row)
        rows, events, ground, weight = (each[in_place] for each in (lived.row, lived.event, lived.ground, weight))
        if value is not None and to_come is not None and self.corrects:
            goes_on = to_come if self.run.automaton.horizon is not None else to_come * (room > 0)[frontier.owner]
            self.islands.correct(self.ground, goes_on)
            self.islands.correct(ground, -weight * value.expand_as(u)[rows, events])
        if self.guide is not None:
            self.guide.descend(rows, events)
        self.ground = ground
        return Picks(rows, events, weight.log())

    def _random(self, step: int) -> Tensor:
        """[histories, 2 × islands]: the random numbers of a step, made for a few steps at once."""
        block, place = divmod(step, STEPS_AT_ONCE)
        if block != self.block:
            lanes = torch.arange(STEPS_AT_ONCE * 2 * self.count, device=self.run.device)
            self.block, self.numbers = block, uniforms(self.run.keys[:, None], block, lanes)
        return self.numbers[:, place * 2 * self.count : (place + 1) * 2 * self.count]

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Counts a call for every row."""
        self.ledger.count(expansion.frontier.owner[picks.rows])
        return plain_advance(model, expansion, picks)

    def tallies(self) -> list[Tally]:
        """Sums over islands."""
        return [self._tally(question) for question in range(len(self.ledger.columns))]

    def _room(self, expansion: Expansion, to_come: Tensor | None) -> Tensor:
        """Rows in proportion to the step and to how much is still to come then, if it goes on falling as it does; without a
        horizon, as many as it will probably take. Of a large vocabulary, where the first steps are as uncertain as the last and
        nothing is known of them, as many at each."""
        left, step, steps = self.budget - self.ledger.calls, expansion.step, self.run.steps - 1
        if self.run.automaton.horizon is None:
            room = torch.minimum((left // self._steps_left(expansion)).clamp(min=self.count), left)
            return torch.where(room < self.count, 0, room)
        if self.even:
            room = left // (steps - step + 1)
        elif not self.gradual or to_come is None:
            room = left * step // max(1, (steps * (steps + 1) - step * (step - 1)) // 2)
        else:
            later = torch.arange(steps - step + 1, device=self.run.device)
            shares = (step + later) * self._falls(expansion, to_come)[:, None] ** later
            room = (left * (step / shares.sum(1)).clamp(min=LEAST_SHARE / len(later)) + 1e-6).long()
        return torch.minimum(room, left - self.count * (steps - step)).clamp(min=self.count)

    def _falls(self, expansion: Expansion, to_come: Tensor) -> Tensor:
        """[histories]: by which factor a step what is still to come goes down: now, or on average, if that is more; one at most."""
        found = by_history(to_come, expansion.frontier.owner, expansion.histories)
        if expansion.step == 1:
            self.to_come = self.to_come_at_first = found
            return torch.ones_like(found)
        now, before = found / self.to_come.clamp(min=1e-300), self.to_come_at_first.clamp(min=1e-300)
        self.to_come = found
        return torch.maximum(now, (found / before) ** (1 / (expansion.step - 1))).clamp(SLOWEST_FALL, 1)

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

    def _tally(self, question: int) -> Tally:
        column = YES if self.corrects else None
        mass, columns = self.islands.total(question, column), self.ledger.columns[question]
        tally = Tally(columns, mass, self.islands.certain(question), self.ledger.calls, torch.zeros_like(mass[:, 0]))
        tally.spread = lambda wanted, *shares: self.islands.spread(question, column, wanted, *shares)
        tally.summed = not self.corrects and self.run.automaton.horizon is not None
        tally.doubt, tally.blind = self.islands.heaviest, self.guide is None
        tally.skewed = not self.corrects or not self.knows
        tally.open = self.left
        return tally


def _summed(u: Tensor, value: Tensor) -> Tensor:
    """[rows]: Σ u·value over the candidates of a row; a product is faster, but rounds by the shape of the batch."""
    if len(value) == 1 and u.dtype != torch.float64:
        return (u @ value[0]).double()
    return (u * value).sum(1, dtype=torch.float64)


@lru_cache(maxsize=64)
def _decides_before_the_end(tables: Tables) -> bool:
    """Is what is wanted found step by step, as in `within`, and not only at the horizon, as in `when(…) = k`?"""
    last = tables.automaton.horizon or 1
    return any(
        bool(torch.isin(emits, torch.tensor(wanted, device=emits.device)).any())
        for step in {max(1, last // 2), max(1, last - 1)} - {last}
        for emits, wanted in zip(tables.at(step).emits, tables.automaton.wanted, strict=True)
    )
