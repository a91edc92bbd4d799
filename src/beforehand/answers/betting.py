"""Confidence intervals for the mean of independent numbers in [0, 1], valid at any sample size.

The hedged betting interval of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random variables by betting"),
section 4: a value m is kept as long as betting against it, with stakes chosen from what was seen before, has not made the
capital 2/α. The capital against "at least m" falls as m grows, so each end is found by bisection.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from beforehand.estimators.spread import in_order

_TRUNCATION = 0.75
_BISECTIONS = 45


def betting_interval(samples: Tensor, sizes: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Lower and upper ends, from [batch, samples] in the order in which they were drawn; the first `sizes` of a row count."""
    there = torch.arange(samples.shape[1], device=samples.device) < sizes[:, None]
    stakes = torch.where(there, _stakes(samples, sizes, 1 - confidence), 0)
    lower = _lower(samples, sizes, stakes, 1 - confidence)
    upper = 1 - _lower(torch.where(there, 1 - samples, 0), sizes, stakes, 1 - confidence)
    return lower, upper


def betting_ratio(
    so: Tensor, nope: Tensor, certain: tuple[Tensor, Tensor], sizes: Tensor, confidence: float
) -> tuple[Tensor, Tensor]:
    """Ends for θ = s/(s + n); s and n are certain parts [batch] plus means of so and nope [batch, samples], with so + nope ≤ 1.

    At the true θ, the mean of so·(1 − θ) − nope·θ is −(certain s)·(1 − θ) + (certain n)·θ: betting against that, as above.
    """
    there = torch.arange(so.shape[1], device=so.device) < sizes[:, None]
    lower = _lower_ratio(so, nope, certain, sizes, there, 1 - confidence)
    upper = 1 - _lower_ratio(nope, so, certain[::-1], sizes, there, 1 - confidence)
    return lower, upper


def _lower_ratio(so: Tensor, nope: Tensor, certain: tuple[Tensor, ...], sizes: Tensor, there: Tensor, alpha: float) -> Tensor:
    share, whole = certain[0] + in_order(so, 1) / sizes, certain[0] + certain[1] + in_order(so + nope, 1) / sizes
    low, high = torch.zeros_like(share), torch.where(whole > 0, share / whole.clamp(min=1e-300), 1).clamp(0, 1)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        moved = so * (1 - middle)[:, None] + (1 - nope) * middle[:, None]  # the combination, moved up into [0, 1]
        mean = (middle - certain[0] * (1 - middle) + certain[1] * middle).clamp(0, 1)
        stakes = torch.where(there, _stakes(moved, sizes, alpha), 0)
        kept = _log_capital(moved, mean, stakes) < math.log(2 / alpha)
        low, high = torch.where(kept, low, middle), torch.where(kept, middle, high)
    return low


def _log_capital(samples: Tensor, mean: Tensor, stakes: Tensor) -> Tensor:
    bets = torch.minimum(stakes, _TRUNCATION / mean.clamp(min=1e-300)[:, None])
    return in_order(torch.log1p(bets * (samples - mean[:, None])), 1)


def _stakes(samples: Tensor, sizes: Tensor, alpha: float) -> Tensor:
    """Small where the samples so far have varied much: sqrt(2 log(2/α) / (n σ²))."""
    seen = torch.arange(1, samples.shape[1] + 1, dtype=torch.float64, device=samples.device)
    mean = (0.5 + samples.cumsum(1)) / (seen + 1)
    variance = (0.25 + ((samples - mean) ** 2).cumsum(1)) / (seen + 1)
    before = torch.cat([torch.full_like(variance[:, :1], 0.25), variance[:, :-1]], 1)
    return (2 * math.log(2 / alpha) / (sizes[:, None] * before)).sqrt()


def _lower(samples: Tensor, sizes: Tensor, stakes: Tensor, alpha: float) -> Tensor:
    low, high = torch.zeros_like(samples[:, 0]), (in_order(samples, 1) / sizes).clamp(0, 1)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        kept = _log_capital(samples, middle, stakes) < math.log(2 / alpha)
        low, high = torch.where(kept, low, middle), torch.where(kept, middle, high)
    return low
