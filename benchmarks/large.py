"""A vocabulary of 50 000 events and a thousand rows: the sieve's time beside the model's own, and the memory it takes.

    python benchmarks/large.py

The model looks its distributions up in a table, so that next to nothing of the time is its own. Each line is a process of its own;
its memory is the most that was ever resident, beyond what it took before it was asked.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Sequence

import torch

import beforehand as bh
from beforehand.models import State

VOCABULARY, CONTEXTS = 50_000, 64
CASES = [
    ("P(/7$/ within 5)", 4_000, 1_000_000_000),
    ("P(/7$/ within 5)", 4_000, 200_000_000),
    ("P(/7$/ before /13$/ within 5)", 4_000, 1_000_000_000),
    ("event(5)", 4_000, 1_000_000_000),
]


class Table:
    """What comes next depends on the last event's remainder."""

    def __init__(self) -> None:
        self.vocabulary = bh.Vocabulary([f"w{i}" for i in range(VOCABULARY)])
        generator = torch.Generator().manual_seed(0)
        self.log = (torch.randn(CONTEXTS, VOCABULARY, generator=generator) * 2).log_softmax(1)

    def start(self, histories: Sequence[Sequence[int]]) -> State:
        return self._at(torch.tensor([history[-1] % CONTEXTS for history in histories]))

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        return self._at(events % CONTEXTS)

    def _at(self, contexts: torch.Tensor) -> State:
        return State(self.log[contexts], contexts)


def main() -> None:
    for text, budget, memory in CASES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measured, (text, budget, memory)), flush=True)


def measured(text: str, budget: int, memory: int) -> str:
    model = Table()
    bh.ask(model, text, ["w1"], method="sieve", budget=40, memory=memory)
    state, rows = model.start([[1]]), torch.zeros(budget // 4, dtype=torch.long)
    begun = time.perf_counter()
    for _ in range(4):
        state = model.advance(state, rows, rows)
    own = time.perf_counter() - begun
    del state
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    answer = bh.ask(model, text, ["w1"], method="sieve", budget=budget, memory=memory)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"{text:30} memory={memory / 1e6:5.0f} MB: {answer.calls} rows in {seconds:5.2f} s, of which the model's own {own:5.2f} s; "
        f"{(after - before) / 1024:6.0f} MB more than before"
    )


if __name__ == "__main__":
    main()
