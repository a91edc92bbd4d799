"""One proposition as a little automaton over classes of events.

A piece knows where each class of event leads (`moves`) and what becomes of each state when time runs out (`deadlines`).
A target s ≥ 0 is a state; −1 − o means: decided with outcome o. The end of a sequence decides every piece, because
nothing happens after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from beforehand.queries import propositions as say
from beforehand.queries.patterns import Chain, One, Pattern, Repeat
from beforehand.queries.sets import Anything, EventSet
from beforehand.queries.texts import Text
from beforehand.queries.words import recogniser

Ints = NDArray[np.int64]


class Masks(Protocol):
    """The classes of events that a question tells apart."""

    def __call__(self, events: EventSet) -> NDArray[np.bool_]:
        """[classes]: which are in a set."""
        ...

    def race(self, options: tuple[Text, ...]) -> Ints:
        """[states, classes]: where each class leads on the way to one of several texts, as in `texts.Walked`."""
        ...


NO, YES, OPEN = 0, 1, 2


def decided(outcome: int) -> int:
    """The target that means: decided with this outcome."""
    return -1 - outcome


@dataclass(frozen=True)
class Piece:
    """`moves[s, c]` and, per deadline, `remap[s]` once so many events have happened."""

    moves: Ints
    deadlines: Mapping[int, Ints]
    start: int = 0
    outcomes: int = 2


def _one_state(
    classes: int, horizon: int | None, at_horizon: int, *rules: tuple[NDArray[np.bool_], int], outcomes: int = 2
) -> Piece:
    """A piece that waits in its only state; later rules win over earlier ones."""
    moves = np.zeros((1, classes), dtype=np.int64)
    for where, outcome in rules:
        moves[0, where] = decided(outcome)
    return Piece(moves, {} if horizon is None else {horizon: np.array([decided(at_horizon)])}, outcomes=outcomes)


@singledispatch
def piece(proposition: say.Proposition, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """The automaton of an elementary proposition; `of` gives a set's classes, `ended` the class of the end event."""
    raise TypeError(f"not an elementary proposition: {proposition!r}")


