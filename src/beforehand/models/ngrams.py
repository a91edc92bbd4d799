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

    def follow(self) -> tuple[Ints, Ints]:
        """`table[shorter[c], v]`: the longest known context that ends context c and the event v.

        For a context c with parent s, the answer for s is at most one event longer than s; if it is exactly that, it may
        be extended by c's oldest event. A context of the greatest length cannot grow, so its parent's answer is its own.
        """
        inner = self.levels[:-1] or self.levels
        count = sum(map(len, inner))
        table = np.zeros((count, self.vocabulary), dtype=np.int64)
        depth = np.concatenate([np.full(len(level), j) for j, level in enumerate(self.levels)])
        events = np.arange(self.vocabulary)
        for j, level in enumerate(inner):
            shorter = table[self.parent[level]] if j else np.zeros((1, self.vocabulary), dtype=np.int64)
            wanted = shorter * self.vocabulary + (self.oldest[level][:, None] if j else events)
            table[level] = self._extended(shorter, wanted, depth[shorter] == j, j + 1)
        everyone = np.arange(len(self.parent))
        return table, np.where(everyone < count, everyone, self.parent)

    def _extended(self, shorter: Ints, wanted: Ints, extends: NDArray[np.bool_], depth: int) -> Ints:
        if depth >= len(self.levels) or not len(self.keys[depth]):
            return shorter
        places = np.minimum(np.searchsorted(self.keys[depth], wanted), len(self.keys[depth]) - 1)
        known = extends & (self.keys[depth][places] == wanted)
        return np.where(known, self.levels[depth][places], shorter)


def grow(sequences: Sequence[Sequence[int]], vocabulary: int, order: int, rarely: int = 1, most: int | None = None) -> Contexts:
    """The contexts of a log: every run of up to `order` events that something follows, at least `rarely` times.

    Of more than `most` in all, the longer and then the less frequent ones are left out.
    """
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
        found, inverse, counts = np.unique(context * vocabulary + events[places - j], return_inverse=True, return_counts=True)
        often = counts >= rarely
        if most is not None and total + int(often.sum()) > most:
            often &= _most_frequent(counts, max(0, most - total))
        there = often[inverse]
        places, found = places[there], found[often]
        context = total + (np.cumsum(often) - 1)[inverse[there]]
        if not len(found):
            break
        levels.append(np.arange(total, total + len(found)))
        keys.append(found)
        parent.append(found // vocabulary)
        oldest.append(found % vocabulary)
        seen_context.append(context)
        seen_event.append(events[places])
        total += len(found)
    return Contexts(vocabulary, np.concatenate(parent), np.concatenate(oldest), levels, keys, seen_context, seen_event)


def _most_frequent(counts: Ints, number: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(counts), dtype=bool)
    chosen[np.argsort(-counts, kind="stable")[:number]] = True
    return chosen
