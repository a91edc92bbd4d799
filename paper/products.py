"""How errors add up when a question is answered set product by set product, and when it is one automaton."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, fit
from paper.subjects import subject

TERMS, SAMPLES = (1, 2, 4, 8, 16), 100


def cases(size: Size) -> list[Row]:
    """One for each data set and past."""
    return [{"subject": name, "history": number} for name in size.subjects for number in range(size.histories)]


def run(case: Row, size: Size) -> list[Row]:
    """P(a within m) as the sum of P(τ(a) = k) for k up to m, each from samples of its own; and by one run of the sieve at the calls
    that all of them took together."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    event, past = who.event(case["history"], 2), who.past(case["history"])
    method, rows, total, calls = bh.methods.Importance(samples=SAMPLES), list[Row](), 0.0, 0
    for k in range(1, max(TERMS) + 1):
        found = bh.ask(who.model, bh.P(bh.when(event) == k), past, method=method, seed=1_000 * case["history"] + k)
        total, calls = total + found.value, calls + found.calls
        if k not in TERMS:
            continue
        question = bh.P(bh.occurs(event).within(k))
        known = bh.ask(who.model, question, past, method="sieve", budget=40_000, seed=7).value
        one = bh.ask(who.model, question, past, method="sieve", budget=max(calls, 2 * k), seed=case["history"])
        rows.append({"label": who.label, "terms": k, "sum": abs(total - known), "one": abs(one.value - known)})
    return rows


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute errors; the exponent of their growth with the number of products stands in the last column."""
    means = rows.group_by("label", "terms", maintain_order=True).agg(pl.col("sum").mean(), pl.col("one").mean())
    growth = {}
    for (label,), own in means.group_by("label"):
        later = own.filter((pl.col("terms") > 1) & (pl.col("sum") > 0))
        growth[label] = (
            fit(np.log(later["terms"].to_numpy()).tolist(), np.log(later["sum"].to_numpy()).tolist())[0] if len(later) > 2 else None
        )
    return means.with_columns(growth=pl.col("label").replace_strict(growth, return_dtype=pl.Float64))


def chart(rows: pl.DataFrame) -> Any:
    """Straight lines are linear growth."""
    long = table(rows).unpivot(["sum", "one"], index=["label", "terms"], variable_name="way", value_name="error")
    base = alt.Chart(long).encode(
        x=alt.X("terms:Q", title="set products"), y=alt.Y("error:Q", title="mean absolute error"), color="way:N"
    )
    return (
        base.mark_line(point=True)
        .properties(width=230, height=160)
        .facet(column=alt.Column("label:N", title=None))
        .resolve_scale(y="independent")
    )


STUDY = Study("products", __doc__, cases, run, table, chart)
