"""Which candidates live on: a threshold, and random draws below it.

With N places and scores s, the threshold c solves Σ min(1, s/c) = N (Fearnhead and Clifford 2003). Scores of c or more live
for certain. The places that are left are shared out among the islands (`islands`) by the light scores that each has: its own, and
an equal share of those of the common ground. An island draws with one random number, a fixed distance apart on a running sum of its
light scores (systematic sampling), so that alike neighbours on the line are together drawn as often as they are worth:

- of not too many kinds of events, candidates lie on the line by event and then by row;
- of a large vocabulary, where next to no event comes twice, rows lie on the line, each worth the sum of its candidates, and each
  goes on as often as that, give or take one. Which events it takes is drawn likewise, from a place that turns by the golden ratio
  from row to row.

A candidate is drawn s/c times on average. Nothing is sorted but the N largest.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from beforehand.estimators.frontier import by_history
from beforehand.estimators.islands import Grounds, Line
from beforehand.estimators.sums import LONG, find, largest, ranks, running_sums, totals

# The last place drawn must stay below the sum of all scores.
JUST_BELOW = 1 - 2.0**-50
# Rounds to the nearest, but never on an edge that equal shares fall on, where the last bit would decide.
NEARLY_HALF = 0.4877
# Multiples of it, less their whole parts, are as evenly spread as can be, however many (the golden ratio).
TURN = (5**0.5 - 1) / 2


class Sifted(NamedTuple):
    """Those that live: the row and the event of each, one over the chance that it had, and its ground. There was no chance in the
    first `certain` of them."""

    row: Tensor
    event: Tensor
    factor: Tensor
    ground: Tensor
    certain: int


def sift(score: Tensor, grounds: Grounds, room: Tensor, random: Tensor) -> Sifted:
    """At most `room[h]` of each history's candidates, scored [rows, vocabulary].

    `random` [histories, 2 × islands] are numbers in [0, 1). There must be room for one of each island, or for none. The scores are
    used up: those that live for certain are zero afterwards.
    """
    row, event, kept = _heavy(score, grounds, room)
    score[row, event] = 0
    drawn_row, drawn_event, factor, ground = _light(score, grounds, room - kept, random)
    return Sifted(
        torch.cat([row, drawn_row]),
        torch.cat([event, drawn_event]),
        torch.cat([factor.new_ones(len(row)), factor]),
        torch.cat([grounds.of_row[row], ground]),
        len(row),
    )


def _heavy(score: Tensor, grounds: Grounds, room: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which live for certain, and how many of each history: those at or above the threshold, which is what is below it, shared
    among the places left to it. A place for each island is left, unless there is room for all."""
    layout, vocabulary = grounds.layout, score.shape[1]
    lines = layout.pad(score, 0).flatten(1)
    top, place = largest(lines, int(room.max()) + 1)  # one more than there is room for tells whether all fit
    spare = room[:, None] - torch.arange(top.shape[1], device=score.device)
    precise, there = top.double(), top > 0
    total = by_history(totals(score), layout.owner, layout.histories)[:, None]
    rest = total - (precise.cumsum(1) - precise)
    light = ((precise * spare < rest) | (spare <= grounds.islands)).cumsum(1) > 0  # and so is all that is lighter
    everything = there.sum(1) <= room
    kept = there & (everything[:, None] | ~light)
    history, which = kept.nonzero(as_tuple=True)
    place = place[history, which]
    return layout.rows(history, place // vocabulary), place % vocabulary, kept.sum(1)


def _light(score: Tensor, grounds: Grounds, room: Tensor, random: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Row, event, factor and ground of what every island draws."""
    islands, vocabulary = grounds.islands, score.shape[1]
    if vocabulary < LONG:
        line = Line(grounds)
        drawer, place, spacing = _draw(running_sums(line.of(score)), grounds.edges * vocabulary, room, random[:, :islands])
        row, event = line.candidate(drawer // islands, place, vocabulary)
    else:
        worth = totals(score)
        drawer, slot, spacing = _draw(running_sums(grounds.layout.pad(worth, 0)), grounds.edges, room, random[:, :islands])
        row, turn = grounds.layout.rows(drawer // islands, slot), random[:, islands:].flatten()[drawer]
        event = find(score, row, _inside(drawer, row, (turn + slot * TURN).frac()) * JUST_BELOW * worth[row])
    return row, event, spacing / score[row, event], drawer + drawer // islands + 1


def _draw(sums: Tensor, edges: Tensor, room: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which island draws, which place on the line, and how far apart its draws are: from what is its own, and then from its share
    of the common ground."""
    islands, at_edge = start.shape[1], sums.gather(1, edges)
    masses = at_edge[:, 1:] - at_edge[:, :-1]
    common, own = masses[:, :1], masses[:, 1:]
    mass = own + common / islands
    count = _shared_out(mass, room)
    spacing = mass / count.clamp(min=1)
    last = torch.cat([at_edge[:, 2:], common.expand_as(own)]).nextafter(at_edge.new_zeros(()))
    known = torch.stack([start, spacing, own, at_edge[:, 1:-1], last[: len(own)], last[len(own) :]]).flatten(1)
    drawer = torch.repeat_interleave(count.flatten())
    number = ranks(drawer, count.flatten())
    start, spacing, own, begin, last_own, last_common = known[:, drawer]
    position = (start + number) * JUST_BELOW * spacing
    beyond = position - own
    target = torch.where(beyond < 0, (begin + position).minimum(last_own), (beyond * islands).minimum(last_common))
    return drawer, _places(sums, drawer // islands, target), spacing


def _inside(drawer: Tensor, row: Tensor, turned: Tensor) -> Tensor:
    """Where on its row, from 0 to 1, each draw stands: those of one island on one row a fixed distance apart."""
    if not len(row):
        return turned
    _, which, count = torch.unique_consecutive(drawer * (row.max() + 1) + row, return_inverse=True, return_counts=True)
    within: Tensor = (ranks(which, count) + turned) / count[which]
    return within


def _places(sums: Tensor, history: Tensor, target: Tensor) -> Tensor:
    """The first place of a history's line with which the running sum, which begins with nothing, is above the target."""
    if len(sums) == 1:
        return torch.searchsorted(sums[0], target, right=True) - 1
    counts = torch.bincount(history, minlength=len(sums))
    rank = ranks(history, counts)
    padded = torch.zeros(len(sums), int(counts.max()), dtype=target.dtype, device=target.device)
    padded[history, rank] = target
    return torch.searchsorted(sums, padded, right=True)[history, rank] - 1


def _shared_out(mass: Tensor, places: Tensor) -> Tensor:
    """[histories, islands]: a place for each island that has any light scores, the others in proportion to them."""
    some = (mass > 0) & (places > 0)[:, None]
    left = (places - some.sum(1)).clamp(min=0)
    share = mass.cumsum(1)
    share = (share / share[:, -1:].clamp(min=1e-300) * left[:, None] + NEARLY_HALF).long()
    share[:, 1:] -= share[:, :-1].clone()
    return some + share
