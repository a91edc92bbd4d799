"""Methods that draw independent futures: naive, uniform and importance sampling.

Every path has its own random numbers, but paths that share a prefix share its row: only distinct prefixes cost a call.
The value of a path is what its prefixes decided on the way, each weighted by its own chance of still being undecided.
"""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.errors import MethodError
from beforehand.estimators.engine import LONGEST, Run, plain_advance
from beforehand.estimators.frontier import Expansion, Frontier, Layout, Picks, by_history
from beforehand.estimators.randomness import draw, uniforms
from beforehand.estimators.spread import variance_of_mean
from beforehand.estimators.tally import Ledger, Tally
from beforehand.models import Model

DEFAULT_SAMPLES = 200


def affordable(samples: int | None, budget: int | None, run: Run) -> int:
    """How many paths: each costs at most one call per step but the last, which the model has already said all about.

    A question without a horizon may take any number of steps; its paths are assumed to be decided within a hundred or so.
    """
    if samples is not None:
        return samples
    if budget is None:
        return DEFAULT_SAMPLES
    steps = run.steps - 1 if run.automaton.horizon else min(100, LONGEST)
    if budget < steps:
        raise MethodError(f"a budget of {budget} calls is not enough for a single path of {steps} steps; give at least {steps}")
    return budget // max(1, steps) if steps else DEFAULT_SAMPLES


class ImportancePaths:
    """Each row draws from its proposal; a path's weight is the product of the masses that stayed undecided."""

    shares_prefixes = True
    first_is_certain = True

    def __init__(self, run: Run, samples: int | None, budget: int | None) -> None:
        self.run = run
        self.budget = budget if samples is None else None
        self.ledger = Ledger(run.automaton, len(run.histories), run.device)
        self.launch(torch.full_like(self.ledger.calls, affordable(samples, budget, run)))

    def launch(self, sizes: Tensor) -> None:
        """So many paths for each history."""
        run, self.sizes = self.run, sizes
        self.row_of = torch.arange(len(sizes), device=run.device).repeat_interleave(sizes)
        self.owner = self.row_of.clone()
        self.lane = torch.arange(len(self.owner), device=run.device) - (sizes.cumsum(0) - sizes)[self.owner]
        zeros = torch.zeros(len(self.owner), 1, dtype=torch.float64, device=run.device)
        self.values = [zeros.repeat(1, len(columns)) for columns in self.ledger.columns]
        self.ceiling: Tensor | None = None

    def proposal(self, expansion: Expansion) -> Tensor:
        """[rows, vocabulary]: what the next event is drawn from, up to a factor."""
        return expansion.probs * expansion.running

    def growth(self, expansion: Expansion, rows: Tensor, events: Tensor, cumulative: Tensor) -> Tensor:
        """What a draw multiplies the weight by: its probability over the proposal's."""
        return cumulative[rows, -1] * expansion.scale[rows]

    def open_mass(self, expansion: Expansion) -> Tensor:
        """The mean weight of the paths that are not decided."""
        alive = self.row_of >= 0
        return by_history(expansion.weight[self.row_of[alive]], self.owner[alive], expansion.histories) / self.sizes

    def settle(self, expansion: Expansion) -> None:
        """Every path gains what its row decides; the first row of all is the same for every path and so is certain."""
        if self.ceiling is None:
            self.ceiling = expansion.running_mass
            self._note_certain(expansion)
        self.settle_next(expansion)

    def settle_next(self, expansion: Expansion) -> None:
        """All that the next event can decide, at its expectation."""
        alive = (self.row_of >= 0).nonzero()[:, 0]
        for question, emitting in enumerate(expansion.moves.emitting):
            if emitting:
                gain = expansion.decided(question) * expansion.weight[:, None]
                self._gain(question, expansion.step, gain[self.row_of[alive]], alive)

    def draw(self, expansion: Expansion) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The paths that go on, their rows and next events, and the proposal's running sums."""
        cumulative = self.proposal(expansion).cumsum(1)
        alive = ((self.row_of >= 0) & (cumulative[:, -1] > 0)[self.row_of]).nonzero()[:, 0]
        uniform = uniforms(self.run.keys[self.owner[alive]], expansion.step, self.lane[alive])
        return alive, self.row_of[alive], draw(cumulative, self.row_of[alive], uniform), cumulative

    def select(self, expansion: Expansion) -> Picks:
        """Draws an event for every path, and makes a row of every different prefix."""
        alive, rows, events, cumulative = self.draw(expansion)
        if self.budget is not None and self.run.automaton.horizon is None:
            alive, rows, events = self._within_budget(alive, rows, events)
        codes = rows * cumulative.shape[1] + events
        if self.shares_prefixes:
            codes, place = torch.unique(codes, return_inverse=True)
        else:
            place = torch.arange(len(codes), device=codes.device)
        rows, events = codes // cumulative.shape[1], codes % cumulative.shape[1]
        self.row_of = torch.full_like(self.row_of, -1).index_copy(0, alive, place)
        growth = self.growth(expansion, rows, events, cumulative)
        return Picks(rows, events, expansion.frontier.log_weight[rows] + growth.log())

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Counts a call for every row."""
        self.ledger.count(expansion.frontier.owner[picks.rows])
        return plain_advance(model, expansion, picks)

    def tallies(self) -> list[Tally]:
        """Means over the paths."""
        return [self._tally(question) for question in range(len(self.values))]

    def _within_budget(self, alive: Tensor, rows: Tensor, events: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A question without a horizon may outlast its budget: then its paths stay undecided."""
        owner = self.owner[alive]
        fits = self.ledger.calls + torch.bincount(owner, minlength=len(self.run.histories)) <= (self.budget or 0)
        return alive[fits[owner]], rows[fits[owner]], events[fits[owner]]

    def _note_certain(self, expansion: Expansion) -> None:
        self.certain = [torch.zeros_like(mass) for mass in self.ledger.mass]
        for question, columns in enumerate(self.ledger.columns):
            if self.first_is_certain:
                self.certain[question][:, columns.at(1)] += columns.gains(expansion.decided(question), 1)

    def _gain(self, question: int, step: int, gain: Tensor, paths: Tensor) -> None:
        columns = self.ledger.columns[question]
        if columns.steps:
            self.values[question][paths[:, None], torch.tensor(columns.at(step), device=paths.device)] += columns.gains(gain, step)
        else:
            self.values[question].index_add_(0, paths, gain)
        self.ledger.add(question, step, by_history(gain, self.owner[paths], len(self.run.histories)) / self.sizes[:, None])

    def _tally(self, question: int) -> Tally:
        values, sizes = Layout(self.owner, len(self.sizes)).pad(self.values[question], 0), self.sizes
        mass, certain = self.ledger.mass[question], self.certain[question]
        tally = Tally(self.ledger.columns[question], mass, certain, self.ledger.calls, torch.zeros_like(certain[:, 0]))
        tally.spread = lambda wanted: variance_of_mean(
            values[:, :, wanted] if isinstance(wanted, slice) else values @ wanted, sizes
        )
        tally.samples, tally.sizes = values - certain[:, None], sizes
        tally.first_is_certain = self.first_is_certain
        tally.ceiling = self.ceiling if self.first_is_certain else torch.ones_like(certain[:, 0])
        return tally


