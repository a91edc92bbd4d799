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
        bets = torch.minimum(stakes, _TRUNCATION / middle.clamp(min=1e-300)[:, None])
        capital = in_order(torch.log1p(bets * (samples - middle[:, None])), 1)
        kept = capital < math.log(2 / alpha)
        low, high = torch.where(kept, low, middle), torch.where(kept, middle, high)
    return low
