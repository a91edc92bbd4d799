"""Variances from independent values, the same to the last bit whatever else is in the batch."""

from __future__ import annotations

import torch
from torch import Tensor


def in_order(values: Tensor, dim: int) -> Tensor:
    """A sum taken one after the other: library sums group their terms by the shape of the whole batch."""
    return values.cumsum(dim).select(dim, -1) if values.shape[dim] else values.sum(dim)


def variance_of_mean(values: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Of independent values [histories, paths, …], of which each history has the first `sizes`; and its degrees of freedom."""
    sizes = sizes.reshape(-1, *[1] * (values.dim() - 2)).double()
    mean = in_order(values, 1) / sizes
    there = torch.arange(values.shape[1], device=values.device).reshape(1, -1, *[1] * (values.dim() - 2)) < sizes[:, None]
    squares = in_order(torch.where(there, values - mean[:, None], 0) ** 2, 1)
    variance = torch.where(sizes > 1, squares / (sizes - 1).clamp(min=1) / sizes, torch.nan)
    return variance, (sizes - 1).expand_as(variance)
