"""How often the 95 % intervals hold the truth.

    python benchmarks/coverage.py [repetitions]

On Markov models with events from common to very rare and on LSTMs small enough to follow every prefix, one line per size of the
true answer, method and budget; and on the paper's checkpoints, at the horizon whose truths are exact.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from tests.shared import SHARED, checkpoint, reference, sequences

import beforehand as bh
from beforehand.answers.intervals import of_columns
from beforehand.estimators import Method, Tally
from beforehand.models import Model
from beforehand.queries import YES, compile_questions, parse
from beforehand.testing import letters, run_many

SHORTER = ["P(when(a) = 5)", "P(a within 6)", "P(b then a within 6)"]
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


def lstm_with_rare_event(rarity: float, seed: int = 5) -> bh.Recurrent:
    """Ten events; the first one's output is held down."""
    model = bh.Recurrent.random(letters(10), hidden=16, layers=2, seed=seed)
    weights = {f"rnn.{name}_l{i}": tensor for i, layer in enumerate(model.weights.layers) for name, tensor in layer.items()}
    bias = model.weights.output_bias.clone()
    bias[0] += np.log(rarity)
    embedded = {"embedding.weight": torch.eye(10, dtype=torch.float64), "out.weight": model.weights.output, "out.bias": bias}
    return bh.Recurrent.from_state_dict(weights | embedded, model.vocabulary)


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    make: dict[str, Callable[[float, int], Model]] = {"Markov": model_with_rare_events, "LSTM": lstm_with_rare_event}
    for kind in make:
        inside: Hits = defaultdict(list)
        for number, rarity in enumerate((3.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)):
            for seed in range(3) if kind == "Markov" else range(1):
                model = (
                    model_with_rare_events(rarity, 10 * number + seed) if kind == "Markov" else lstm_with_rare_event(rarity, number)
                )
                prepared = bh.prepare(model, progress=False)
                for text in QUESTIONS if kind == "Markov" else SHORTER:
                    for budget in (100, 300, 1_000):
                        check(model, prepared, text, budget, repetitions, inside)
        report(kind, inside)
    distributions(repetitions)
    if SHARED.exists():
        checkpoints(max(1, repetitions // 10))


def report(kind: str, inside: Hits) -> None:
    print(f"{kind:8} {'truth about':>12}  {'method':20} {'budget':>6}  coverage   (answers)")
    for (size, name, budget), hits in sorted(inside.items(), reverse=True):
        held = torch.cat(hits).double()
        print(f"{'':8} {10.0**size:12.0e}  {name:20} {budget:6}  {held.mean():7.1%}   ({len(held):,})")
    for name in METHODS:
        held = torch.cat([each for (_, other, _), hits in inside.items() if other == name for each in hits]).double()
        print(f"{'':8} {'all':>12}  {name:20} {'':6}  {held.mean():7.1%}   ({len(held):,})", flush=True)


def check(model: Model, prepared: Model, text: str, budget: int, repetitions: int, inside: Hits) -> None:
    automaton, history = compile_questions((parse(text),), model.vocabulary), [3, 5]
    truth = bh.ask(model, text, history, method=bh.methods.Exact(3_000_000)).value
    for name, method in METHODS.items():
        looking = model if "own" in name else prepared
        held = holds(run_many(method, looking, automaton, history, repetitions, budget), truth, 1e-9)
        inside[int(np.floor(np.log10(truth) + 0.5)), name, budget].append(held)


def holds(tally: Tally, truth: float, slack: float) -> torch.Tensor:
    found = of_columns(tally, slice(YES, YES + 1), 0.95)
    return (found.low[:, 0] <= truth * (1 + slack)) & (truth * (1 - slack) <= found.high[:, 0])


def distributions(repetitions: int) -> None:
    """Every outcome's own interval, of those that are not next to impossible."""
    for rarity in (3.0, 0.1):
        markov = model_with_rare_events(rarity, 3)
        for label, model in (("prepared", bh.prepare(markov, progress=False)), ("as it is", markov)):
            for text in ("count(a) within 8", "which(a, b, c) within 6", "event(5)", "when(a) within 8"):
                truth = bh.ask(markov, text, [3, 5]).value
                held = []
                for seed in range(repetitions):
                    found = bh.ask(model, text, [3, 5], method="sieve", budget=300, seed=seed)
                    inside = (found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high)
                    held.append(inside[truth > 1e-7].mean())
                print(f"{text:24} sieve, {label:9} {np.mean(held):7.1%} of the outcomes' intervals", flush=True)


def checkpoints(repetitions: int) -> None:
    for name in ("moocs", "shakespeare"):
        plain = checkpoint(name)
        known = sequences(name, 4_000, 100)[1_000:] if name == "moocs" else sequences(name, 6_000, 100)
        for label, model in (("prepared", bh.prepare(plain, known, progress=False)), ("as it is", plain)):
            for horizon in (4, 7):
                held = []
                for row in (row for row in reference(name) if row["horizon"] == horizon):
                    question = bh.P(bh.when(plain.vocabulary.labels[row["target"]]) == horizon)
                    automaton = compile_questions((question,), plain.vocabulary)
                    tally = run_many(bh.methods.Sieve(), model, automaton, row["history"][1:], repetitions, row["calls"])
                    held.append(holds(tally, row["truth"], row["truth_spread"]))
                found = torch.cat(held).double()
                print(f"{name:12} K={horizon}  sieve, {label:9} {found.mean():7.1%}   ({len(found):,})", flush=True)


if __name__ == "__main__":
    main()
