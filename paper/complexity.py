"""What exact answers about Markov models cost, beside the formulas: V^(m+1) for each step of order m."""

from __future__ import annotations

import time
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, fit

SHAPES = ((1, 50), (1, 100), (1, 200), (1, 400), (1, 800), (2, 10), (2, 20), (2, 40), (2, 80), (3, 6), (3, 12), (3, 24))
STEPS = (50, 100, 200, 400)


def cases(size: Size) -> list[Row]:
    """Orders and vocabularies at 100 steps, and steps at one shape."""
    shapes = [{"order": order, "vocabulary": vocabulary, "steps": 100} for order, vocabulary in SHAPES]
    return shapes + [{"order": 1, "vocabulary": 300, "steps": steps} for steps in STEPS]


def run(case: Row, size: Size) -> list[Row]:
    """The least of three times of a hitting-time question, each with an event of its own, so that nothing is remembered."""
    order, vocabulary = case["order"], case["vocabulary"]
    table = np.random.default_rng(0).dirichlet(np.ones(vocabulary), size=(vocabulary,) * order)
    labels = [f"e{i}" for i in range(vocabulary)]
    model, seconds = bh.Markov.from_table(table, bh.Vocabulary(labels)), []
    for event in range(3):
        begun = time.perf_counter()
        bh.ask(model, bh.P(bh.when(f"e{event}") == case["steps"]), labels[:order], method="exact")
        seconds.append(time.perf_counter() - begun)
    return [{"milliseconds": 1_000 * min(seconds), "formula": (case["steps"] - 1) * float(vocabulary ** (order + 1))}]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Times, and the exponent of their growth with what the formula says, over the shapes of an order."""
    growth = {}
    for (order,), own in rows.filter(pl.col("steps") == 100).group_by("order"):
        largest = own.sort("formula").tail(3)
        growth[order] = fit(np.log(largest["formula"].to_numpy()).tolist(), np.log(largest["milliseconds"].to_numpy()).tolist())[0]
    return rows.with_columns(growth=pl.col("order").replace_strict(growth, return_dtype=pl.Float64))


def chart(rows: pl.DataFrame) -> Any:
    """Time against the formula; a slope of one is agreement."""
    base = alt.Chart(rows).encode(
        x=alt.X("formula:Q", title="(K − 1) · V^(m + 1)", scale=alt.Scale(type="log")),
        y=alt.Y("milliseconds:Q", scale=alt.Scale(type="log")),
        color=alt.Color("order:O", title="order m"),
    )
    return base.mark_line(point=True).properties(width=360, height=220)


STUDY = Study("complexity", __doc__, cases, run, table, chart)
