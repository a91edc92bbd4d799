"""Methods that search: keep some prefixes with their exact weights, drop the others, and know what they dropped.

What the kept prefixes decide is certain; what is dropped can at most add its whole mass. The paper ranks prefixes by the
proposal q, the model restricted at each step to what keeps the question open, and bounds the error by 1 − q(kept).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from beforehand.errors import MethodError, TooExpensiveError
from beforehand.estimators.engine import Run, plain_advance
from beforehand.estimators.frontier import Expansion, Frontier, Layout, Picks, by_history
from beforehand.estimators.tally import Ledger, Tally
from beforehand.models import Model
from beforehand.queries import Automaton

DEFAULT_WIDTH = 100


class Search:
    """Bookkeeping that all searches share; `keep` says which candidates live on."""

    def __init__(self, run: Run) -> None:
        self.run = run
        count = len(run.histories)
        self.ledger = Ledger(run.automaton, count, run.device)
        self.log_q = torch.zeros(count, dtype=torch.float64, device=run.device)
        self.dropped = torch.zeros(count, dtype=torch.float64, device=run.device)
        self.dropped_q = torch.zeros(count, dtype=torch.float64, device=run.device)

    def keep(self, expansion: Expansion, layout: Layout, log_mass: Tensor, log_q: Tensor) -> Tensor:
        """[histories, slots × vocabulary] booleans, from the candidates' log masses under the model and under q."""
        raise NotImplementedError

    def open_mass(self, expansion: Expansion) -> Tensor:
        """The mass of the rows."""
        return by_history(expansion.weight, expansion.frontier.owner, expansion.histories)

    def settle(self, expansion: Expansion) -> None:
        """Adds what every row decides."""
        for question, emitting in enumerate(expansion.moves.emitting):
            if emitting:
                decided = expansion.decided(question) * expansion.weight[:, None]
                self.ledger.add(question, expansion.step, by_history(decided, expansion.frontier.owner, expansion.histories))

    def select(self, expansion: Expansion) -> Picks:
        """Ranks all candidates of each history and keeps some."""
        frontier, vocabulary = expansion.frontier, expansion.probs.shape[1]
        layout = Layout(frontier.owner, expansion.histories)
        log_p = (expansion.probs * expansion.running).log()
        log_mass = frontier.log_weight[:, None] + log_p + expansion.scale.log()[:, None]
        log_q = log_mass + (self.log_q - frontier.log_weight - expansion.running_mass.log())[:, None]
        log_q = torch.where(log_p > -torch.inf, log_q, -torch.inf)
        padded = [layout.pad(each, -torch.inf).flatten(1) for each in (log_mass, log_q)]
        history, place = self.keep(expansion, layout, *padded).nonzero(as_tuple=True)
        rows, events = layout.rows(history, place // vocabulary), place % vocabulary
        self._note_dropped(expansion, log_mass[rows, events], log_q[rows, events], history)
        self.log_q = log_q[rows, events]
        return Picks(rows, events, log_mass[rows, events])

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Counts a call for every row."""
        self.ledger.count(expansion.frontier.owner[picks.rows])
        return plain_advance(model, expansion, picks)

    def tallies(self) -> list[Tally]:
        """Everything found is certain; everything dropped is missing."""
        return self.ledger.certain(self.dropped, coverage=(1 - self.dropped_q).clamp(min=0))

    def _note_dropped(self, expansion: Expansion, log_mass: Tensor, log_q: Tensor, history: Tensor) -> None:
        before = by_history(expansion.weight * expansion.running_mass, expansion.frontier.owner, expansion.histories)
        open_rows = torch.where(expansion.running_mass > 0, self.log_q.exp(), 0)
        before_q = by_history(open_rows, expansion.frontier.owner, expansion.histories)
        self.dropped += (before - by_history(log_mass.exp(), history, expansion.histories)).clamp(min=0)
        self.dropped_q += (before_q - by_history(log_q.exp(), history, expansion.histories)).clamp(min=0)


class KeepAll(Search):
    """Every prefix: the exact answer, if it can be afforded."""

    def __init__(self, run: Run, limit: int) -> None:
        super().__init__(run)
        self.limit = limit
        if run.automaton.horizon is None:
            raise TooExpensiveError(
                "an exact answer to a question without a horizon takes endless model calls; say `within K`, or use another method"
            )

    def keep(self, expansion: Expansion, layout: Layout, log_mass: Tensor, log_q: Tensor) -> Tensor:
        """All that can happen; too many is an error before they are paid for."""
        kept = log_mass > -torch.inf
        if int((self.ledger.calls + kept.sum(1)).max()) > self.limit:
            raise TooExpensiveError(
                f"the exact answer takes about {prefixes(self.run.automaton):,.3g} model calls per history, "
                f"the limit is {self.limit:,}; "
                "use method='auto', a shorter horizon, or bh.methods.Exact(limit=…)"
            )
        return kept

    def tallies(self) -> list[Tally]:
        """Nothing was dropped."""
        self.dropped.zero_()
        return super().tallies()


def prefixes(automaton: Automaton, most: float = math.inf) -> float:
    """How many prefixes keep the questions open: the calls of an exact answer, when no event is impossible. Counted no further
    than `most`."""
    if (automaton.horizon or 1) - 1 > most:
        return math.inf
    sizes = torch.bincount(torch.from_numpy(automaton.classes)).double()
    words = torch.zeros(automaton.states, dtype=torch.float64)
    words[automaton.start] = 1
    total = 0.0
    for step in range(1, automaton.horizon or 1):
        next_ = torch.from_numpy(automaton.at(step).next)
        grown = (words[:, None] * sizes)[next_ >= 0]
        words = torch.zeros_like(words).index_add_(0, next_[next_ >= 0], grown)
        total += float(words.sum())
        if total > most or not words.any():
            break
    return total


class Widest(Search):
    """The paper's beam search: the B prefixes with the largest q."""

    def __init__(self, run: Run, width: int | None, budget: int | None) -> None:
        super().__init__(run)
        self.budget = budget
        steps = min(run.steps - 1, 100)
        if budget is not None and budget < steps:
            raise MethodError(f"a budget of {budget} calls is not enough for a single beam of {steps} steps; give at least {steps}")
        affordable = DEFAULT_WIDTH if budget is None else budget // max(1, steps)
        self.width = affordable if width is None else width

    def keep(self, expansion: Expansion, layout: Layout, log_mass: Tensor, log_q: Tensor) -> Tensor:
        """The widest, never more than the budget has left."""
        allowed = torch.full_like(self.ledger.calls, self.width)
        if self.budget is not None:
            allowed = torch.minimum(allowed, self.budget - self.ledger.calls)
        return largest(log_q, allowed)


def largest(values: Tensor, count: Tensor) -> Tensor:
    """Marks the `count[h]` largest finite entries of each row; of equal ones, those that come first."""
    most = min(int(count.max()), values.shape[1])
    if most <= 0:
        return torch.zeros_like(values, dtype=torch.bool)
    ranked = torch.topk(values, most, dim=1).values
    last = ranked.gather(1, (count.clamp(1, most) - 1)[:, None])
    above, level = values > last, (values == last) & (values > -torch.inf)
    spare = count - above.sum(1)
    return (above | (level & (level.cumsum(1) <= spare[:, None]))) & (count > 0)[:, None]


class Covering(Search):
    """The paper's coverage-based beam search: the fewest prefixes whose q adds up to α_k."""

    def __init__(self, run: Run, alpha: float, geometric: bool, limit: int, budget: int | None) -> None:
        super().__init__(run)
        if run.automaton.horizon is None:
            raise MethodError("a coverage needs a horizon to spread it over; say `within K`, or use another method")
        self.alpha, self.geometric, self.limit, self.budget = alpha, geometric, limit, budget

    def target(self, step: int) -> float:
        """α_k: from one down to α at the horizon."""
        share = step / self.run.steps
        return self.alpha**share if self.geometric else 1 - (1 - self.alpha) * share

    def keep(self, expansion: Expansion, layout: Layout, log_mass: Tensor, log_q: Tensor) -> Tensor:
        """Sorted by q, until the target is covered."""
        ranked, order = torch.sort(log_q, dim=1, descending=True, stable=True)
        q = ranked.exp()
        needed = ((q.cumsum(1) - q) < self.target(expansion.step)) & (ranked > -torch.inf)
        counts = needed.sum(1)
        if self.budget is not None:
            steps_left = self.run.steps - expansion.step
            allowed = (self.budget - self.ledger.calls) // steps_left
            needed &= torch.arange(needed.shape[1], device=needed.device) < allowed[:, None]
        elif int(counts.max()) > self.limit:
            raise TooExpensiveError(
                f"covering {self.target(expansion.step):.3g} of the futures at step {expansion.step} "
                f"takes {int(counts.max()):,} prefixes, "
                f"the limit is {self.limit:,}; use a smaller alpha, a shorter horizon, or a budget"
            )
        return torch.zeros_like(needed).scatter_(1, order, needed)


class UpperCluster(Search):
    """The paper's tail-splitting beam search: 2-means on the masses of the candidates, keeping the upper cluster."""

    def __init__(self, run: Run, most: int, budget: int | None) -> None:
        super().__init__(run)
        self.most, self.budget = most, budget

    def keep(self, expansion: Expansion, layout: Layout, log_mass: Tensor, log_q: Tensor) -> Tensor:
        """Above the split, within the budget."""
        counts = split(log_mass.exp(), min(self.most, log_mass.shape[1]))
        if self.budget is not None:
            steps_left = max(1, min(self.run.steps - expansion.step, 100))
            counts = torch.minimum(counts, (self.budget - self.ledger.calls) // steps_left)
        return largest(log_mass, counts)


def split(mass: Tensor, most: int) -> Tensor:
    """Per history, how many of the largest masses to keep so that var(kept) + var(others) is least (at most `most`)."""
    total = (mass > 0).sum(1, keepdim=True).double()
    head = torch.topk(mass, most, dim=1).values
    size = torch.arange(1, most + 1, dtype=torch.float64, device=mass.device)
    first, second = head.cumsum(1), (head**2).cumsum(1)
    rest = (total - size).clamp(min=1)
    rest_first, rest_second = mass.sum(1, keepdim=True) - first, (mass**2).sum(1, keepdim=True) - second
    within = (second / size - (first / size) ** 2) + (rest_second / rest - (rest_first / rest) ** 2)
    possible = size < total
    best = torch.where(possible, within, torch.inf).argmin(1) + 1
    return torch.where(possible.any(1), best, total[:, 0].long())
