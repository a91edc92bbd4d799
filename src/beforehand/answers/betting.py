"""Confidence intervals for the mean of independent numbers in [0, 1], valid at any sample size.

The hedged betting interval of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random variables by betting"),
section 4: a value m is kept as long as betting against it, with stakes chosen from what was seen before, has not made the
capital 2/α. The capital against "at least m" falls as m grows, so each end is found by bisection.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_TRUNCATION = 0.75
_BISECTIONS = 45


def betting_interval(samples: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Lower and upper ends, from [batch, samples] in the order in which they were drawn."""
    stakes = _stakes(samples, 1 - confidence)
    lower = _lower(samples, stakes, 1 - confidence)
    upper = 1 - _lower(1 - samples, stakes, 1 - confidence)
    return lower, upper


def _stakes(samples: Tensor, alpha: float) -> Tensor:
    """Small where the samples so far have varied much: sqrt(2 log(2/α) / (n σ²))."""
    count = samples.shape[1]
    seen = torch.arange(1, count + 1, dtype=torch.float64, device=samples.device)
    mean = (0.5 + samples.cumsum(1)) / (seen + 1)
    variance = (0.25 + ((samples - mean) ** 2).cumsum(1)) / (seen + 1)
    before = torch.cat([torch.full_like(variance[:, :1], 0.25), variance[:, :-1]], 1)
    return (2 * math.log(2 / alpha) / (count * before)).sqrt()


def _lower(samples: Tensor, stakes: Tensor, alpha: float) -> Tensor:
    low, high = torch.zeros_like(samples[:, 0]), samples.mean(1).clamp(0, 1)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        bets = torch.minimum(stakes, _TRUNCATION / middle.clamp(min=1e-300)[:, None])
        capital = torch.log1p(bets * (samples - middle[:, None])).sum(1)
        kept = capital < math.log(2 / alpha)
        low, high = torch.where(kept, low, middle), torch.where(kept, middle, high)
    return low
