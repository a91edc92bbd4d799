"""The sieve beside the authors' hybrid at equal model calls, and how many more calls plain simulation needs for the same error.

    python benchmarks/accuracy.py [seeds]

On the paper's checkpoints and real histories; the lookahead is learned from other users and text. The last line of each model is
over the queries with p ≤ 1 %: naive simulation's error follows from p, its calls per path are measured.
"""

from __future__ import annotations

import math
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.shared import SHARED, checkpoint, reference, sequences

import beforehand as bh
from beforehand.models import Model


def main() -> None:
    if not SHARED.exists():
        print("../shared is not here: nothing to compare with")
        return
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    ratios: dict[str, list[float]] = {"sieve": [], "no lookahead prepared": []}
    for name in ("moocs", "shakespeare"):
        plain = checkpoint(name)
        known = sequences(name, 6_000, 100)[1_000:] if name == "moocs" else sequences(name, 20_000, 100)
        models: dict[str, Model] = {"sieve": bh.prepare(plain, known, progress=False), "no lookahead prepared": plain}
        factors: list[float] = []
        for horizon in sorted({row["horizon"] for row in reference(name)}):
            rows = [row for row in reference(name) if row["horizon"] == horizon]
            theirs = statistics.median(abs(row["hybrid"] - row["truth"]) / row["truth"] for row in rows)
            cells = [f"authors' hybrid {theirs:6.2%}"]
            for label, model in models.items():
                errors = [[_error(model, row, 1_000 * seed + i) for seed in range(seeds)] for i, row in enumerate(rows)]
                own = statistics.median(error for each in errors for error in each)
                ratios[label].append(theirs / own)
                cells.append(f"{label} {own:6.2%}, {theirs / own:5.2f} times better")
                if label == "sieve":
                    factors += [
                        _naive_factor(plain, row, each) for row, each in zip(rows, errors, strict=True) if row["truth"] <= 0.01
                    ]
            print(f"{name:12} K={horizon:<3} " + "   ".join(cells), flush=True)
        if factors:
            print(
                f"{name:12} p ≤ 1 %: naive simulation needs {statistics.median(factors):,.0f} × the calls ({len(factors)} queries)"
            )
    for label, each in ratios.items():
        print(f"geometric mean, {label}: {math.exp(statistics.mean(map(math.log, each))):.2f}")


def _question(model: Model, row: dict[str, Any]) -> object:
    return bh.P(bh.when(model.vocabulary.labels[row["target"]]) == row["horizon"])


def _error(model: Model, row: dict[str, Any], seed: int) -> float:
    answer = bh.ask(model, _question(model, row), row["history"][1:], method="sieve", budget=row["calls"], seed=seed)
    return float(abs(answer.value - row["truth"]) / row["truth"])


def _naive_factor(model: Model, row: dict[str, Any], errors: list[float]) -> float:
    """Naive paths have the relative variance (1 − p)/p each."""
    paths, truth = 200, row["truth"]
    calls = bh.ask(model, _question(model, row), row["history"][1:], method=bh.methods.Naive(paths)).calls / paths
    wanted = max(statistics.mean(error**2 for error in errors), row["truth_spread"] ** 2)
    return float((1 - truth) / truth / wanted * calls / row["calls"])


if __name__ == "__main__":
    main()
