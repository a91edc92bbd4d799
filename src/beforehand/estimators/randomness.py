"""Random numbers that belong to (seed, history, step, lane), never to a batch.

Counters are mixed by the finaliser of splitmix64 (Steele, Lea and Flood 2014), so any number can be had alone and in any
order, on any device.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

_STEP, _LANE = -7046029254386353131, -4417276706812531889  # odd constants; the first is 2⁶⁴ divided by the golden ratio


def history_keys(histories: Sequence[Sequence[int]], seed: int) -> Tensor:
    """One key per history, from what it holds and the seed alone."""
    prefix = int(seed).to_bytes(16, "little", signed=True)
    digests = [
        hashlib.blake2b(prefix + np.asarray(history, dtype=np.int64).tobytes(), digest_size=8).digest() for history in histories
    ]
    return torch.from_numpy(np.frombuffer(b"".join(digests), dtype=np.int64).copy())


def uniforms(keys: Tensor, step: int, lanes: Tensor) -> Tensor:
    """Numbers in [0, 1), one per key and lane (the two are broadcast against each other)."""
    return (_mix(_mix(keys + _signed(step * _STEP)) + lanes * _LANE) >> 11 & (1 << 53) - 1).double() * 2.0**-53


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _mix(x: Tensor) -> Tensor:
    x = (x ^ _shifted(x, 30)) * -4658895280553007687
    x = (x ^ _shifted(x, 27)) * -7723592293110705685
    return x ^ _shifted(x, 31)


def _shifted(x: Tensor, bits: int) -> Tensor:
    return x >> bits & (1 << 64 - bits) - 1


def draw(cumulative: Tensor, rows: Tensor, uniform: Tensor) -> Tensor:
    """For each row named, the first column whose cumulative mass passes `uniform` times the row's total.

    A binary search by hand: its cost is the logarithm of the vocabulary per draw, and a draw never depends on its neighbours.
    """
    total = cumulative[rows, -1]
    target = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros_like(total)))
    low = torch.zeros_like(rows)
    high = torch.full_like(rows, cumulative.shape[1] - 1)
    for _ in range(cumulative.shape[1].bit_length()):
        middle = (low + high) // 2
        right = cumulative[rows, middle] <= target
        low = torch.where(right & (low < high), middle + 1, low)
        high = torch.where(right, high, torch.maximum(middle, low))
    return low
