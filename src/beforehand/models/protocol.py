"""What a model is: the first of the four contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from beforehand.errors import HistoryError
from beforehand.events import Vocabulary

Ids = Sequence[int]


@dataclass(frozen=True)
class State:
    """Rows that have read something: what comes next for each, and whatever the model needs to go on."""

    log_probs: Tensor  # [rows, vocabulary], float32 or better, normalised
    memory: Any


def join(states: Sequence[State]) -> State:
    """The rows of several states of one model under each other."""
    return State(torch.cat([state.log_probs for state in states]), _join([state.memory for state in states]))


def _join(memories: Sequence[Any]) -> Any:
    first = memories[0]
    if isinstance(first, Tensor):
        return torch.cat(list(memories))
    if isinstance(first, State):
        return join(memories)
    if isinstance(first, list):
        return [row for memory in memories for row in memory]
    if isinstance(first, tuple):
        return tuple(map(_join, zip(*memories, strict=True)))
    return first.join(memories)  # a model with a memory of its own kind says itself how to join it


@runtime_checkable
class Model(Protocol):
    """An autoregressive model of events.

    `start` reads ragged histories of ids, after the model's own start symbol if it has one. `advance` picks rows of a state,
    as often as wanted, and takes one event on each. `check_model` in `beforehand.testing` is the law.
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """The events that the ids stand for."""
        ...

    def start(self, histories: Sequence[Ids]) -> State:
        """One row a history."""
        ...

    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """Row i of the result is row `rows[i]` of the state after the event `events[i]`."""
        ...


def with_start(histories: Sequence[Ids], vocabulary: Vocabulary, at_least: int = 1) -> list[list[int]]:
    """Histories after the start symbol; one that is too short, or holds an id out of range, is an error."""
    first = [] if vocabulary.start_id is None else [vocabulary.start_id]
    try:
        read = [[*first, *map(index, history)] for history in histories]
    except TypeError:
        raise HistoryError("models read ids, which are whole numbers; vocabulary.ids(history) turns labels into them") from None
    for number, history in enumerate(read):
        if len(history) < at_least:
            raise HistoryError(
                f"history {number} has {len(history)} events; this model needs at least {at_least}"
                + ("" if first else ", and it has no start symbol of its own")
            )
        low, high = min(history, default=0), max(history, default=0)
        if low < 0 or high >= len(vocabulary):
            bad = low if low < 0 else high
            raise HistoryError(f"history {number} holds the id {bad}; this vocabulary has ids from 0 to {len(vocabulary) - 1}")
    return read


def by_length(histories: Sequence[Ids]) -> tuple[Tensor, Tensor, Tensor]:
    """Padded ids with the longest history first, their lengths, and the order that puts the rows back in place."""
    lengths = torch.tensor([len(history) for history in histories])
    lengths, order = torch.sort(lengths, descending=True, stable=True)
    padded = torch.zeros(len(histories), int(lengths[0]) if len(histories) else 0, dtype=torch.long)
    for row, number in enumerate(order.tolist()):
        padded[row, : len(histories[number])] = torch.tensor(list(histories[number]))
    return padded, lengths, torch.argsort(order)
