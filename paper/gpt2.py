"""The table of GPT-2 on WikiText-2: error of importance sampling, beam search, uniform sampling and the sieve, and entropies.

python paper/gpt2.py [--histories 100] [--samples 1000] [--out paper/results]

P(τ(a) = K) after five tokens of a paragraph, a the token that really came K later. The budget of all methods is the model calls
that importance sampling spends on the samples. The truth is the sieve's at ten times the budget; its own error is printed. A run
that was stopped goes on where it was. Written: gpt2.jsonl, a line per history and K, and gpt2.json, the table.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import beforehand as bh
from beforehand.models import HuggingFace
from paper.language import DATA, load, passages

HISTORY, HORIZONS, TRUTH = 5, (3, 4, 5), 10
METHODS = ("importance", "beam", "uniform", "sieve")


def main() -> None:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--histories", type=int, default=100)
    options.add_argument("--samples", type=int, default=1_000)
    options.add_argument("--model", help="a model's folder; SmolLM2-135M-Instruct if not given")
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    told = options.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    model = load(told.model)
    rows = every(model, passages(model, told.data, told.histories, HISTORY + max(HORIZONS)), told.samples, told.out / "gpt2.jsonl")
    table = [summary(rows, horizon, len(model.vocabulary)) for horizon in HORIZONS]
    (told.out / "gpt2.json").write_text(
        json.dumps({"samples": told.samples, "histories": len(rows) // 3, "table": table}, indent=1)
    )
    for each in table:
        print(each)


def every(model: HuggingFace, texts: list[list[int]], samples: int, file: Path) -> list[dict[str, Any]]:
    """What is in the file, and what is still missing."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    rows = [row for row in rows if row["samples"] == samples]
    known = {(row["history"], row["horizon"]) for row in rows}
    for number, ids in enumerate(texts):
        for horizon in HORIZONS:
            if (number, horizon) in known:
                continue
            rows.append({"history": number, "horizon": horizon, "samples": samples, **one(model, ids, horizon, samples)})
            with file.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
            print(f"history {number + 1} of {len(texts)}, K = {horizon}", file=sys.stderr, flush=True)
    return [row for row in rows if row["history"] < len(texts)]


def one(model: HuggingFace, ids: list[int], horizon: int, samples: int) -> dict[str, Any]:
    """Relative errors of all methods on one question."""
    question = bh.P(bh.when(model.vocabulary.labels[ids[HISTORY + horizon - 1]]) == horizon)
    history = np.array(ids[:HISTORY])
    importance = bh.ask(model, question, history, method=bh.methods.Importance(samples=samples))
    truth = bh.ask(model, question, history, method="sieve", budget=TRUTH * importance.calls, seed=1)
    found: dict[str, Any] = {"truth": truth.value, "error": truth.standard_error / truth.value, "calls": importance.calls}
    for method in METHODS:
        answer = importance if method == "importance" else bh.ask(model, question, history, method=method, budget=importance.calls)
        found[method] = abs(answer.value - truth.value) / truth.value
    found["entropy"] = bh.restricted_entropy(model, question, history, samples=64).value
    return found


def summary(rows: list[dict[str, Any]], horizon: int, vocabulary: int) -> dict[str, Any]:
    """One row of the table, in per cent."""
    own = [row for row in rows if row["horizon"] == horizon]
    entropy = float(np.mean([row["entropy"] for row in own]))
    medians = {f"{name}_rae_percent": round(100 * float(np.median([row[name] for row in own])), 2) for name in METHODS}
    shares = {
        "restricted_entropy": round(entropy, 2),
        "entropy_percent_of_max": round(100 * entropy / (horizon * math.log(vocabulary)), 2),
    }
    error = {"truth_error_percent": round(100 * float(np.median([row["error"] for row in own])), 2)}
    return {"horizon": horizon, **medians, **shares, **error, "calls": float(np.mean([row["calls"] for row in own]))}


if __name__ == "__main__":
    main()
