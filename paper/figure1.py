"""Figure 1: when a sentence ends, for four beginnings, by naive simulation, importance sampling and the sieve at equal cost.

python paper/figure1.py [--calls 3000] [--seeds 8] [--out paper/results]

The paper asks GPT-2 medium; its text names one of its four beginnings, the first. Written: figure1.json, .png and .svg.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import beforehand as bh
from beforehand.answers.plots import write
from beforehand.models import HuggingFace
from paper.language import load

BEGINNINGS = ("In my opinion, ", "The capital of France is", "Once upon a time", "My name is")
QUESTION, HORIZON = 'when(token containing ".") within 30', 30
METHODS = ("naive", "importance", "sieve")


def main() -> None:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", type=int, default=3_000, help="model calls of one run")
    options.add_argument("--seeds", type=int, default=8, help="runs that the variance is read from")
    options.add_argument("--model", help="a model's folder; SmolLM2-135M-Instruct if not given")
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    told = options.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    model, found = load(told.model), []
    for beginning in BEGINNINGS:
        found.append(measured(model, beginning, told.calls, told.seeds))
        print(line(found[-1]), flush=True)
    (told.out / "figure1.json").write_text(json.dumps({"calls": told.calls, "seeds": told.seeds, "beginnings": found}, indent=1))
    draw(told.out)


def draw(out: Path) -> None:
    """The figure, from what was written before."""
    found = json.loads((out / "figure1.json").read_text())["beginnings"]
    for kind in ("png", "svg"):
        write(chart(found), str(out / f"figure1.{kind}"))


def measured(model: HuggingFace, beginning: str, calls: int, seeds: int) -> dict[str, Any]:
    """The distribution by every method, averaged over the seeds, and its variance at each step for the calls that were spent."""
    about: dict[str, Any] = {"beginning": beginning}
    for method in METHODS:
        answers = [bh.ask(model, QUESTION, beginning, method=method, budget=calls, seed=seed) for seed in range(seeds)]
        values, spent = np.array([each.value for each in answers]), float(np.mean([each.calls for each in answers]))
        about[method] = {
            "mean": values.mean(0).tolist(),
            "variance": values.var(0, ddof=1).tolist(),
            "calls": spent,
            "seconds": float(np.mean([each.seconds for each in answers])),
        }
    return about


def line(found: dict[str, Any]) -> str:
    """Variance at equal calls, summed over the steps, against naive simulation's."""
    cost = {name: sum(found[name]["variance"]) * found[name]["calls"] for name in METHODS}
    ratios = ", ".join(f"{name} {cost['naive'] / cost[name]:.1f} times less" for name in METHODS[1:])
    ended = sum(found["sieve"]["mean"])
    return f"{found['beginning']!r}: ended within {HORIZON} tokens {ended:.2f}; variance than naive simulation's: {ratios}"


def chart(found: list[dict[str, Any]]) -> alt.Chart:
    """The four distributions, with two standard deviations of one run."""
    rows = [
        {
            "beginning": each["beginning"],
            "method": name,
            "tokens": k + 1,
            "probability": mean,
            "low": max(0.0, mean - 2 * sd),
            "high": mean + 2 * sd,
        }
        for each in found
        for name in METHODS
        for k, (mean, sd) in enumerate(zip(each[name]["mean"], np.sqrt(each[name]["variance"]), strict=True))
    ]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("tokens:Q", title="tokens until the sentence ends"), color=alt.Color("method:N", sort=list(METHODS))
    )
    band = base.mark_area(opacity=0.25).encode(y=alt.Y("low:Q", title="probability"), y2="high:Q")
    lines = base.mark_line().encode(y="probability:Q")
    each = alt.Facet("beginning:N", title=None, sort=list(BEGINNINGS), header=alt.Header(labelFontSize=13))
    faceted = (band + lines).properties(width=320, height=150).facet(each, columns=2).resolve_scale(y="independent")
    return faceted.configure_axis(grid=False)  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
