"""Several pieces walked at the same time: `and`, `or`, `not`, conditions, and several questions in one automaton.

A state of the product is one state per piece and, per question, whether it has been decided. States are found by a
breadth-first search in the order of time: first those before the first deadline, then those that it adds, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import TooManyStatesError
from beforehand.queries.automaton import Automaton, Deadline, Moves
from beforehand.queries.pieces import Piece

Ints = NDArray[np.int64]
MOST_STATES = 100_000


@dataclass(frozen=True)
class Combination:
    """One question over the pieces: from their outcomes (−1: not yet decided) its own."""

    verdict: Callable[[Ints], Ints]  # [rows, pieces] -> [rows]
    pieces: tuple[int, ...]
    outcomes: int
    wanted: tuple[int, ...]
    timed: bool = False


def product(pieces: Sequence[Piece], questions: Sequence[Combination], classes: Ints) -> Automaton:
    """The automaton that answers all questions in one pass."""
    return _Product(pieces, questions).build(classes)


class _Product:
    def __init__(self, pieces: Sequence[Piece], questions: Sequence[Combination]) -> None:
        self.pieces, self.questions = pieces, questions
        self.sizes = [len(piece.moves) for piece in pieces]
        # Outcome o of a piece is its state `size + o`, which leads to itself.
        self.tables = [_with_sinks(piece.moves, size, piece.outcomes) for piece, size in zip(pieces, self.sizes, strict=True)]
        radices = [len(table) for table in self.tables] + [2] * len(questions)
        self.scale = np.concatenate([[1], np.cumprod(np.array(radices, dtype=np.float64))])
        if self.scale[-1] > 2**62:
            raise TooManyStatesError("the question combines too many parts to be one automaton; ask for fewer at once")
        self.scale = self.scale.astype(np.int64)

    def build(self, classes: Ints) -> Automaton:
        start_parts = np.array([[self._sink(i, piece.start) for i, piece in enumerate(self.pieces)]])
        start, at_start = self._settle(start_parts, np.zeros((1, len(self.questions)), dtype=bool))
        known = alive = self._close(start[start >= 0])
        jumps: dict[int, tuple[Ints, Ints, Ints]] = {}
        for step in sorted({step for piece in self.pieces for step in piece.deadlines}):
            if len(alive):
                reached, emitted = self._jump(alive, step)
                jumps[step] = alive, reached, emitted
                alive = self._close(np.unique(reached[reached >= 0]))
                known = np.union1d(known, alive)
        next_, emits = self._move(known)
        deadlines = {step: self._deadline(known, *jump) for step, jump in jumps.items()}
        return Automaton(
            classes,
            Moves(self._number(known, next_), emits),
            deadlines,
            int(self._number(known, start)[0]),
            tuple(int(o) for o in at_start[:, 0]),
            tuple(question.outcomes for question in self.questions),
            tuple(question.timed for question in self.questions),
            tuple(question.wanted for question in self.questions),
        )

    def _close(self, known: Ints) -> Ints:
        """All states that events alone can lead to."""
        seen, fresh = set(known.tolist()), known
        while len(fresh):
            reached = set(self._move(fresh)[0].ravel().tolist()) - seen - {-1}
            fresh = np.array(sorted(reached), dtype=np.int64)
            seen |= reached
            if len(seen) > MOST_STATES:
                raise TooManyStatesError(
                    f"the question needs more than {MOST_STATES:,} states; "
                    "use smaller counts or shorter patterns, or ask its parts apart"
                )
        return np.array(sorted(seen), dtype=np.int64)

    def _move(self, codes: Ints) -> tuple[Ints, Ints]:
        """[states, classes] codes after each class of event, and [questions, states, classes] outcomes."""
        parts, done = self._read(codes)
        count, classes = len(codes), self.tables[0].shape[1]
        moved = np.stack([table[parts[:, i]] for i, table in enumerate(self.tables)], axis=-1)  # [states, classes, pieces]
        codes_next, emits = self._settle(moved.reshape(count * classes, len(self.pieces)), np.repeat(done, classes, axis=0))
        return codes_next.reshape(count, classes), emits.reshape(len(self.questions), count, classes)

    def _jump(self, codes: Ints, step: int) -> tuple[Ints, Ints]:
        parts, done = self._read(codes)
        columns = []
        for i, piece in enumerate(self.pieces):
            jump = np.arange(len(self.tables[i]))
            if step in piece.deadlines:
                jump[: self.sizes[i]] = _encode(piece.deadlines[step], self.sizes[i])
            columns.append(jump[parts[:, i]])
        return self._settle(np.stack(columns, axis=1), done)

    def _settle(self, parts: Ints, done: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Codes of part states, and the outcomes of the questions that they newly decide."""
        outcomes = np.where(parts >= np.array(self.sizes), parts - np.array(self.sizes), -1)
        emits = np.stack([question.verdict(outcomes[:, question.pieces]) for question in self.questions])
        emits = np.where(done.T, -1, emits)
        done = done | (emits >= 0).T
        idle = np.ones(parts.shape, dtype=bool)
        for q, question in enumerate(self.questions):
            for i in question.pieces:
                idle[:, i] &= done[:, q]
        parts = np.where(idle, np.array(self.sizes), parts)  # what no open question looks at may be forgotten
        codes = np.concatenate([parts, done], axis=1) @ self.scale[:-1]
        return np.where(done.all(axis=1), -1, codes), emits

    def _read(self, codes: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        digits = codes[:, None] // self.scale[:-1] % (self.scale[1:] // self.scale[:-1])
        return digits[:, : len(self.pieces)], digits[:, len(self.pieces) :].astype(bool)

    def _sink(self, i: int, target: int) -> int:
        return target if target >= 0 else self.sizes[i] - 1 - target

    def _number(self, known: Ints, codes: Ints) -> Ints:
        return np.where(codes >= 0, np.searchsorted(known, np.maximum(codes, 0)), -1)

    def _deadline(self, known: Ints, before: Ints, reached: Ints, emitted: Ints) -> Deadline:
        """States that are never alive at this deadline go nowhere."""
        next_ = np.full(len(known), -1)
        emits = np.full((len(self.questions), len(known)), -1, dtype=np.int64)
        places = np.searchsorted(known, before)
        next_[places] = self._number(known, reached)
        emits[:, places] = emitted
        return Deadline(next_, emits)


def _encode(targets: Ints, size: int) -> Ints:
    return np.where(targets >= 0, targets, size - 1 - targets)


def _with_sinks(moves: Ints, size: int, outcomes: int) -> Ints:
    sinks = np.repeat(np.arange(size, size + outcomes)[:, None], moves.shape[1], axis=1)
    return np.concatenate([_encode(moves, size), sinks])


def single(piece: Piece, classes: Ints, question: Combination) -> Automaton:
    """The automaton of one piece on its own: its tables as they are."""
    moves = Moves(np.maximum(piece.moves, -1), np.where(piece.moves < 0, -1 - piece.moves, -1)[None])
    deadlines = {
        step: Deadline(np.maximum(remap, -1), np.where(remap < 0, -1 - remap, -1)[None]) for step, remap in piece.deadlines.items()
    }
    at_start = -1 - piece.start if piece.start < 0 else -1
    return Automaton(
        classes, moves, deadlines, max(piece.start, -1), (at_start,), (piece.outcomes,), (question.timed,), (question.wanted,)
    )
