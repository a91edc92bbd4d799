"""Merging states that no future can tell apart (Moore's partition refinement)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beforehand.queries.automaton import Automaton, Deadline, Moves

Ints = NDArray[np.int64]


LARGEST = 4_000


def minimise(automaton: Automaton) -> Automaton:
    """The smallest automaton with the same answers; states are numbered in the order of the old ones. A large one, mostly made
    of counts that cannot be merged, stays as it is."""
    if not 1 < automaton.states <= LARGEST:
        return automaton
    rows = [automaton.moves.emits.transpose(1, 0, 2).reshape(automaton.states, -1)]
    rows += [deadline.emits.T for deadline in automaton.deadlines.values()]
    targets = np.column_stack([automaton.moves.next, *(deadline.next for deadline in automaton.deadlines.values())])
    blocks = _ranks(np.column_stack([*rows, targets >= 0]))
    while True:
        onward = np.where(targets >= 0, blocks[np.maximum(targets, 0)], -1)
        finer = _ranks(np.column_stack([blocks, onward]))
        if finer.max() == blocks.max():
            return _merge(automaton, blocks) if blocks.max() + 1 < automaton.states else automaton
        blocks = finer


def _ranks(rows: Ints) -> Ints:
    """Equal rows get equal numbers, exactly: columns are folded in, and renumbered when a code would grow too large."""
    codes, span = np.zeros(len(rows), dtype=np.int64), 1
    lowest, spans = rows.min(axis=0), np.ptp(rows, axis=0) + 1
    for column, low, size in zip(rows.T, lowest.tolist(), spans.tolist(), strict=True):
        if span * size >= 2**62:
            codes = np.unique(codes, return_inverse=True)[1]
            span = int(codes.max()) + 1
        codes, span = codes * size + (column - low), span * size
    return np.asarray(np.unique(codes, return_inverse=True)[1])


def _merge(automaton: Automaton, blocks: Ints) -> Automaton:
    _, first = np.unique(blocks, return_index=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    blocks, first = number[blocks], first[order]

    def renamed(targets: Ints) -> Ints:
        return np.where(targets >= 0, blocks[np.maximum(targets, 0)], -1)

    return Automaton(
        automaton.classes,
        Moves(renamed(automaton.moves.next[first]), automaton.moves.emits[:, first]),
        {step: Deadline(renamed(d.next[first]), d.emits[:, first]) for step, d in automaton.deadlines.items()},
        int(renamed(np.array([automaton.start]))[0]),
        automaton.at_start,
        automaton.outcomes,
        automaton.timed,
        automaton.wanted,
    )
