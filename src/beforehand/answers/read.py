"""From tallies to answers: which columns a question speaks of, and what its numbers are called."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from beforehand.answers.answer import Answer, Distribution
from beforehand.answers.intervals import ROUNDING, Intervals, of_columns, of_ratio, of_share, of_sum
from beforehand.estimators import Tally
from beforehand.events import Vocabulary
from beforehand.queries import (
    GIVEN_NOT,
    GIVEN_SO,
    OPEN,
    YES,
    CountDistribution,
    EventAt,
    Expectation,
    Probability,
    Question,
    WhenDistribution,
    Which,
)
from beforehand.queries.texts import Text


@dataclass(frozen=True)
class Circumstances:
    """What every answer of a run has in common."""

    confidence: float
    method: str
    reason: str
    seconds: float
    precision: float | None
    vocabulary: Vocabulary


def answers(question: Question, tally: Tally, about: Circumstances) -> list[Answer] | list[Distribution]:
    """One answer per history."""
    if isinstance(question, Probability | Expectation):
        found, undecided = _number(question, tally, about.confidence)
        return [_answer(question, found, undecided, tally, about, h) for h in range(len(tally.mass))]
    labels, numbers, columns = _outcomes(question, tally, about.vocabulary)
    found = of_columns(tally, columns, about.confidence)
    undecided = (1 - found.value.sum(1)).clamp(min=0)
    return [_distribution(question, labels, numbers, found, undecided, tally, about, h) for h in range(len(tally.mass))]


def _number(question: Probability | Expectation, tally: Tally, confidence: float) -> tuple[Intervals, Tensor]:
    if isinstance(question, Probability):
        return _probability(question, tally, confidence)
    return _expectation(question, tally, confidence)


def _probability(question: Probability, tally: Tally, confidence: float) -> tuple[Intervals, Tensor]:
    left = _left(tally)
    if question.given is not None:
        return _conditional(tally, confidence, left), left
    found = of_columns(tally, slice(YES, YES + 1), confidence)
    if bool((left > ROUNDING).any()):  # the truth may hold all that is still undecided
        high = torch.minimum(found.high + left[:, None], found.upper_bound.clamp(min=0) + left[:, None]).clamp(max=1)
        upper = (found.upper_bound + left[:, None]).clamp(max=1)
        kind = "certified" if found.kind == "exact" else found.kind
        found = Intervals(found.value, found.low, high, found.lower_bound, upper, found.error, kind)
    return found, left + tally.mass[:, OPEN] if tally.columns.outcomes > OPEN else left


def _left(tally: Tally) -> Tensor:
    """What a question without a horizon has left open when the run stopped, a search's dropped mass apart."""
    if not tally.columns.endless:
        return torch.zeros_like(tally.missing)
    left = tally.open
    if left is None:
        left = 1 - tally.mass[:, : tally.columns.outcomes].sum(1) - tally.missing
    return torch.where(left > ROUNDING, left, 0)


def _conditional(tally: Tally, confidence: float, left: Tensor) -> Intervals:
    """Certain bounds: all that is open goes to the one side, or to the other. What a run has left undecided may too."""
    found = of_share(tally, GIVEN_SO, GIVEN_NOT, confidence)
    certain = tally.certain[:, :3]
    slack = (1 - certain.sum(1)).clamp(min=0)
    everything = certain[:, GIVEN_SO] + certain[:, GIVEN_NOT] + slack
    nothing_known = everything <= 0
    lower = torch.where(nothing_known, 0, certain[:, GIVEN_SO] / everything.clamp(min=1e-300))[:, None]
    upper = torch.where(nothing_known, 1, (certain[:, GIVEN_SO] + slack) / everything.clamp(min=1e-300))[:, None]
    if found.kind == "exact":
        return found
    if found.kind == "certified":
        return Intervals(found.value, lower, upper, lower, upper, found.error, "certified")
    known = torch.isfinite(found.value)  # or else the condition never came true
    met = (tally.mass[:, GIVEN_SO] + tally.mass[:, GIVEN_NOT])[:, None]
    share = torch.where(left[:, None] > 0, met / (met + left[:, None]).clamp(min=1e-300), 1)
    low = torch.where(known, (found.low * share).clamp(lower, upper), lower)
    high = torch.where(known, (found.high * share + (1 - share)).clamp(lower, upper), upper)
    return Intervals(found.value, low, high, lower, upper, found.error, found.kind)


