"""Figure 3 and its appendix: error against horizon at three budgets, estimates beside the truth, and how often intervals hold."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, beside_hybrid, relative, truth
from paper.subjects import subject

METHODS = ("importance", "beam", "hybrid", "sieve")


def cases(size: Size) -> list[Row]:
    """One for each data set, past and horizon."""
    return [
        {"subject": name, "history": number, "horizon": horizon}
        for name in size.subjects
        for horizon in size.horizons
        for number in range(size.histories)
    ]


def run(case: Row, size: Size) -> list[Row]:
    """The budget of all is what the hybrid spends with so many samples."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    question = bh.P(bh.when(who.event(case["history"], case["horizon"])) == case["horizon"])
    past = who.past(case["history"])
    known = truth(who.model, question, past, case["horizon"], size.truth)
    found = beside_hybrid(who.model, question, past, ("importance", "beam", "sieve"), size.samples, case["history"])
    return [{"label": who.label, **known, **each} for each in found]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Median and mean error in per cent, and coverage."""
    return (
        relative(rows)
        .group_by("label", "samples", "horizon", "method", maintain_order=True)
        .agg(
            median=100 * pl.col("error").median(),
            mean=100 * pl.col("error").mean(),
            coverage=100 * pl.col("covered").mean(),
            calls=pl.col("calls").mean(),
        )
        .sort("label", "samples", "horizon", "method")
    )


def chart(rows: pl.DataFrame) -> Any:
    """Median error by horizon."""
    return _by_horizon(rows, "median")


def means(rows: pl.DataFrame) -> Any:
    """Mean error by horizon."""
    return _by_horizon(rows, "mean")


def _by_horizon(rows: pl.DataFrame, average: str) -> Any:
    encoded = alt.Chart(table(rows)).encode(
        x=alt.X("horizon:Q", title="horizon K"),
        y=alt.Y(f"{average}:Q", title=f"{average} error, %", scale=alt.Scale(type="symlog", constant=0.5)),
        color=alt.Color("method:N", sort=list(METHODS)),
    )
    return (
        encoded.mark_line(point=True)
        .properties(width=210, height=150)
        .facet(row="samples:N", column=alt.Column("label:N", title=None))
    )


def scatter(rows: pl.DataFrame) -> Any:
    """Every estimate beside the truth, of the courses; on the line they agree."""
    low = 1e-6
    own = rows.filter((pl.col("subject") == rows["subject"][0]) & pl.col("horizon").is_in([3, 5, 7, 9, 11]))
    data = own.with_columns(pl.col("truth", "estimate").clip(low, 1)).select("truth", "estimate", "method", "samples", "horizon")
    log: dict[str, Any] = {
        "scale": alt.Scale(type="log", domain=[low, 1]),
        "axis": alt.Axis(grid=False, values=[1e-6, 1e-4, 1e-2, 1], format="~e"),
    }
    base = alt.Chart(data)
    agree = base.mark_line(color="lightgray").encode(x=alt.X("truth:Q", **log), y=alt.Y("truth:Q", **log, title="estimate"))
    points = base.mark_circle(size=16, opacity=0.6).encode(x="truth:Q", y="estimate:Q", color=alt.Color("samples:O"))
    return (agree + points).properties(width=120, height=120).facet(row=alt.Row("method:N", sort=list(METHODS)), column="horizon:O")


STUDY = Study("errors", __doc__, cases, run, table, chart, {"mean": means, "scatter": scatter})
