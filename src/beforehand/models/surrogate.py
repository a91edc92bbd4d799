"""A small stand-in for a model: what it says on average after the last few events.

The tree of contexts is that of `ngrams`, pruned to what is often met. A context of the greatest length is followed by the
same contexts as its shorter one, so only the shorter ones need a table of what follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.protocol import Ids, Model, State, by_length, with_start


@dataclass(frozen=True, eq=False)
class Surrogate:
    """`probabilities[c, v]` of the next event; `follow[shorter[c], v]` is the context after it."""

    probabilities: Tensor  # [contexts, vocabulary]
    parent: Tensor  # [contexts]: the context one event shorter
    follow: Tensor  # [contexts that are not of the greatest length, vocabulary]
    shorter: Tensor  # [contexts]
    levels: tuple[int, ...]  # how many contexts there are of up to 0, 1, 2, … events

    def shortened(self, order: int) -> Surrogate:
        """Only the contexts of up to `order` events, which come first."""
        count = self.levels[order]
        if count == len(self.shorter):
            return self
        inner = max(1, self.levels[order - 1]) if order else 1
        follow = self.follow[:inner]
        while bool((follow >= count).any()):
            follow = torch.where(follow >= count, self.parent[follow], follow)
        everyone = torch.arange(count)
        return Surrogate(
            self.probabilities[:count],
            self.parent,
            follow,
            torch.where(everyone < inner, everyone, self.parent[:count]),
            self.levels[: order + 1],
        )

    def tensors(self) -> dict[str, Tensor]:
        """What a file needs to hold, the levels apart."""
        return {f"lookahead.{name}": getattr(self, name) for name in ("probabilities", "parent", "follow", "shorter")}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], levels: Sequence[int]) -> Surrogate:
        """The surrogate of a file."""
        probabilities, parent, follow, shorter = (
            tensors[f"lookahead.{name}"] for name in ("probabilities", "parent", "follow", "shorter")
        )
        return cls(probabilities, parent, follow, shorter, tuple(levels))

    def after_single_events(self) -> Tensor:
        """[vocabulary, vocabulary]: what comes after each event, if nothing before it is known."""
        return self.probabilities[self.follow[0]]

    def read(self, histories: Sequence[Ids], vocabulary: Vocabulary) -> Tensor:
        """The context of each history."""
        recent = [history[-MOST_EVENTS:] for history in with_start(histories, vocabulary, at_least=0)]
        padded, lengths, back = by_length(recent)
        contexts = torch.zeros(len(recent), dtype=torch.long)
        for step in range(padded.shape[1]):
            reading = int((lengths > step).sum())
            contexts[:reading] = self.step(contexts[:reading], padded[:reading, step])
        return contexts[back]

    def step(self, contexts: Tensor, events: Tensor) -> Tensor:
        """The contexts after one more event each."""
        return self.follow[self.shorter[contexts], events]


# No context is longer than this, so no more of a history matters.
MOST_EVENTS = 16


class Prepared:
    """A model with its lookahead: it steps as the model does, and methods that can look ahead find `lookahead`."""

    def __init__(self, model: Model, lookahead: Surrogate) -> None:
        known, wanted = lookahead.probabilities.shape[1], len(model.vocabulary)
        if known != wanted:
            raise ModelError(
                f"the lookahead speaks of {known} events, the model of {wanted}; make one for this model with bh.prepare(model)"
            )
        sums = lookahead.probabilities.sum(1)
        if not bool(((sums - 1).abs() < 1e-3).all()) or bool((lookahead.probabilities < 0).any()):
            raise ModelError("the lookahead's rows are not distributions; make it anew with bh.prepare(model)")
        self.model, self.lookahead = model, lookahead

    @property
    def vocabulary(self) -> Vocabulary:
        """The inner model's."""
        return self.model.vocabulary

    def start(self, histories: Sequence[Ids]) -> State:
        """The inner model's."""
        return self.model.start(histories)

    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """The inner model's."""
        return self.model.advance(state, rows, events)
