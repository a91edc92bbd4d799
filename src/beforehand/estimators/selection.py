"""Which candidates live on: a threshold, and systematic sampling below it.

With N places and scores s, the threshold c solves Σ min(1, s/c) = N (Fearnhead and Clifford 2003). Scores of c or more live
for certain, the others with probability s/c, drawn with one random number: places a fixed distance apart on the running
sum of the light scores. Nothing is sorted but the N largest.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

# The last place drawn must stay below the sum of all scores, and rounding alone is no chance.
JUST_BELOW, JUST_ABOVE = 1 - 2.0**-50, 1 + 1e-12


class Sifted(NamedTuple):
    """Those that live, in the order of histories and places, each with one over the chance that it had."""

    history: Tensor
    place: Tensor
    factor: Tensor
    thinned: Tensor  # was there any chance in it?


def sift(score: Tensor, room: Tensor, start: Tensor) -> Sifted:
    """At most `room[h]` of each history's candidates [histories, candidates]; `start[h]` is its random number in [0, 1).

    The scores are used up: those that live for certain are zero afterwards.
    """
    candidates = score.shape[1]
    most = min(int(room.max()) + 1, candidates)  # one more than there is room for tells whether all fit
    rank = torch.arange(most, device=score.device)
    top, place = torch.topk(score, most, dim=1)
    heavy = _heavy(score, top.double(), room[:, None] - rank)[:, None]
    kept = (rank < heavy) & (top > 0)
    light = score.scatter_(1, place, torch.where(kept, 0, top)).cumsum(1, dtype=torch.float64)
    total, count = light[:, -1:], room[:, None] - heavy
    spacing = total / count.clamp(min=1)
    position = (start[:, None] + rank) * (spacing * JUST_BELOW)
    drawn = torch.searchsorted(light, position, right=True)
    lives = torch.zeros(len(score), candidates + 1, dtype=torch.bool, device=score.device)
    lives.scatter_(1, torch.where(kept, place, candidates), True)
    lives.scatter_(1, torch.where((rank < count) & (total > 0), drawn, candidates), True)
    history, place = lives[:, :candidates].nonzero(as_tuple=True)
    own, apart = score[history, place].double(), spacing[history, 0]
    thinned = (own > 0) & (own * JUST_ABOVE < apart)
    return Sifted(history, place, torch.where(thinned, apart / own, 1), thinned)


def _heavy(score: Tensor, top: Tensor, spare: Tensor) -> Tensor:
    """How many live for certain: those at or above the threshold, which is what is below it, shared among the places left to it.
    At least one place is left."""
    rest = score.sum(1, keepdim=True) - (top.cumsum(1) - top)
    fits = (top * spare < rest) | (spare <= 1)
    fits[:, -1] = True
    return fits.to(torch.int8).argmax(1)
