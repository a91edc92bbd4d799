"""Which candidates live on: a threshold, and systematic sampling below it.

With N places and scores s, the threshold c solves Σ min(1, s/c) = N (Fearnhead and Clifford 2003). Scores of c or more live
for certain, the others with probability s/c, drawn with one random number: places a fixed distance apart on the running
sum of the light scores. Nothing is sorted but the N largest.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


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
    most = min(int(room.max()) + 1, score.shape[1])  # one more than there is room for tells whether all fit
    top, place = torch.topk(score, most, dim=1)
    heavy = _heavy(score, top.double(), room)
    rank = torch.arange(most, device=score.device)
    kept = (rank < heavy[:, None]) & (top > 0)
    light = score.scatter_(1, place, torch.where(kept, 0, top)).cumsum(1, dtype=torch.float64)
    drawn_place, drawn, factor = _systematic(light, score, (room - heavy).clamp(min=0), start, most)
    places = torch.cat([torch.where(kept, place, score.shape[1]), torch.where(drawn, drawn_place, score.shape[1])], 1)
    factors = torch.cat([torch.ones_like(factor), factor], 1)
    places, order = torch.sort(places, dim=1)
    there = places < score.shape[1]
    history = there.nonzero()[:, 0]
    return Sifted(history, places[there], factors.gather(1, order)[there], (order >= most)[there])


def _heavy(score: Tensor, top: Tensor, room: Tensor) -> Tensor:
    """How many live for certain: those at or above the threshold that what is below it and the places left to it make."""
    before = top.cumsum(1) - top
    spare = room[:, None] - torch.arange(top.shape[1], device=top.device)
    level = (score.sum(1, keepdim=True) - before).clamp(min=0) / spare.clamp(min=1)
    fits = (top < level) & (spare > 0)
    first = torch.where(fits.any(1), fits.int().argmax(1), (room.clamp(max=top.shape[1]) - 1).clamp(min=0))
    all_fit = (top > 0).sum(1) <= room
    return torch.where(all_fit, top.shape[1], first)


def _systematic(light: Tensor, score: Tensor, count: Tensor, start: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor]:
    total = light[:, -1]
    spacing = total / count.clamp(min=1)
    steps = torch.arange(most, device=light.device)
    position = torch.minimum((start[:, None] + steps) * spacing[:, None], torch.nextafter(total, torch.zeros_like(total))[:, None])
    place = torch.searchsorted(light, position.contiguous(), right=True).clamp(max=light.shape[1] - 1)
    drawn = (steps < count[:, None]) & (total > 0)[:, None]
    return place, drawn, spacing[:, None] / score.gather(1, place).double().clamp(min=1e-300)
