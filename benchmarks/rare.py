"""Rare events at 10 000 model calls: the sieve's error and coverage beside what naive simulation could do with the same calls.

    python benchmarks/rare.py [repetitions]

Down to 1e-8 on Markov models, where the truth is exact, and on LSTMs small enough to follow every prefix.
"""

from __future__ import annotations

import sys

import beforehand as bh
from beforehand.answers.intervals import of_columns
from beforehand.models import Model
from beforehand.queries import YES, compile_questions, parse
from beforehand.testing import run_many
from coverage import lstm_with_rare_event, model_with_rare_events

BUDGET, HISTORY = 10_000, [3, 5]


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"{'model':8} {'question':24} {'truth':>8}   {'sieve, prepared':>22}   {'sieve, as it is':>22}   naive's error")
    for power in range(2, 9, 2):
        for text in ("P(when(a) = 12)", "P(a within 10)", "P(b then a within 10)"):
            line("Markov", model_with_rare_events(10.0**-power * 8, power), text, repetitions)
    for power in (2, 4, 6):
        for text in ("P(when(a) = 6)", "P(a within 6)"):
            line("LSTM", lstm_with_rare_event(10.0**-power), text, repetitions)


def line(kind: str, model: Model, text: str, repetitions: int) -> None:
    exact = bh.methods.Exact(3_000_000)
    truth = bh.ask(model, text, HISTORY, method=exact).value
    automaton = compile_questions((parse(text),), model.vocabulary)
    cells = []
    for looking in (bh.prepare(model, progress=False), model):
        tally = run_many(bh.methods.Sieve(), looking, automaton, HISTORY, repetitions, BUDGET)
        found = of_columns(tally, slice(YES, YES + 1), 0.95)
        error = float((found.value[:, 0] / truth - 1).square().mean().sqrt())
        held = float(((found.low[:, 0] <= truth * (1 + 1e-9)) & (truth * (1 - 1e-9) <= found.high[:, 0])).double().mean())
        cells.append(f"{error:9.2e} covers {held:5.0%}")
    naive = bh.ask(model, text, HISTORY, method=bh.methods.Naive(200))
    paths = BUDGET / (naive.calls / 200)
    print(
        f"{kind:8} {text:24} {truth:8.1e}   {cells[0]:>22}   {cells[1]:>22}   {((1 - truth) / truth / paths) ** 0.5:9.2e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
