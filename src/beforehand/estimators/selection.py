"""Which candidates live on: a threshold, and systematic sampling below it.

With N places and scores s, the threshold c solves Σ min(1, s/c) = N (Fearnhead and Clifford 2003). Scores of c or more live
for certain. The places that are left are shared out among the islands (`islands`) by the light scores that each has: its own, and
an equal share of those of the common ground. An island draws its places with one random number: a fixed distance apart on the
running sum of its light scores. Nothing is sorted but the N largest.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

# The last place drawn must stay below the sum of all scores.
JUST_BELOW = 1 - 2.0**-50
# Rounds to the nearest, but never on an edge that equal shares fall on, where the last bit would decide.
NEARLY_HALF = 0.4877


class Sifted(NamedTuple):
    """Those that live, by history: where they stand, one over the chance that each had, and the island that drew it, counted
    from 1; 0 if there was no chance in it."""

    history: Tensor
    place: Tensor
    factor: Tensor
    island: Tensor


def sift(score: Tensor, edges: Tensor, room: Tensor, start: Tensor) -> Sifted:
    """At most `room[h]` of each history's candidates [histories, candidates].

    `edges` tells where the common ground and each island begin and end, `start` [histories, islands] are random numbers in [0, 1).
    There must be room for one of each island, or for none. The scores are used up: those that live for certain are zero afterwards.
    """
    islands = start.shape[1]
    kept, place = _heavy(score, room, islands)
    light = score.scatter_(1, place, torch.where(kept, 0, score.gather(1, place))).cumsum(1, dtype=torch.float64)
    at_edge = torch.where(edges > 0, light.gather(1, (edges - 1).clamp(min=0)), 0)
    masses = at_edge.diff(dim=1)
    own, common = masses[:, 1:], masses[:, :1]
    mass = own + common / islands
    count = _shared_out(mass, room - kept.sum(1))
    spacing = mass / count.clamp(min=1)
    rank = torch.arange(int(count.max()), device=score.device)
    position = (start[:, :, None] + rank) * (spacing * JUST_BELOW)[:, :, None]
    from_own = position < own[:, :, None]
    target = torch.where(from_own, at_edge[:, 1:-1, None] + position, (position - own[:, :, None]) * islands)
    end = torch.where(from_own, at_edge[:, 2:, None], common[:, :, None])
    target = torch.minimum(target, torch.nextafter(end, torch.zeros_like(end)))
    drawn = torch.searchsorted(light, target.flatten(1), right=True).reshape(target.shape)
    history, island, number = (rank < count[:, :, None]).nonzero(as_tuple=True)
    where = drawn[history, island, number]
    factor = spacing[history, island] / score[history, where].double()
    surely, which = kept.nonzero(as_tuple=True)
    return Sifted(
        torch.cat([surely, history]),
        torch.cat([place[surely, which], where]),
        torch.cat([torch.ones(len(surely), dtype=torch.float64, device=score.device), factor]),
        torch.cat([torch.zeros_like(surely), island + 1]),
    )


def _heavy(score: Tensor, room: Tensor, islands: int) -> tuple[Tensor, Tensor]:
    """Which live for certain, and where they stand: those at or above the threshold, which is what is below it, shared among the
    places left to it. A place for each island is left, unless there is room for all."""
    most = min(int(room.max()) + 1, score.shape[1])  # one more than there is room for tells whether all fit
    rank = torch.arange(most, device=score.device)
    top, place = torch.topk(score, most, dim=1)
    spare = room[:, None] - rank
    precise = top.double()
    rest = score.sum(1, keepdim=True, dtype=torch.float64) - (precise.cumsum(1) - precise)
    everything = ((top > 0).sum(1) <= room)[:, None]
    stops = ~everything & ((precise * spare < rest) | (spare <= islands))
    stops[:, -1] |= ~everything[:, 0]
    heavy = torch.where(stops.any(1), stops.to(torch.int8).argmax(1), most)[:, None]
    return (rank < heavy) & (top > 0), place


def _shared_out(mass: Tensor, places: Tensor) -> Tensor:
    """[histories, islands]: a place for each island that has any light scores, the others in proportion to them."""
    some = mass > 0
    left = (places - some.sum(1)).clamp(min=0)
    share = mass.cumsum(1)
    share = (share / share[:, -1:].clamp(min=1e-300) * left[:, None] + NEARLY_HALF).long()
    return torch.where(places[:, None] > 0, some + share.diff(dim=1, prepend=torch.zeros_like(share[:, :1])), 0)
