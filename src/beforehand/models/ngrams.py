"""All contexts of a log up to some length, and how they follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Contexts:
    """A tree of contexts. Context 0 is the empty one; the others extend their parent by one older event.

    `levels[j]` are the contexts of j events. `keys[j]` is sorted and holds parent × vocabulary + oldest event of each of them.
    `seen_context`, `seen_event`: every place of the log, once for each context that it has.
    """

    vocabulary: int
    parent: Ints
    oldest: Ints
    levels: list[Ints]
    keys: list[Ints]
    seen_context: list[Ints]
    seen_event: list[Ints]

    def counts(self, level: Ints) -> NDArray[np.float64]:
        """[contexts of the level, vocabulary]: how often each event follows."""
        depth = next(j for j, each in enumerate(self.levels) if len(each) and each[0] == level[0])
        codes = (self.seen_context[depth] - level[0]) * self.vocabulary + self.seen_event[depth]
        return np.bincount(codes, minlength=len(level) * self.vocabulary).reshape(len(level), -1).astype(np.float64)

    def follow(self) -> Ints:
        """[contexts, vocabulary]: the longest known context that ends a context and one more event.

        For a context c with parent s, the answer for s is at most one event longer than s; if it is exactly that, it may
        be extended by c's oldest event.
        """
        table = np.zeros((len(self.parent), self.vocabulary), dtype=np.int64)
        depth = np.concatenate([np.full(len(level), j) for j, level in enumerate(self.levels)])
        events = np.arange(self.vocabulary)
        for j, level in enumerate(self.levels):
            shorter = table[self.parent[level]] if j else np.zeros((1, self.vocabulary), dtype=np.int64)
            wanted = shorter * self.vocabulary + (self.oldest[level][:, None] if j else events)
            table[level] = self._extended(shorter, wanted, depth[shorter] == j, j + 1)
        return table

    def _extended(self, shorter: Ints, wanted: Ints, extends: NDArray[np.bool_], depth: int) -> Ints:
        if depth >= len(self.levels) or not len(self.keys[depth]):
            return shorter
        places = np.minimum(np.searchsorted(self.keys[depth], wanted), len(self.keys[depth]) - 1)
        known = extends & (self.keys[depth][places] == wanted)
        return np.where(known, self.levels[depth][places], shorter)


def grow(sequences: Sequence[Sequence[int]], vocabulary: int, order: int) -> Contexts:
    """The contexts of a log: every run of up to `order` events that something follows."""
    events = np.concatenate([np.zeros(0, dtype=np.int64), *(np.asarray(s, dtype=np.int64) for s in sequences)])
    age = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(len(s)) for s in sequences)])
    places = np.arange(len(events))
    context = np.zeros(len(events), dtype=np.int64)
    parent, oldest, levels, keys = (
        [np.zeros(1, np.int64)],
        [np.zeros(1, np.int64)],
        [np.zeros(1, np.int64)],
        [np.zeros(1, np.int64)],
    )
    seen_context, seen_event, total = [context], [events], 1
    for j in range(1, order + 1):
        inside = age[places] >= j
        places, context = places[inside], context[inside]
        found, inverse = np.unique(context * vocabulary + events[places - j], return_inverse=True)
        context = total + inverse
        levels.append(np.arange(total, total + len(found)))
        keys.append(found)
        parent.append(found // vocabulary)
        oldest.append(found % vocabulary)
        seen_context.append(context)
        seen_event.append(events[places])
        total += len(found)
    return Contexts(vocabulary, np.concatenate(parent), np.concatenate(oldest), levels, keys, seen_context, seen_event)
