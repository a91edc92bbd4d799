"""What a person gets back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

IntervalKind = Literal["exact", "certified", "finite-sample", "asymptotic"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Result:
    """What every answer tells: the question, how it was answered, and what that cost."""

    question: str
    confidence: float
    interval_kind: IntervalKind
    undecided: float
    calls: int
    seconds: float
    method: str
    converged: bool
    reason: str

    def __repr__(self) -> str:
        return str(self)

    @property
    def cost(self) -> str:
        """The method, its model calls, and how long it took."""
        calls = f"{self.calls:,}".replace(",", " ")
        time = f"{self.seconds:.1f} s" if self.seconds >= 1 else f"{1000 * self.seconds:.0f} ms"
        return f"{self.method}, {calls} model calls, {time}"


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """One number: `value`, its interval [`low`, `high`], and the certain bounds outside of which it cannot be.

    `interval_kind` says what the interval means: "exact" (no error), "certified" (the truth is inside, always),
    "finite-sample" (inside with the stated confidence, whatever the sample size), "asymptotic" (the same, for enough rows).
    `undecided` is the mass that the horizon left open. `converged` is False if a precision was wanted and not reached.
    """

    value: float
    low: float
    high: float
    lower_bound: float
    upper_bound: float
    standard_error: float
    coverage: float | None = None

    def __float__(self) -> float:
        return self.value

    def plot(self, path: str | None = None) -> Any:
        """A chart of the number and its interval; with a path, also written to a .png, .svg or .html file."""
        from beforehand.answers import plots

        return drawn(plots.of_answer(self), path)

    def __str__(self) -> str:
        bounds = f"[{number(self.low)}, {number(self.high)}]"
        kind = (
            "exact"
            if self.interval_kind == "exact"
            else "certain"
            if self.interval_kind == "certified"
            else f"{self.confidence:.0%}"
        )
        left = f"  ·  {number(self.undecided)} undecided" if self.undecided > 1e-12 else ""
        known = self.value == self.value
        short = "" if self.converged else "  ·  precision not reached" if known else "  ·  the condition was never met"
        return f"{number(self.value)}  {bounds}  {kind}{left}  ·  {self.cost}{short}"


@dataclass(frozen=True, repr=False)
class Distribution(Result):
    """One number per outcome, with the same fields as an `Answer` for each: arrays in the order of `labels`.

    What the outcomes leave of one is `undecided`.
    """

    labels: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    lower_bound: Floats
    upper_bound: Floats
    standard_error: Floats
    numbers: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[str, Answer]]:
        return ((label, self[label]) for label in self.labels)

    def __getitem__(self, label: str | int) -> Answer:
        """The answer for one outcome."""
        try:
            i = self.labels.index(str(label))
        except ValueError:
            raise KeyError(f"{label!r} is not an outcome of {self.question}; they are {', '.join(self.labels[:8])}, …") from None
        parts = (self.value, self.low, self.high, self.lower_bound, self.upper_bound, self.standard_error)
        return Answer(
            f"{self.question}: {self.labels[i]}",
            self.confidence,
            self.interval_kind,
            self.undecided,
            self.calls,
            self.seconds,
            self.method,
            self.converged,
            self.reason,
            *(float(part[i]) for part in parts),
        )

    @property
    def mean(self) -> float:
        """The mean of the outcomes' numbers, given that there was one: of `when`, given that it happens in time."""
        return float(np.dot(self._numbers(), self.value) / self.value.sum())

    def quantile(self, share: float) -> float:
        """The smallest outcome at which the total, undecided included, reaches a share; infinite if none does."""
        reached = np.flatnonzero(np.cumsum(self.value) >= share - 1e-12)
        return float(self._numbers()[reached[0]]) if len(reached) else float("inf")

    def to_polars(self) -> polars.DataFrame:
        """One row per outcome."""
        import polars

        names = ("value", "low", "high", "lower_bound", "upper_bound", "standard_error")
        return polars.DataFrame({"label": self.labels} | {name: getattr(self, name) for name in names})

    def plot(self, path: str | None = None) -> Any:
        """A chart of all outcomes; with a path, also written to a .png, .svg or .html file."""
        from beforehand.answers import plots

        return drawn(plots.of_distribution(self), path)

    def _numbers(self) -> Floats:
        if self.numbers is None:
            raise TypeError(f"the outcomes of {self.question} are not numbers, so they have no mean and no quantiles")
        return np.array(self.numbers)

    def __str__(self) -> str:
        order = range(len(self)) if self.numbers else np.argsort(-self.value, kind="stable")
        shown = [int(i) for i in order][:12]
        names = {i: in_one_line(self.labels[i]) for i in shown}
        width = max(map(len, names.values()), default=0)
        top = max(float(self.value.max()), 1e-300)
        lines = [
            f"  {names[i]:>{width}}  {number(self.value[i]):>9}  [{number(self.low[i])}, {number(self.high[i])}]  "
            + "█" * round(24 * float(self.value[i]) / top)
            for i in shown
        ]
        more = [f"  … and {len(self) - len(shown)} more"] if len(self) > len(shown) else []
        left = [f"  {number(self.undecided)} undecided"] if self.undecided > 1e-12 else []
        return "\n".join([self.question, *lines, *more, *left, f"  {self.cost}"])


@dataclass(frozen=True)
class Future:
    """One way it may go: the events up to the one that decided it, and how likely exactly these are."""

    events: tuple[str, ...]
    probability: float

    def __str__(self) -> str:
        return f"{number(self.probability):>9}  {' → '.join(map(in_one_line, self.events))}"


@dataclass(frozen=True, repr=False)
class FuturesFound(Result):
    """Futures in which a proposition comes true: the likeliest found, and independent draws from all of them."""

    likely: tuple[Future, ...]
    sampled: tuple[Future, ...]
    value: float

    def plot(self, path: str | None = None) -> Any:
        """The likeliest futures as bars; with a path, also written to a .png, .svg or .html file."""
        from beforehand.answers import plots

        return drawn(plots.of_futures(self), path)

    def __str__(self) -> str:
        lines = [self.question, "  the likeliest found", *(f"    {each}" for each in self.likely)]
        lines += ["  drawn at random", *(f"    {each}" for each in self.sampled)]
        return "\n".join([*lines, f"  {self.cost}"])


def drawn(chart: Any, path: str | None) -> Any:
    """The chart, written to the path if there is one."""
    from beforehand.answers import plots

    if path is not None:
        plots.write(chart, path)
    return chart


def in_one_line(label: str) -> str:
    """A label as it is printed: signs that would break a line are written as their escapes, and spaces at its ends are shown."""
    shown = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in label)
    inner = shown.strip(" ")
    before = len(shown) - len(shown.lstrip(" "))
    return "␣" * before + inner + "␣" * (len(shown) - len(inner) - before)


def number(value: float) -> str:
    """Three digits, and powers of ten where there are too many zeros."""
    if value != value:
        return "nan"
    if value in (0, 1):
        return str(int(value))
    return f"{value:.2e}" if 0 < abs(value) < 1e-3 else f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"
