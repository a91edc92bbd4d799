"""Our importance, beam and hybrid beside the authors' own code, on the paper's checkpoints, at equal model calls.

    python benchmarks/authors.py

Median relative errors over the reference's queries, per cell; for beam also the median relative difference between the two answers.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.shared import SHARED, checkpoint, reference

import beforehand as bh

PAIRS = (("importance", "is"), ("beam", "beam"), ("hybrid", "hybrid"))


def main() -> None:
    if not SHARED.exists():
        print("../shared is not here: nothing to compare with")
        return
    for name in ("moocs", "shakespeare"):
        model, rows = checkpoint(name), reference(name)
        for horizon in sorted({row["horizon"] for row in rows}):
            cells = []
            for method, theirs in PAIRS:
                own, other, apart = [], [], []
                for number, row in enumerate(row for row in rows if row["horizon"] == horizon):
                    question = bh.P(bh.when(model.vocabulary.labels[row["target"]]) == horizon)
                    answer = bh.ask(model, question, row["history"][1:], method=method, budget=row["calls"], seed=number)
                    own.append(abs(answer.value - row["truth"]) / row["truth"])
                    other.append(abs(row[theirs] - row["truth"]) / row["truth"])
                    apart.append(abs(answer.value - row[theirs]) / row[theirs] if row[theirs] else 0)
                text = f"{method} {100 * statistics.median(own):5.1f} % (authors {100 * statistics.median(other):5.1f} %)"
                cells.append(text + (f" apart {100 * statistics.median(apart):.2f} %" if method == "beam" else ""))
            print(f"{name:12} K={horizon:<3} " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
