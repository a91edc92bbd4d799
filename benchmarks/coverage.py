"""How often the 95 % intervals hold the truth, on Markov models, where the truth is exact.

    python benchmarks/coverage.py [repetitions]

Models with events from common to very rare; one line per size of the true answer, method and budget.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
import torch

import beforehand as bh
from beforehand.answers.intervals import of_columns
from beforehand.estimators import Method, solve
from beforehand.models import Model
from beforehand.queries import YES, compile_questions, parse
from beforehand.testing import letters, run_many

QUESTIONS = ["P(when(a) = 6)", "P(a within 8)", "P(count(a) = 1 within 7)", "P(a before b within 9)", "P(b then a within 8)"]
METHODS: dict[str, Method] = {
    "importance": bh.methods.Importance(),
    "sieve, no lookahead": bh.methods.Sieve(lookahead=False),
    "sieve, own lookahead": bh.methods.Sieve(),
    "sieve": bh.methods.Sieve(),
}
Hits = dict[tuple[int, str, int], list[torch.Tensor]]


def model_with_rare_events(rarity: float, seed: int) -> bh.Markov:
    """Twelve events; how often `a` comes is scaled by the rarity, and differently after each pair of events."""
    random = np.random.default_rng(seed)
    table = random.dirichlet(np.full(12, 0.3), size=(12, 12)) + 1e-6
    table[:, :, 0] *= rarity * random.lognormal(0, 1, size=(12, 12))
    return bh.Markov.from_table(table / table.sum(2, keepdims=True), letters(12))


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    inside: Hits = defaultdict(list)
    for number, rarity in enumerate((3.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)):
        for seed in range(3):
            markov = model_with_rare_events(rarity, 10 * number + seed)
            prepared = bh.prepare(markov, progress=False)
            for text in QUESTIONS:
                for budget in (100, 1_000):
                    check(markov, prepared, text, budget, repetitions, inside)
    print(f"{'truth about':>12}  {'method':20} {'budget':>6}  coverage   (answers)")
    for (size, name, budget), hits in sorted(inside.items(), reverse=True):
        held = torch.cat(hits).double()
        print(f"{10.0**size:12.0e}  {name:20} {budget:6}  {held.mean():7.1%}   ({len(held):,})")


def check(markov: bh.Markov, prepared: Model, text: str, budget: int, repetitions: int, inside: Hits) -> None:
    automaton, history = compile_questions((parse(text),), markov.vocabulary), [3, 5]
    truth = float(solve(markov, automaton, [history])[0].mass[0, YES])
    for name, method in METHODS.items():
        found = of_columns(
            run_many(method, markov if "own" in name else prepared, automaton, history, repetitions, budget),
            slice(YES, YES + 1),
            0.95,
        )
        slack = 1e-9 * truth
        held = (found.low[:, 0] <= truth + slack) & (truth - slack <= found.high[:, 0])
        inside[int(np.floor(np.log10(truth) + 0.5)), name, budget].append(held)


if __name__ == "__main__":
    main()
