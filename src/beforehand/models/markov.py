"""Markov models of any order, with back-off: every question about them has an exact answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.ngrams import grow
from beforehand.models.protocol import Ids, State, by_length, with_start

MOST_ENTRIES = 200_000_000


class Markov:
    """A finite number of contexts: `probabilities[c, v]` of the next event, `follow[c, v]` the context after it.

    >>> coin = Markov.from_table([[0.5, 0.5], [0.1, 0.9]], Vocabulary(["heads", "tails"]))
    >>> coin.start([[0]]).log_probs.exp().tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, probabilities: ArrayLike, follow: ArrayLike, vocabulary: Vocabulary, needs: int = 0) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise ModelError(f"a model's vocabulary is a bh.Vocabulary; got {vocabulary!r}: write bh.Vocabulary(labels)")
        self.vocabulary, self.needs = vocabulary, needs
        self.probabilities = _normalised(_numbers(probabilities), len(vocabulary))
        self.follow = torch.as_tensor(np.asarray(follow, dtype=np.int64))
        if self.follow.shape != self.probabilities.shape or not bool(((self.follow >= 0) & (self.follow < len(self.follow))).all()):
            raise ModelError(
                f"follow[c, v] is the context after the event v, from 0 to {len(self.probabilities) - 1}, for each of the "
                f"{tuple(self.probabilities.shape)} probabilities; got shape {tuple(self.follow.shape)}"
            )
        self._log = self.probabilities.log()

    @classmethod
    def from_table(cls, table: ArrayLike, vocabulary: Vocabulary) -> Markov:
        """Order m from a table with m + 1 axes: `table[i, …, j, v]` is the chance of v after the events i, …, j."""
        array = _numbers(table)
        size = len(vocabulary)
        if array.ndim < 1 or array.shape != (size,) * array.ndim:
            raise ModelError(f"a table for {size} events has {size} entries along each axis; got shape {array.shape}")
        rows = array.reshape(-1, size)
        follow = (np.arange(len(rows))[:, None] * size + np.arange(size)) % len(rows)
        return cls(rows, follow, vocabulary, needs=array.ndim - 1)

    @classmethod
    def fit(cls, sequences: Iterable[Any], vocabulary: Vocabulary, order: int = 2, smoothing: float = 1.0) -> Markov:
        """Counts of every context up to `order` events, each smoothed towards the context one event shorter.

        p(v | c) = (n(c, v) + s·d(c)·p(v | c without its oldest event)) / (n(c) + s·d(c)) with d(c) the number of different
        events seen after c (Witten and Bell 1991, with a strength s); at the bottom, every event alike.
        """
        if order < 0 or smoothing <= 0:
            raise ModelError(f"order must be 0 or more and smoothing above 0; got order={order}, smoothing={smoothing}")
        read = with_start(list(sequences), vocabulary, at_least=0)
        tree = grow(read, len(vocabulary), order)
        if len(tree.parent) * len(vocabulary) > MOST_ENTRIES:
            raise ModelError(
                f"order {order} has {len(tree.parent):,} contexts of {len(vocabulary):,} events here, "
                "too many for a table; use a lower order"
            )
        probabilities = np.empty((len(tree.parent), len(vocabulary)))
        for level in tree.levels:
            counts = tree.counts(level)
            if vocabulary.start_id is not None and len(vocabulary) > 1:
                counts[:, vocabulary.start_id] = 0  # read before every history, but never next
            strength = smoothing * np.maximum(1, (counts > 0).sum(1, keepdims=True))
            leant_on = _alike(vocabulary) if level[0] == 0 else probabilities[tree.parent[level]]
            probabilities[level] = (counts + strength * leant_on) / (counts.sum(1, keepdims=True) + strength)
        follow, shorter = tree.follow()
        return cls(probabilities, follow[shorter], vocabulary)

    def parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """For storage."""
        return {"needs": self.needs}, {"probabilities": self.probabilities, "follow": self.follow}

    @classmethod
    def from_parts(cls, settings: Mapping[str, Any], tensors: Mapping[str, Tensor], vocabulary: Vocabulary) -> Markov:
        """From storage, to the last bit: what was normalised before is not normalised again."""
        model = cls(tensors["probabilities"].numpy(), tensors["follow"].numpy(), vocabulary, int(settings["needs"]))
        model.probabilities = tensors["probabilities"]
        model._log = model.probabilities.log()
        return model

    def start(self, histories: Sequence[Ids]) -> State:
        """The context of each history; it depends on the last few events alone, so any context will do to begin with."""
        padded, lengths, back = by_length(with_start(histories, self.vocabulary, at_least=self.needs))
        contexts = torch.zeros(len(padded), dtype=torch.long)
        for step in range(padded.shape[1]):
            reading = int((lengths > step).sum())
            contexts[:reading] = self.follow[contexts[:reading], padded[:reading, step]]
        return self._at(contexts[back])

    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """Follows the table."""
        return self._at(self.follow[state.memory[rows], events])

    def _at(self, contexts: Tensor) -> State:
        return State(self._log[contexts], contexts)


def _alike(vocabulary: Vocabulary) -> NDArray[np.float64]:
    """[1, events]: every event alike, but the start symbol, which never comes."""
    share = np.ones((1, len(vocabulary)))
    if vocabulary.start_id is not None and len(vocabulary) > 1:
        share[0, vocabulary.start_id] = 0
    return np.asarray(share / share.sum())


def _numbers(table: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError("a table of probabilities holds numbers, as many in every row") from None


def _normalised(rows: NDArray[np.float64], size: int) -> Tensor:
    if rows.ndim != 2 or rows.shape[1] != size:
        raise ModelError(f"a Markov model over {size} events needs rows of {size} probabilities; got shape {rows.shape}")
    sums = rows.sum(1)
    if not np.isfinite(rows).all() or (rows < 0).any() or (abs(sums - 1) > 1e-6).any():
        worst = int(np.argmax(np.where(np.isfinite(sums), abs(sums - 1), np.inf)))
        raise ModelError(
            f"the probabilities after context {worst} are not a distribution: "
            f"they sum to {sums[worst]:.6g}, lowest {rows[worst].min():.3g}"
        )
    return torch.from_numpy(rows / sums[:, None])