@piece.register
def _(proposition: say.Occurs, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    return _one_state(len(ended), proposition.horizon, NO, (ended, NO), (of(proposition.events), YES))


@piece.register
def _(proposition: say.Says, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    raced = _texts((proposition.text,), proposition.horizon, of, ended)
    moves = np.where(raced.moves == decided(0), decided(YES), np.where(raced.moves == decided(1), decided(NO), raced.moves))
    return Piece(moves, {proposition.horizon: np.full(len(moves), decided(NO))})


@piece.register
def _(proposition: say.Before, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    first, second = of(proposition.first), of(proposition.second)
    rules = ((ended, NO), (first & ~second, YES), (second, NO))
    return _one_state(len(ended), proposition.horizon, OPEN, *rules, outcomes=3)


@piece.register
def _(proposition: say.Never, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    return _one_state(len(ended), proposition.horizon, YES, (ended, YES), (of(proposition.events), NO))


@piece.register
def _(proposition: say.Always, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    return _one_state(len(ended), proposition.horizon, YES, (~of(proposition.events), NO), (ended, YES))


@piece.register
def _(proposition: say.Until, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    hold, goal = of(proposition.hold), of(proposition.goal)
    return _one_state(len(ended), proposition.horizon, NO, (~hold, NO), (ended, NO), (goal, YES))


@piece.register
def _(proposition: say.EventIs, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """Waits in state 0, looks in state 1; a sequence that has ended before stays ended."""
    wanted = of(proposition.events)
    waiting = np.where(ended, np.where(wanted, decided(YES), decided(NO)), 0)
    looking = np.where(wanted, decided(YES), decided(NO))
    deadlines = _two_phases(proposition.step - 1, {0: 1})
    deadlines[proposition.step] = np.array([decided(NO), decided(NO)])
    return Piece(np.stack([waiting, looking]), deadlines, start=int(proposition.step == 1))


@piece.register
def _(proposition: say.WhenIs, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """Too early in state 0, in time in state 1."""
    wanted, never = of(proposition.events), proposition.high is None
    early = np.where(wanted, decided(NO), np.where(ended, decided(YES if never else NO), 0))
    timely = np.where(wanted, decided(YES), np.where(ended, decided(NO), 1))
    begun = proposition.low == 1
    if never:
        if begun:
            return Piece(early[None, :], {}, start=decided(YES))
        return Piece(early[None, :], {proposition.low - 1: np.array([decided(YES)])})
    deadlines = _two_phases(proposition.low - 1, {0: 1})
    deadlines[int(proposition.high or 0)] = np.array([decided(NO), decided(NO)])
    return Piece(np.stack([early, timely]), deadlines, start=int(begun))


def _two_phases(step: int, moved: dict[int, int]) -> dict[int, Ints]:
    return {step: np.array([moved.get(state, state) for state in range(2)])} if step > 0 else {}


@piece.register
def _(proposition: say.CountIs, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """State n: n of them so far; states past the highest wanted count are decided."""
    low, high = proposition.low, proposition.high
    states = min(proposition.horizon, low - 1 if high is None else high) + 1
    if states == 0:  # at least none: true from the start
        return Piece(np.zeros((1, len(ended)), dtype=np.int64), {}, start=decided(YES))
    counts = np.arange(states)
    resolved = np.where((counts >= low) & (high is None or counts <= high), decided(YES), decided(NO))
    one_more = np.append(counts[1:], decided(YES if high is None else NO))
    moves = np.where(of(proposition.events)[None, :], one_more[:, None], counts[:, None])
    finally_ = np.where(moves >= 0, resolved[np.maximum(moves, 0)], moves)
    return Piece(np.where(ended[None, :], finally_, moves), {proposition.horizon: resolved})


@piece.register
def _(proposition: say.Sequence, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    anything: Pattern = Repeat(One(Anything()), 0, None)
    parts = [anything, One(proposition.steps[0])]
    for at_once, events in zip(proposition.immediate, proposition.steps[1:], strict=True):
        parts += [One(events)] if at_once else [anything, One(events)]
    return _recognise(Chain(tuple(parts)), proposition.horizon, of, ended)


@piece.register
def _(proposition: say.Matches, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    return _recognise(proposition.pattern, proposition.horizon, of, ended)


def _recognise(pattern: Pattern, horizon: int, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    moves, start = recogniser(pattern, of, len(ended), dead=decided(NO), found=decided(YES))
    moves = np.where(ended[None, :] & (moves != decided(YES)), decided(NO), moves)
    return Piece(moves, {horizon: np.full(len(moves), decided(NO))}, start=start)


def counting(events: EventSet, horizon: int, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """The piece whose outcome n is: n of the events within the horizon."""
    counts = np.arange(horizon + 1)
    moves = np.where(of(events)[None, :], np.minimum(counts + 1, horizon)[:, None], counts[:, None])
    moves = np.where(ended[None, :], -1 - moves, moves)
    return Piece(moves, {horizon: -1 - counts}, outcomes=horizon + 1)


def racing(options: tuple[EventSet | Text, ...], horizon: int, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    """The piece whose outcome i is: option i comes first; the outcome after the last is: none within the horizon."""
    none = len(options)
    if isinstance(options[0], Text):
        return _texts(cast(tuple[Text, ...], options), horizon, of, ended)
    rules = [(ended, none), *((of(option), i) for i, option in enumerate(cast(tuple[EventSet, ...], options)))]
    return _one_state(len(ended), horizon, none, *rules, outcomes=none + 1)


def _texts(options: tuple[Text, ...], horizon: int, of: Masks, ended: NDArray[np.bool_]) -> Piece:
    none, moves = len(options), of.race(options)
    moves = np.where(ended[None, :] & (moves >= 0), decided(none), moves)
    return Piece(moves, {horizon: np.full(len(moves), decided(none))}, outcomes=none + 1)