def _expectation(question: Expectation, tally: Tally, confidence: float) -> tuple[Intervals, Tensor]:
    columns, device = tally.columns, tally.mass.device
    if isinstance(question.of, CountDistribution):
        counts = torch.arange(columns.outcomes, dtype=torch.float64, device=device)
        return of_sum(tally, counts, confidence), _left(tally)
    part, whole = (
        torch.zeros(len(columns), dtype=torch.float64, device=device),
        torch.zeros(len(columns), dtype=torch.float64, device=device),
    )
    part[columns.moment], whole[YES] = 1, 1
    found = of_ratio(tally, part, whole, confidence)
    low, high = found.low.clamp(1, question.of.horizon), found.high.clamp(1, question.of.horizon)
    sure = (1 - tally.certain[:, : columns.outcomes].sum(1, keepdim=True) <= ROUNDING) | (found.kind == "exact")
    lower, upper = torch.where(sure, found.value, 1), torch.where(sure, found.value, question.of.horizon)
    if found.kind == "certified":
        low, high = lower, upper
    return Intervals(found.value, low, high, lower, upper, found.error, found.kind), (1 - tally.mass[:, YES]).clamp(min=0)


def _outcomes(question: Question, tally: Tally, vocabulary: Vocabulary) -> tuple[tuple[str, ...], tuple[float, ...] | None, slice]:
    if isinstance(question, EventAt):
        return vocabulary.labels, None, slice(0, len(vocabulary))
    if isinstance(question, WhenDistribution):
        steps = tuple(range(1, question.horizon + 1))
        first = tally.columns.first_step
        return tuple(map(str, steps)), steps, slice(first, first + question.horizon)
    if isinstance(question, CountDistribution):
        counts = tuple(range(question.horizon + 1))
        return tuple(map(str, counts)), counts, slice(0, question.horizon + 1)
    assert isinstance(question, Which)
    names = (option.wanted if isinstance(option, Text) else str(option) for option in question.options)
    return tuple(names), None, slice(0, len(question.options))


def _shared(
    question: Question, found: Intervals, undecided: Tensor, tally: Tally, about: Circumstances, h: int
) -> dict[str, object]:
    kind = found.kind
    if kind not in ("exact", "certified") and bool((found.upper_bound[h] - found.lower_bound[h] <= ROUNDING).all()):
        kind = "exact"
    half, value = (found.high[h] - found.low[h]) / 2, found.value[h]
    reached = about.precision is None or bool((half <= about.precision * value.abs() + ROUNDING).all())
    return {
        "question": str(question),
        "confidence": about.confidence,
        "interval_kind": kind,
        "undecided": float(undecided[h]),
        "calls": int(tally.calls[h]),
        "seconds": about.seconds,
        "method": about.method,
        "converged": reached and bool(torch.isfinite(value).all()),
        "reason": about.reason,
    }


def _answer(question: Question, found: Intervals, undecided: Tensor, tally: Tally, about: Circumstances, h: int) -> Answer:
    parts = (found.value, found.low, found.high, found.lower_bound, found.upper_bound, found.error)
    coverage = None if tally.coverage is None else float(tally.coverage[h])
    common = _shared(question, found, undecided, tally, about, h)
    return Answer(**common, **dict(zip(_NUMBERS, (float(part[h, 0]) for part in parts), strict=True)), coverage=coverage)  # type: ignore[arg-type]


def _distribution(
    question: Question,
    labels: tuple[str, ...],
    numbers: tuple[float, ...] | None,
    found: Intervals,
    undecided: Tensor,
    tally: Tally,
    about: Circumstances,
    h: int,
) -> Distribution:
    parts = (found.value, found.low, found.high, found.lower_bound, found.upper_bound, found.error)
    common = _shared(question, found, undecided, tally, about, h)
    arrays = dict(zip(_NUMBERS, (part[h].cpu().numpy() for part in parts), strict=True))
    return Distribution(**common, labels=labels, **arrays, numbers=numbers)  # type: ignore[arg-type]


_NUMBERS = ("value", "low", "high", "lower_bound", "upper_bound", "standard_error")
