"""Where to stand in each held-out sequence: a past to ask about, and the future that really came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import EventsError
from beforehand.events import EventLog
from beforehand.queries import Automaton

Ints = NDArray[np.int64]
# How far a question without a horizon is followed in what really happened.
FAR = 200
OPEN_STILL = -1


@dataclass(frozen=True)
class Cuts:
    """Pasts, and the events that came after each, up to the horizon or the sequence's end; −1 beyond."""

    pasts: list[list[int]]
    futures: Ints
    too_short: int


def cut(log: EventLog, horizon: int | None, users: int, seed: int) -> Cuts:
    """One place in each of so many users' sequences, at random, with enough events after it to tell.

    A sequence that ends tells all that comes after it, so any place will do; otherwise the horizon must fit. Which place it is
    never depends on what happens after it.
    """
    random, needed = np.random.default_rng(seed), horizon or 1
    order = random.permutation(len(log))
    pasts, futures, short = [], [], 0
    for user in order.tolist():
        events = log[user].astype(np.int64)
        ends = log.vocabulary.end_id is not None and len(events) > 0 and events[-1] == log.vocabulary.end_id
        last = len(events) - (1 if ends else needed)
        if last < 1:
            short += 1
            continue
        place = int(random.integers(1, last + 1))
        pasts.append(events[:place].tolist())
        futures.append(ahead(events, place, horizon or FAR))
        if len(pasts) == users:
            break
    if not pasts:
        raise EventsError(
            f"no sequence has {needed} events after its first; ask about a shorter horizon, or bring longer sequences"
        )
    return Cuts(pasts, np.stack(futures), short)


def ahead(events: Ints, place: int, steps: int) -> Ints:
    """So many events from a place on; −1 beyond the sequence's end."""
    found = events[place : place + steps]
    return np.pad(found, (0, steps - len(found)), constant_values=-1)


def outcomes(automaton: Automaton, futures: Ints) -> tuple[Ints, Ints]:
    """For each future, the outcome of the automaton's only question and the step that decided it; −1 where it stayed open."""
    state = np.full(len(futures), automaton.start)
    outcome = np.full(len(futures), automaton.at_start[0], dtype=np.int64)
    step_of = np.where(outcome >= 0, 0, OPEN_STILL)
    for step in range(1, futures.shape[1] + 1):
        event = futures[:, step - 1]
        running = (outcome < 0) & (state >= 0) & (event >= 0)
        if not running.any():
            break
        moves, kinds = automaton.at(step), automaton.classes[np.maximum(event, 0)]
        found = moves.emits[0][np.maximum(state, 0), kinds]
        state = np.where(running, moves.next[np.maximum(state, 0), kinds], state)
        hit = running & (found >= 0)
        outcome, step_of = np.where(hit, found, outcome), np.where(hit, step, step_of)
    return outcome, step_of