class UniformPaths(ImportancePaths):
    """Each row draws uniformly from the events that keep the question open: weights have no useful ceiling."""

    def proposal(self, expansion: Expansion) -> Tensor:
        """One for each allowed event."""
        return expansion.running.double().expand_as(expansion.probs)

    def growth(self, expansion: Expansion, rows: Tensor, events: Tensor, cumulative: Tensor) -> Tensor:
        """The event's probability times the number of allowed events."""
        return expansion.probs[rows, events] * expansion.scale[rows] * cumulative[rows, -1]

    def _tally(self, question: int) -> Tally:
        tally = super()._tally(question)
        tally.ceiling = None
        return tally


class NaivePaths(ImportancePaths):
    """Each path is drawn from the model itself, decided or not, and has rows of its own."""

    shares_prefixes = False
    first_is_certain = False

    def proposal(self, expansion: Expansion) -> Tensor:
        """The model's own distribution."""
        return expansion.probs

    def growth(self, expansion: Expansion, rows: Tensor, events: Tensor, cumulative: Tensor) -> Tensor:
        """Paths are worth one each."""
        return torch.ones(len(rows), dtype=torch.float64, device=rows.device)

    def settle_next(self, expansion: Expansion) -> None:
        """Draws first, and takes in what was drawn."""
        alive, rows, events, cumulative = super().draw(expansion)
        emits = expansion.moves.emits[:, expansion.frontier.automaton[rows], expansion.tables.classes[events]]
        for question, outcomes in enumerate(self.run.automaton.outcomes):
            hit = torch.nn.functional.one_hot(torch.where(emits[question] < 0, outcomes, emits[question]), outcomes + 1)
            self._gain(question, expansion.step, hit[:, :outcomes].double(), alive)
        on = expansion.running.expand_as(expansion.probs)[rows, events]
        self.drawn = alive[on], rows[on], events[on], cumulative

    def draw(self, expansion: Expansion) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Those that are not decided."""
        return self.drawn
