"""One question about one history, beside the model's own steps at the same row counts; wanted: at most three times as long.

python benchmarks/latency.py
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.shared import SHARED, checkpoint, sequences

import beforehand as bh
from beforehand.models import Model, State

REPETITIONS = 30


class Counting:
    """A model that notes how many rows each step advanced."""

    def __init__(self, model: Model) -> None:
        self.model, self.vocabulary, self.rows = model, model.vocabulary, list[int]()
        self.lookahead = getattr(model, "lookahead", None)

    def start(self, histories: list[list[int]]) -> State:
        return self.model.start(histories)

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        self.rows.append(len(rows))
        return self.model.advance(state, rows, events)


def main() -> None:
    if not SHARED.exists():
        print("../shared is not here: no course checkpoint to ask")
        return
    model = bh.prepare(checkpoint("moocs"), sequences("moocs", 2_000, 50), progress=False)
    history = model.vocabulary.ids(sequences("moocs", 1, 5)[0])
    for text in ('P(when("30") = 10)', 'P("30" within 10)', 'P("30" before "31" within 10)', 'when("30") within 10', "event(10)"):
        counting = Counting(model)
        bh.ask(counting, text, history, method="sieve", budget=1_000)  # type: ignore[arg-type]
        raw = median_seconds(lambda counts=counting.rows: step(model, history, counts))
        asked = median_seconds(lambda text=text: bh.ask(model, text, history, method="sieve", budget=1_000))
        print(f"{1000 * raw:5.1f} ms of raw steps, {1000 * asked:5.1f} ms asked, {asked / raw:4.2f} times   {text}")


def step(model: Model, history: list[int], counts: list[int]) -> None:
    """What the model alone takes: to read the history, and for as many rows a step."""
    state = model.start([history])
    for count in counts:
        events = torch.zeros(count, dtype=torch.long)
        state = model.advance(state, torch.zeros(count, dtype=torch.long), events)


def median_seconds(work: object) -> float:
    times = []
    for _ in range(REPETITIONS):
        begun = time.perf_counter()
        work()  # type: ignore[operator]
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


if __name__ == "__main__":
    main()
