"""From a log to batches: every event once a pass, predicted from those before it in a window of its user's sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from beforehand.events import EventLog

Ints = NDArray[np.int64]
NOTHING = -100  # torch's own mark for a place without a target
# Windows of like length go together; lengths are compared within so many batches.
BATCHES_COMPARED = 40


class Windows(NamedTuple):
    """Pieces of sequences: where each begins in `ids`, which holds the start symbol before each user's events, and its length."""

    ids: Ints
    begins: Ints
    lengths: Ints

    @property
    def events(self) -> int:
        """How many there are to predict."""
        return int(self.lengths.sum())


def windows(log: EventLog, longest: int) -> Windows:
    """All sequences, the long ones in pieces."""
    start = log.vocabulary.start_id
    assert start is not None
    ids = np.insert(log.ids.astype(np.int64), log.offsets[:-1], start)
    begins, lengths = log.offsets[:-1] + np.arange(len(log)), log.lengths
    pieces = -(-lengths // longest)
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    length = np.minimum(longest, np.repeat(lengths, pieces) - number * longest)
    return Windows(ids, np.repeat(begins, pieces) + number * longest, length)


def batches(of: Windows, events: int, seed: int | None) -> list[Ints]:
    """Numbers of windows that go together, about so many events each; shuffled by the seed, or in order of length without one."""
    if seed is None:
        return _cut(of, np.argsort(of.lengths, kind="stable"), events)
    random = np.random.default_rng(seed)
    order = random.permutation(len(of.lengths))
    together = max(1, int(BATCHES_COMPARED * events / max(1, of.lengths.mean())))
    made: list[Ints] = []
    for first in range(0, len(order), together):
        some = order[first : first + together]
        made += _cut(of, some[np.argsort(of.lengths[some], kind="stable")], events)
    return [made[i] for i in random.permutation(len(made))]


def _cut(of: Windows, order: Ints, events: int) -> list[Ints]:
    """Each batch has room for so many events, padding included."""
    made, begun = [], 0
    while begun < len(order):
        ahead = of.lengths[order[begun : begun + events]]
        fits = int(np.searchsorted(np.maximum.accumulate(ahead) * np.arange(1, len(ahead) + 1), events, side="right"))
        made.append(order[begun : begun + max(1, fits)])
        begun += max(1, fits)
    return made


def tensors(of: Windows, chosen: Ints) -> tuple[Tensor, Tensor]:
    """Inputs and targets [windows, events]; places beyond a window's end have no target."""
    lengths = of.lengths[chosen]
    place = np.arange(int(lengths.max()))
    there = place < lengths[:, None]
    where = np.where(there, of.begins[chosen][:, None] + place, 0)
    after = np.where(there, of.ids[np.minimum(where + 1, len(of.ids) - 1)], NOTHING)
    return torch.from_numpy(of.ids[where]), torch.from_numpy(after)


def each_batch(of: Windows, events: int) -> Iterator[tuple[Tensor, Tensor]]:
    """All of them, in order of length."""
    return (tensors(of, chosen) for chosen in batches(of, events, None))
