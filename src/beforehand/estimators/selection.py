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

from beforehand.estimators.sums import Sums, largest, total

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
    kept, place = _heavy(score, room, start.shape[1])
    surely, which = kept.nonzero(as_tuple=True)
    places = place[surely, which]
    score[surely, places] = 0
    history, drawn, factor, island = _light(score, edges, room - kept.sum(1), start)
    return Sifted(
        torch.cat([surely, history]),
        torch.cat([places, drawn]),
        torch.cat([factor.new_ones(len(surely)), factor]),
        torch.cat([torch.zeros_like(surely), island]),
    )


def _light(score: Tensor, edges: Tensor, room: Tensor, start: Tensor) -> Sifted:
    """One draw of every island, from the running sum of its own scores and then of its share of the common ground's."""
    islands = start.shape[1]
    sums = Sums(score)
    at_edge = sums.at(edges)
    masses = at_edge[:, 1:] - at_edge[:, :-1]
    common, own = masses[:, :1], masses[:, 1:]
    mass = own + common / islands
    count = _shared_out(mass, room)
    spacing = mass / count.clamp(min=1)
    last = torch.cat([at_edge[:, 2:], common.expand_as(own)]).nextafter(at_edge.new_zeros(()))
    known = torch.stack([start, spacing, own, at_edge[:, 1:-1], last[: len(own)], last[len(own) :]]).flatten(1)
    drawer, number = _each(count.flatten())
    start, spacing, own, begin, last_own, last_common = known[:, drawer]
    position = (start + number) * JUST_BELOW * spacing
    beyond = position - own
    target = torch.where(beyond < 0, (begin + position).minimum(last_own), (beyond * islands).minimum(last_common))
    history = drawer // islands
    drawn = sums.find(history, target)
    return Sifted(history, drawn, spacing / score[history, drawn], drawer % islands + 1)


def _each(count: Tensor) -> tuple[Tensor, Tensor]:
    """Each place as often as it counts, and the how manieth of it that is."""
    place = torch.repeat_interleave(count)
    return place, torch.arange(len(place), device=place.device) - (count.cumsum(0) - count)[place]


def _heavy(score: Tensor, room: Tensor, islands: int) -> tuple[Tensor, Tensor]:
    """Which live for certain, and where they stand: those at or above the threshold, which is what is below it, shared among the
    places left to it. A place for each island is left, unless there is room for all."""
    top, place = largest(score, int(room.max()) + 1)  # one more than there is room for tells whether all fit
    spare = room[:, None] - torch.arange(top.shape[1], device=score.device)
    precise, there = top.double(), top > 0
    rest = total(score) - (precise.cumsum(1) - precise)
    light = ((precise * spare < rest) | (spare <= islands)).cumsum(1) > 0  # and so is all that is lighter
    everything = there.sum(1) <= room
    return there & (everything[:, None] | ~light), place


def _shared_out(mass: Tensor, places: Tensor) -> Tensor:
    """[histories, islands]: a place for each island that has any light scores, the others in proportion to them."""
    some = (mass > 0) & (places > 0)[:, None]
    left = (places - some.sum(1)).clamp(min=0)
    share = mass.cumsum(1)
    share = (share / share[:, -1:].clamp(min=1e-300) * left[:, None] + NEARLY_HALF).long()
    share[:, 1:] -= share[:, :-1].clone()
    return some + share
