"""From a tally to numbers with intervals: one place for every method and every kind of question."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from beforehand.answers.answer import IntervalKind
from beforehand.answers.betting import betting_interval, betting_ratio
from beforehand.answers.student import t_quantile
from beforehand.estimators import Tally

# Samples × outcomes beyond which an interval by betting takes longer than the answer; wider questions get the asymptotic one.
MOST_BETS = 4_000_000
BLOCK = 1_024
# Numbers that are not quite normal tell less of their variance: as if there were so much of their degrees of freedom, for those
# of a run that knows nothing beforehand and for the others (benchmarks/coverage.py).
SKEWED, STRAIGHT = 0.6, 0.75
# Bounds closer than this leave nothing open: what remains is the rounding of sums.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Intervals:
    """[histories, numbers] each."""

    value: Tensor
    low: Tensor
    high: Tensor
    lower_bound: Tensor
    upper_bound: Tensor
    error: Tensor
    kind: IntervalKind


def of_columns(tally: Tally, columns: slice, confidence: float) -> Intervals:
    """The masses of some columns."""
    value, certain = tally.mass[:, columns], tally.certain[:, columns]
    slack = (1 - tally.certain[:, : tally.columns.outcomes].sum(1, keepdim=True)).clamp(min=0)
    upper = (certain + slack).clamp(max=1)
    if tally.columns.steps and columns.start == tally.columns.first_step and tally.first_is_certain:
        upper[:, 0] = certain[:, 0]  # nothing that comes later adds to the first step
    if tally.spread is None:
        return _without_chance(tally, value, upper)
    value = torch.minimum(value.clamp(min=certain), upper)  # a correction may carry a small answer out of its certain bounds
    shares = None
    if tally.summed:
        value, shares = _summed(tally, value, certain, slack)
    error, freedom = _errors(tally, columns, shares)
    if tally.samples is not None and tally.ceiling is not None and tally.samples[:, :, columns].numel() <= MOST_BETS:
        low, high = _by_betting(tally, columns, confidence)
        kind: IntervalKind = "finite-sample"
    else:
        low, high = _by_student(tally, value, error, freedom * (SKEWED if tally.skewed else STRAIGHT), confidence)
        if tally.skewed:
            low, high = _on_log_scale(certain, value, low, high)
        if tally.blind and tally.doubt is not None:
            high = torch.maximum(high, value + tally.doubt[:, None])
        kind = "asymptotic"
    low, high = torch.minimum(low.clamp(certain, upper), value), torch.maximum(high.clamp(certain, upper), value)
    open_ = upper - certain > ROUNDING
    low, high, certain, upper = (torch.where(open_, end, value) for end in (low, high, certain, upper))
    return Intervals(value, low, high, certain, upper, error, kind)


def of_ratio(tally: Tally, part: Tensor, whole: Tensor, confidence: float) -> Intervals:
    """Σ part·mass / Σ whole·mass for weights per column; infinite bounds are left to the caller."""
    top, bottom = (tally.mass @ part)[:, None], (tally.mass @ whole)[:, None]
    value = top / bottom
    if tally.spread is None:
        error = torch.zeros_like(value)
        missing = bool((tally.missing > 0).any())
        return Intervals(value, value, value, value, value, error, "certified" if missing else "exact")
    low, high = _fieller(tally, part, whole, top, bottom, confidence)
    error = _linearised(tally, part, whole, value, bottom)
    return Intervals(value, torch.minimum(low, value), torch.maximum(high, value), low, high, error, "asymptotic")


def _linearised(tally: Tally, part: Tensor, whole: Tensor, value: Tensor, bottom: Tensor) -> Tensor:
    assert tally.spread is not None
    weights = (part[None, :, None] - value[:, :, None] * whole[None, :, None]) / bottom[:, :, None]
    return tally.spread(torch.nan_to_num(weights))[0].clamp(min=0).sqrt()


def _fieller(tally: Tally, part: Tensor, whole: Tensor, top: Tensor, bottom: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """All θ at which part − θ·whole is not further from zero than its own error there (Fieller 1954); infinite where the whole
    itself may be zero."""
    assert tally.spread is not None
    weights = torch.stack([part, whole, part + whole], 1)[None].expand(len(top), -1, -1)
    variance, freedom = tally.spread(weights)
    reach = t_quantile(confidence, freedom.amin(1, keepdim=True)) ** 2
    parts, wholes, both = (variance[:, i : i + 1].clamp(min=0) for i in range(3))
    shared = (both - parts - wholes) / 2
    a, b, c = bottom**2 - reach * wholes, top * bottom - reach * shared, top**2 - reach * parts
    root = (b**2 - a * c).clamp(min=0).sqrt()
    safe = torch.where(a > 0, a, 1)
    return torch.where(a > 0, (b - root) / safe, -torch.inf), torch.where(a > 0, (b + root) / safe, torch.inf)


def of_share(tally: Tally, so: int, nope: int, confidence: float) -> Intervals:
    """so/(so + nope) of two columns: by betting where there are independent draws."""
    part, whole = (torch.zeros(len(tally.columns), dtype=torch.float64, device=tally.mass.device) for _ in range(2))
    part[so] = whole[so] = whole[nope] = 1
    found = of_ratio(tally, part, whole, confidence)
    if tally.samples is None or tally.sizes is None or tally.ceiling is None:
        return found
    ceiling = tally.ceiling[:, None]
    draws = [torch.where(ceiling > 0, tally.samples[:, :, c] / ceiling.clamp(min=1e-300), 0).clamp(0, 1) for c in (so, nope)]
    certain = tuple(tally.certain[:, c] / tally.ceiling.clamp(min=1e-300) for c in (so, nope))
    low, high = (end[:, None] for end in betting_ratio(draws[0], draws[1], certain, tally.sizes, confidence))  # type: ignore[arg-type]
    known = torch.isfinite(found.value)
    low, high = torch.where(known, torch.minimum(low, found.value), low), torch.where(known, torch.maximum(high, found.value), high)
    return Intervals(found.value, low, high, low, high, found.error, "finite-sample")


def of_sum(tally: Tally, weights: Tensor, confidence: float) -> Intervals:
    """Σ weights·mass."""
    value = (tally.mass @ weights)[:, None]
    slack = (1 - tally.certain[:, : tally.columns.outcomes].sum(1, keepdim=True)).clamp(min=0)
    if tally.spread is None:
        exact = not bool((tally.missing > 0).any())
        high = value if exact else value + slack * weights.max()
        return Intervals(value, value, high, value, high, torch.zeros_like(value), "exact" if exact else "certified")
    variance, freedom = tally.spread(weights[None, :, None].expand(len(value), -1, -1))
    error = variance.clamp(min=0).sqrt()
    lower = (tally.certain @ weights)[:, None] + slack * weights.min()
    upper = (tally.certain @ weights)[:, None] + slack * weights.max()
    low, high = (end.clamp(lower, upper) for end in _by_student(tally, value, error, freedom, confidence))
    return Intervals(value, torch.minimum(low, value), torch.maximum(high, value), lower, upper, error, "asymptotic")


def _without_chance(tally: Tally, value: Tensor, upper: Tensor) -> Intervals:
    """A search: certain of what it has, and of how much it dropped."""
    missing = tally.missing[:, None]
    high = torch.where(missing > 0, torch.minimum(value + missing, upper), value)
    kind: IntervalKind = "certified" if bool((missing > 0).any()) else "exact"
    return Intervals(value, value, high, value, high, torch.zeros_like(value), kind)


def _summed(tally: Tally, value: Tensor, certain: Tensor, slack: Tensor) -> tuple[Tensor, Tensor]:
    """All outcomes add up to one: what chance has found of each, scaled to what is not certain (a ratio estimate, whose bias is
    small beside its error), and its share of that."""
    outcomes = slice(0, tally.columns.outcomes)
    drawn = (tally.mass[:, outcomes] - tally.certain[:, outcomes]).sum(1, keepdim=True)
    shares = torch.where(drawn > 0, (value - certain) / drawn.clamp(min=1e-300), 0).clamp(0, 1)
    return torch.where(drawn > 0, certain + shares * slack, value), shares


def _errors(tally: Tally, columns: slice, shares: Tensor | None) -> tuple[Tensor, Tensor]:
    """A block of columns at a time: a large vocabulary has many, and there is one number per draw and column."""
    assert tally.spread is not None
    found = []
    for first in range(columns.start, columns.stop, BLOCK):
        block = slice(first, min(first + BLOCK, columns.stop))
        inside = slice(block.start - columns.start, block.stop - columns.start)
        found.append(tally.spread(block) if shares is None else tally.spread(block, shares[:, inside]))
    variance, freedom = (torch.cat([each[i] for each in found], 1) for i in (0, 1))
    return variance.clamp(min=0).sqrt(), freedom


def _by_student(tally: Tally, value: Tensor, error: Tensor, freedom: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Where nothing that was drawn came out as wanted, there is no variance to see: then, what one unlucky draw could hold."""
    half = t_quantile(confidence, freedom) * error
    if tally.doubt is not None:
        half = torch.where(error > 0, half, tally.doubt[:, None])
    return value - half, value + half


def _on_log_scale(certain: Tensor, value: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The same width in relative terms, for what chance added: its estimates are skewed, most of them too small."""
    part = (value - certain).clamp(min=0)
    relative = torch.where(part > 0, (high - value) / part.clamp(min=1e-300), 0).clamp(max=50)
    down, up = certain + part * torch.exp(-relative), certain + part * torch.exp(relative)
    return torch.where(part > 0, down, low), torch.where(part > 0, up, high)


def _by_betting(tally: Tally, columns: slice, confidence: float) -> tuple[Tensor, Tensor]:
    assert tally.samples is not None and tally.sizes is not None and tally.ceiling is not None
    ceiling = tally.ceiling[:, None, None]
    scaled = torch.where(ceiling > 0, tally.samples[:, :, columns] / ceiling.clamp(min=1e-300), 0).clamp(0, 1)
    histories, count, width = scaled.shape
    sizes = tally.sizes.repeat_interleave(width)
    low, high = betting_interval(scaled.transpose(1, 2).reshape(histories * width, count), sizes, confidence)
    certain = tally.certain[:, columns]
    return certain + ceiling[:, 0] * low.reshape(histories, width), certain + ceiling[:, 0] * high.reshape(histories, width)
