"""Quantiles of Student's t, for error bars that come from few numbers."""

from __future__ import annotations

from statistics import NormalDist

import torch
from torch import Tensor


def t_quantile(confidence: float, freedom: Tensor) -> Tensor:
    """How many standard errors to each side hold this much of Student's t with so many degrees of freedom.

    Hill's expansion (1970, algorithm 396) of the t quantile in that of the normal distribution; exact in the limit, and
    within 0.2 % from three degrees of freedom on. Below three, the value at three.
    """
    z, n = NormalDist().inv_cdf((1 + confidence) / 2), freedom.clamp(min=3)
    terms = [
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    ]
    return z + sum((term / n ** (i + 1) for i, term in enumerate(terms)), torch.zeros_like(n))
