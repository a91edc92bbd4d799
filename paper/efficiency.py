"""Figure 5: how much less the variance of one importance sample is than that of one simulated future, over all events."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study
from paper.subjects import subject

SAMPLES = 4_000


def cases(size: Size) -> list[Row]:
    """K from 4 to 15."""
    horizons = range(4, 16) if size.name == "full" else (4, 6, 8, 11, 15)
    return [
        {"subject": name, "horizon": k, "history": i} for name in size.subjects for k in horizons for i in range(size.histories)
    ]


def run(case: Row, size: Size) -> list[Row]:
    """p(1 − p) over the variance of a sample, the median over the events that can come at all."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    method = bh.methods.Importance(samples=SAMPLES)
    answer = bh.ask(who.model, bh.event(case["horizon"]), who.past(case["history"]), method=method, seed=case["history"])
    variance, p = answer.standard_error**2 * SAMPLES, answer.value
    there = (variance > 0) & (p > 0)
    return [{"label": who.label, "efficiency": float(np.median((p * (1 - p))[there] / variance[there]))}]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Medians over histories, in per cent of naive simulation."""
    each = rows.group_by("label", "horizon", maintain_order=True)
    return each.agg(efficiency=100 * pl.col("efficiency").median()).sort("label", "horizon")


def chart(rows: pl.DataFrame) -> Any:
    """One line a data set; naive simulation is 100 %."""
    base = alt.Chart(table(rows)).encode(x=alt.X("horizon:Q", title="horizon K"), color=alt.Color("label:N", title=None))
    axis = alt.Y("efficiency:Q", title="relative efficiency, %", scale=alt.Scale(type="log"))
    return base.mark_line(point=True).encode(y=axis).properties(width=380, height=220)


STUDY = Study("efficiency", __doc__, cases, run, table, chart)
