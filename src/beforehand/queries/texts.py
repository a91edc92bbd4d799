"""Questions about text, whatever pieces it comes in: an automaton over bytes, walked along the bytes of every event.

Over text the future is one long string, of which an event adds its piece. A `Text` is found as soon as the string so far has it,
be it in the middle of an event; so how the string is cut into events makes no difference, and every way to cut it counts.
Regular expressions become automata over bytes by outlines-core (Rust's regex-automata); a plain string is its own automaton.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import QueryError, TooManyStatesError
from beforehand.events.tokens import spelling
from beforehand.events.vocabulary import Vocabulary

Ints = NDArray[np.int64]

MOST_STATES = 4_000
# States walked at once; each takes four bytes for every event.
BLOCK = 64
FOUND_AT_ONCE = "{} is true of any text, because nothing at all matches it"


@dataclass(frozen=True)
class Text:
    """A text to come: a plain one or a regular expression, `anywhere` in what comes or at its very beginning."""

    wanted: str
    expression: bool = False
    anywhere: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.wanted, str) or not self.wanted:
            raise QueryError(f"a text to look for is not empty; got {self.wanted!r}")

    def __str__(self) -> str:
        shown = "/" + self.wanted.replace("/", "\\/") + "/" if self.expression else json.dumps(self.wanted, ensure_ascii=False)
        return f"text {'contains' if self.anywhere else 'matches'} {shown}"


class Walked(NamedTuple):
    """Where the events lead from each state: −1 − i when option i is found, −1 − (number of options) when none can be any more.

    Events that lead alike from everywhere are one kind.
    """

    kinds: Ints  # [vocabulary]
    moves: Ints  # [states, kinds]


class _Bytes(NamedTuple):
    """An automaton over bytes: −1 is dead."""

    next: Ints  # [states, 256]
    final: NDArray[np.bool_]
    start: int


@lru_cache(maxsize=64)
def walk(options: tuple[Text, ...], vocabulary: Vocabulary) -> Walked:
    """Which of several texts is found first; state 0 is the start. Found in the same byte, the one named first."""
    table = _race([_automaton(option) for option in options], options)
    pieces = _Pieces(spelling(vocabulary))
    known, waiting, done = {0: 0}, [0], 0
    codes, random = np.zeros(len(pieces.lengths), dtype=np.uint64), np.random.default_rng(0)
    while done < len(waiting):
        block = np.array(waiting[done : done + BLOCK])
        done += len(block)
        reached = pieces.along(table, block)
        # Events are alike if their columns are; equal codes of 64 random bits stand for equal columns.
        codes += (reached.astype(np.uint64) * random.integers(1, 2**63, (len(block), 1), dtype=np.uint64)).sum(0, dtype=np.uint64)
        for state in np.unique(reached).tolist():
            if state < len(table) - len(options) - 1 and state not in known:
                known[state] = len(waiting)
                waiting.append(state)
    _, first, kinds = np.unique(codes, return_index=True, return_inverse=True)
    moves = _Pieces([pieces.bytes[i] for i in first]).along(table, np.array(waiting))
    renamed = np.full(len(table), -1, dtype=np.int64)
    renamed[waiting] = np.arange(len(waiting))
    sinks = len(table) - len(options) - 1
    renamed[sinks:] = -1 - np.arange(len(options) + 1)
    return Walked(np.asarray(kinds, dtype=np.int64), renamed[moves])


class _Pieces:
    """The bytes of every event, longest first."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.bytes = pieces
        self.lengths = np.array([len(piece) for piece in pieces])
        self.order = np.argsort(-self.lengths, kind="stable")
        width = int(self.lengths.max(initial=0))
        self.padded = np.zeros((len(pieces), width), dtype=np.uint8)
        for place, number in enumerate(self.order):
            self.padded[place, : self.lengths[number]] = np.frombuffer(pieces[number], dtype=np.uint8)

    def along(self, table: NDArray[np.int32], states: Ints) -> NDArray[np.int32]:
        """[states, events]: the state after all bytes of an event."""
        at = np.repeat(states.astype(np.int32)[:, None], len(self.lengths), axis=1)
        for place in range(self.padded.shape[1]):
            longer = int((self.lengths > place).sum())
            at[:, :longer] = table[at[:, :longer], self.padded[:longer, place]]
        found = np.empty_like(at)
        found[:, self.order] = at
        return found


