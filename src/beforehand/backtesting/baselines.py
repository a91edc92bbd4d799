"""What can be said without a network: event frequencies, a Markov chain, and Kaplan and Meier's curve for times to an event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beforehand.backtesting.cuts import ahead, outcomes
from beforehand.events import EventLog
from beforehand.models import Markov
from beforehand.models.train import markov_by_order
from beforehand.queries import Automaton

Floats = NDArray[np.float64]
PLACES_A_USER, USERS = 3, 5_000


def frequencies(log: EventLog) -> Markov:
    """Every event at its average rate, whatever came before."""
    return Markov.fit(log, log.vocabulary, order=0)


def chain(log: EventLog, seed: int) -> tuple[Markov, int]:
    """The Markov chain of the order, 1 to 3, that predicts a held-out tenth best."""
    learn, held = log.split(0.1, seed) if len(log) > 1 else (log, log)
    found = [(quality["loss"], order) for order, (_, quality) in enumerate(markov_by_order(learn, held, (1, 2, 3)), 1)]
    order = min(found)[1] if found else 0
    return Markov.fit(log, log.vocabulary, order), order


def survival(automaton: Automaton, log: EventLog, seed: int) -> Floats:
    """P(hit by step k), k = 1, 2, …, from random places of all users, a sequence counted as far as it goes."""
    horizon = automaton.horizon or 1
    random, futures = np.random.default_rng(seed), []
    for user in random.permutation(len(log))[:USERS].tolist():
        events = log[user].astype(np.int64)
        for place in random.integers(1, max(2, len(events)), PLACES_A_USER if len(events) > 1 else 0).tolist():
            futures.append(ahead(events, place, horizon))
    if not futures:
        return np.zeros(horizon)
    table = np.stack(futures)
    outcome, step = outcomes(automaton, table)
    seen = (table >= 0).sum(1)
    left, curve = 1.0, np.zeros(horizon)
    for k in range(1, horizon + 1):
        # At risk are those that were not hit before and are seen at step k; an end without a hit stays at risk and is never hit.
        decided_no = (outcome == 0) & (step < k) & (step >= 0)
        at_risk = ((seen >= k) & ~((step >= 0) & (step < k))) | decided_no
        hits = (outcome == 1) & (step == k)
        left *= 1 - hits.sum() / max(1, at_risk.sum())
        curve[k - 1] = 1 - left
    return curve
