"""The methods by name: plain values that say how, made into policies when a run begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from beforehand.errors import MethodError
from beforehand.estimators.engine import Policy, Run

MakePolicy = Callable[[Run], Policy]

DEFAULT_BUDGET = 2_000


class Method(Protocol):
    """How to answer: `policy` turns a budget of model calls per history into a policy."""

    @property
    def name(self) -> str:
        """As users write it."""
        ...

    def policy(self, budget: int | None) -> MakePolicy:
        """A policy that keeps to the budget."""
        ...


MOST_PATHS = 100_000_000


def _positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is None:
            continue
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= MOST_PATHS:
            raise MethodError(f"{name} is a whole number from 1 to {MOST_PATHS:,}; got {number!r}")


@dataclass(frozen=True)
class Naive:
    """Simulate futures and count (the usual way): each path is drawn from the model itself and costs a call a step."""

    samples: int | None = None
    name = "naive"

    def __post_init__(self) -> None:
        _positive(samples=self.samples)

    def policy(self, budget: int | None) -> MakePolicy:
        """As many paths as the budget allows."""
        from beforehand.estimators.paths import NaivePaths

        return lambda run: NaivePaths(run, self.samples, budget)


@dataclass(frozen=True)
class Uniform:
    """Draw every event uniformly from those that keep the question open, and weigh by the model (the paper's MC sampling)."""

    samples: int | None = None
    name = "uniform"

    def __post_init__(self) -> None:
        _positive(samples=self.samples)

    def policy(self, budget: int | None) -> MakePolicy:
        """As many paths as the budget allows."""
        from beforehand.estimators.paths import UniformPaths

        return lambda run: UniformPaths(run, self.samples, budget)


@dataclass(frozen=True)
class Importance:
    """Draw every event from the model restricted to what keeps the question open (the paper's proposal q)."""

    samples: int | None = None
    name = "importance"

    def __post_init__(self) -> None:
        _positive(samples=self.samples)

    def policy(self, budget: int | None) -> MakePolicy:
        """As many paths as the budget allows."""
        from beforehand.estimators.paths import ImportancePaths

        return lambda run: ImportancePaths(run, self.samples, budget)


@dataclass(frozen=True)
class Exact:
    """Follow every prefix that keeps the question open; refuses when that takes more than `limit` model calls."""

    limit: int = 1_000_000
    name = "exact"

    def __post_init__(self) -> None:
        _positive(limit=self.limit)

    def policy(self, budget: int | None) -> MakePolicy:
        """Everything, or an error that names the cost."""
        from beforehand.estimators.search import KeepAll

        limit = self.limit if budget is None else min(budget, self.limit)
        return lambda run: KeepAll(run, limit)


@dataclass(frozen=True)
class Beam:
    """Keep the `width` widest prefixes at each step, ranked by the proposal q: a lower bound."""

    width: int | None = None
    name = "beam"

    def __post_init__(self) -> None:
        _positive(width=self.width)

    def policy(self, budget: int | None) -> MakePolicy:
        """As wide as the budget allows."""
        from beforehand.estimators.search import Widest

        return lambda run: Widest(run, self.width, budget)


@dataclass(frozen=True)
class Coverage:
    """Keep the fewest prefixes that cover α_k of the proposal q, with α_k = α^{k/K} or falling in a straight line to α."""

    alpha: float = 0.9
    schedule: Literal["geometric", "linear"] = "geometric"
    limit: int = 200_000
    name = "coverage"

    def __post_init__(self) -> None:
        _positive(limit=self.limit)
        if not isinstance(self.alpha, int | float) or not 0 < self.alpha < 1:
            raise MethodError(f"a coverage is between 0 and 1; got alpha={self.alpha!r}")
        if self.schedule not in ("geometric", "linear"):
            raise MethodError(f"the schedule is 'geometric' or 'linear'; got {self.schedule!r}")

    def policy(self, budget: int | None) -> MakePolicy:
        """As many as it takes, or an error that names the cost; with a budget, at most so many."""
        from beforehand.estimators.search import Covering

        return lambda run: Covering(run, self.alpha, self.schedule == "geometric", self.limit, budget)


@dataclass(frozen=True)
class TailSplit:
    """Keep the upper of two clusters of prefixes, split where their variances add up to the least: a lower bound."""

    most: int = 1_500
    name = "tail-split"

    def __post_init__(self) -> None:
        _positive(most=self.most)

    def policy(self, budget: int | None) -> MakePolicy:
        """At most `most` a step, and never more than the budget."""
        from beforehand.estimators.search import UpperCluster

        return lambda run: UpperCluster(run, self.most, budget)


@dataclass(frozen=True)
class Hybrid:
    """The paper's best: a tail-splitting beam, then importance sampling of everything that the beam has left out."""

    samples: int | None = None
    most: int = 1_500
    name = "hybrid"

    def __post_init__(self) -> None:
        _positive(samples=self.samples, most=self.most)

    def policy(self, budget: int | None) -> MakePolicy:
        """Half the budget at most for the beam, what is left for the samples."""
        from beforehand.estimators.hybrid import BeamThenPaths

        return lambda run: BeamThenPaths(run, self.samples, self.most, budget)


@dataclass(frozen=True)
class Sieve:
    """Search and sampling in one unbiased pass; with a lookahead (`bh.prepare`), guided and corrected by it."""

    lookahead: bool = True
    correct: bool = True
    name = "sieve"

    def policy(self, budget: int | None) -> MakePolicy:
        """Rows rising with the step, up to the budget in all."""
        from beforehand.estimators.sieve import SievePolicy

        return lambda run: SievePolicy(run, budget or DEFAULT_BUDGET, self.lookahead, self.correct)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (Exact(), Naive(), Uniform(), Importance(), Beam(), Coverage(), TailSplit(), Hybrid(), Sieve())
}