def _automaton(text: Text) -> _Bytes:
    return _of_expression(text.wanted) if text.expression else _of_string(text.wanted.encode())


def _of_string(wanted: bytes) -> _Bytes:
    onward = np.full((len(wanted) + 1, 256), -1, dtype=np.int64)
    onward[np.arange(len(wanted)), list(wanted)] = np.arange(1, len(wanted) + 1)
    return _Bytes(onward, np.arange(len(wanted) + 1) == len(wanted), 0)


def _of_expression(wanted: str) -> _Bytes:
    """Every byte is a token of its own to outlines-core, so that its index of tokens is the automaton over bytes."""
    try:
        from outlines_core import Index, Vocabulary
    except ImportError:
        raise QueryError(
            'regular expressions over text need outlines-core: pip install "beforehand[language-models]"', about=wanted
        ) from None
    try:
        index = Index(wanted, Vocabulary(256, {bytes([byte]): [byte] for byte in range(256)}))
    except ValueError as error:
        raise QueryError(f"/{wanted}/ cannot be looked for in a text: {error}", about=wanted) from None
    transitions, finals = index.get_transitions(), set(index.get_final_states())
    states = [index.get_initial_state(), *(state for state in transitions if state != index.get_initial_state())]
    states += [state for state in finals if state not in transitions and state != states[0]]
    number = {state: i for i, state in enumerate(states)}
    onward = np.full((len(states), 256), -1, dtype=np.int64)
    for state, moves in transitions.items():
        for byte, target in moves.items():
            if byte < 256:
                onward[number[state], byte] = number.setdefault(target, len(number))
    return _Bytes(onward, np.array([state in finals for state in states]), 0)


def _race(automata: Sequence[_Bytes], options: Sequence[Text]) -> NDArray[np.int32]:
    """[states and sinks, 256]: all automata at once, each begun anew at every byte if its text may be anywhere. The last rows are
    the sinks: one for each option, and one for none."""
    for automaton, option in zip(automata, options, strict=True):
        if automaton.final[automaton.start]:
            raise QueryError(FOUND_AT_ONCE.format(option), about=option.wanted)
    alike, byte_of = _alike(automata)
    first = tuple(frozenset([automaton.start]) for automaton in automata)
    known, waiting, rows = {first: 0}, [first], []
    for sets in waiting:  # grows as it goes
        row = []
        for byte in byte_of:
            after = tuple(
                frozenset(int(each.next[state, byte]) for state in inside if each.next[state, byte] >= 0)
                | (frozenset([each.start]) if option.anywhere else frozenset())
                for each, inside, option in zip(automata, sets, options, strict=True)
            )
            hit = next((i for i, each in enumerate(automata) if any(each.final[state] for state in after[i])), None)
            if hit is None and not any(after):
                hit = len(automata)
            if hit is None and after not in known:
                if len(known) >= MOST_STATES:
                    raise TooManyStatesError(f"the text needs more than {MOST_STATES:,} states; ask for a simpler one")
                known[after] = len(waiting)
                waiting.append(after)
            row.append(known[after] if hit is None else -1 - hit)
        rows.append(row)
    states, sinks = len(rows), len(automata) + 1
    table = np.array(rows, dtype=np.int64)[:, alike]
    table = np.where(table < 0, states - 1 - table, table)
    absorbing = np.repeat(np.arange(states, states + sinks)[:, None], 256, axis=1)
    return np.concatenate([table, absorbing]).astype(np.int32)


def _alike(automata: Sequence[_Bytes]) -> tuple[Ints, list[int]]:
    """Which bytes no automaton tells apart: the kind of each of the 256, and a byte of each kind."""
    columns = np.concatenate([automaton.next for automaton in automata])
    _, first, kinds = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    return np.asarray(kinds).reshape(-1), [int(byte) for byte in first]
