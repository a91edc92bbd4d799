"""A shop that is made up: visitors with intents of their own, in sessions, until they leave for good.

What a visitor wants (to look around, to buy one thing, to stock up, to complain) is never told; it shows in what they do, so that a
model that remembers more of the past says more about the future.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl

END = "left"
# What may come after each event, as (event, weight) for the four intents in turn: look around, buy, stock up, complain.
INTENTS = ("look", "buy", "stock", "complain")
SHARES = (0.5, 0.28, 0.12, 0.1)
NEXT: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "visit": {"search": (3, 5, 4, 1), "browse": (6, 2, 3, 1), "orders": (0.2, 0.2, 0.5, 6), "logout": (1, 0.3, 0.2, 0.5)},
    "search": {"view": (5, 7, 6, 1), "search": (2, 2, 1, 1), "browse": (2, 1, 1, 0.5), "logout": (1.5, 0.4, 0.3, 0.5)},
    "browse": {"view": (4, 4, 4, 1), "browse": (4, 1, 2, 1), "search": (1, 2, 1, 1), "logout": (2, 0.5, 0.4, 0.8)},
    "view": {
        "view": (4, 1.5, 2, 1),
        "reviews": (1.5, 2.5, 0.5, 0.5),
        "cart": (0.4, 3.5, 6, 0.2),
        "search": (1.5, 1, 1, 1),
        "browse": (2, 0.5, 1, 0.5),
        "logout": (2, 0.6, 0.4, 1),
    },
    "reviews": {"view": (4, 2, 2, 1), "cart": (0.5, 4, 3, 0.2), "logout": (2, 0.8, 0.5, 1)},
    "cart": {
        "view": (2, 1, 4, 1),
        "checkout": (0.3, 4, 3, 0.2),
        "remove": (2, 0.5, 0.4, 1),
        "search": (0.5, 0.5, 2, 0.5),
        "logout": (2.5, 0.8, 0.4, 1),
    },
    "remove": {"view": (2, 2, 2, 1), "logout": (4, 1, 1, 2), "browse": (1, 0.5, 1, 0.5)},
    "checkout": {"purchase": (1, 6, 7, 1), "cart": (1, 0.7, 0.6, 1), "support": (0.2, 0.3, 0.2, 1), "logout": (1.5, 0.5, 0.3, 1)},
    "purchase": {"logout": (5, 5, 2, 3), "view": (0.5, 0.5, 3, 0.2), "orders": (1, 1.5, 1, 1)},
    "orders": {"support": (0.5, 0.5, 0.3, 4), "refund": (0.1, 0.2, 0.1, 2.5), "logout": (3, 3, 3, 1)},
    "support": {"refund": (0.3, 0.3, 0.3, 3), "support": (0.5, 0.5, 0.5, 2), "logout": (3, 3, 3, 1.5)},
    "refund": {"logout": (4, 4, 4, 4), "support": (0.5, 0.5, 0.5, 1)},
}
# The chance that a session was the last, by intent; and how long the others take to come back, in days.
LEAVES, DAYS_AWAY = (0.35, 0.25, 0.1, 0.4), (6.0, 3.0, 9.0, 2.0)
LONGEST = 200


def events(visitors: int = 6_000, seed: int = 0) -> pl.DataFrame:
    """The shop's log: visitor, time, event; a visitor who will not come back ends with `left`."""
    random = np.random.default_rng(seed)
    begun = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC).timestamp()
    rows: list[tuple[str, float, str]] = []
    for number in range(visitors):
        clock = begun + random.uniform(0, 90) * 86_400
        for event, gap in _visitor(random):
            clock += gap
            rows.append((f"v{number:05}", clock, event))
    frame = pl.DataFrame(rows, schema=["visitor", "seconds", "event"], orient="row").sort("seconds", maintain_order=True)
    moment = pl.from_epoch((pl.col("seconds") * 1_000).cast(pl.Int64), time_unit="ms").alias("time")
    return frame.select("visitor", moment, "event")


def _visitor(random: Any) -> list[tuple[str, float]]:
    """Events and the seconds before each."""
    intent = int(random.choice(4, p=SHARES))
    found: list[tuple[str, float]] = []
    while True:
        event, away = "visit", random.exponential(DAYS_AWAY[intent]) * 86_400 if found else 0.0
        while True:
            found.append((event, away))
            if event == "logout" or len(found) >= LONGEST:
                break
            following = NEXT[event]
            weights = np.array([each[intent] for each in following.values()])
            event, away = str(random.choice(list(following), p=weights / weights.sum())), random.lognormal(3.2, 1.0)
            if event == "purchase" and intent == 1 and random.random() < 0.7:
                intent = 0  # has what was wanted
            elif event == "purchase" and random.random() < 0.12:
                intent = 3  # something was wrong with it
        if random.random() < LEAVES[intent] or len(found) >= LONGEST:
            return [*found, (END, 1.0)]
