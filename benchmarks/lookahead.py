"""What each part of the lookahead gives: the sieve's errors on the paper's checkpoints with parts taken away or changed.

    python benchmarks/lookahead.py [seeds]

Geometric mean of the relative errors (plus 0.1 %) over all queries and seeds, per horizon: steadier than medians.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.shared import SHARED, checkpoint, reference, sequences

import beforehand as bh
from beforehand.estimators import guides, local, methods
from beforehand.models import Model, Prepared, distil


def main() -> None:
    if not SHARED.exists():
        print("../shared is not here: nothing to measure on")
        return
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    for name in ("moocs", "shakespeare"):
        plain = checkpoint(name)
        known = sequences(name, 6_000, 100)[1_000:] if name == "moocs" else sequences(name, 10_000, 100)
        prepared = bh.prepare(plain, known, progress=False)
        print(f"{name}\n  {'':44}" + "".join(f"  K={horizon:<5}" for horizon in (4, 7, 11)))
        line("no lookahead", plain, seeds, methods.Sieve(lookahead=False))
        line("the run's own chains", plain, seeds)
        with unbent():
            for order in range(1, len(prepared.lookahead.levels)):
                short = Prepared(plain, prepared.lookahead.shortened(order))
                line(f"distilled, contexts of up to {order}", short, seeds)
        line("distilled, bent by the run's own (the default)", prepared, seeds)
        line("  from the model's own futures", bh.prepare(plain, progress=False), seeds)
        line("  not corrected", prepared, seeds, methods.Sieve(correct=False))
        for bend in (0.25, 1.0):
            with mock.patch.object(guides, "BEND", bend):
                line(f"  bent to the power {bend}", prepared, seeds)
        with mock.patch.object(local, "AGAIN", 1.3), mock.patch.object(guides, "AGAIN", 1.3):
            line("  looked through again after 1.3 × the steps", prepared, seeds)
        for strength in (0.5, 20.0):
            with mock.patch.object(distil, "STRENGTH", strength):
                line(f"  shorter contexts count for {strength}", bh.prepare(plain, known, progress=False), seeds)


@contextmanager
def unbent() -> Iterator[None]:
    with mock.patch.object(guides, "events_apart", lambda run: False):
        yield


def line(label: str, model: Model, seeds: int, method: methods.Sieve | None = None) -> None:
    name = "shakespeare" if len(model.vocabulary) < 90 else "moocs"
    cells = []
    for horizon in (4, 7, 11):
        logs = []
        for number, row in enumerate(row for row in reference(name) if row["horizon"] == horizon):
            question = bh.P(bh.when(model.vocabulary.labels[row["target"]]) == horizon)
            for seed in range(seeds):
                answer = bh.ask(
                    model, question, row["history"][1:], method=method or "sieve", budget=row["calls"], seed=1_000 * seed + number
                )
                logs.append(math.log(abs(answer.value - row["truth"]) / row["truth"] + 1e-3))
        cells.append(f"{math.exp(statistics.mean(logs)):8.2%}")
    print(f"  {label:44}" + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
