"""Error against budget at K = 3, 7 and 11, for all of the paper's methods and the sieve."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

import beforehand as bh
from paper.errors import METHODS
from paper.study import Row, Size, Study, beside_hybrid, relative, truth
from paper.subjects import subject

HORIZONS = (3, 7, 11)
SAMPLES = (10, 30, 50, 100, 300, 500, 1_000, 3_000, 5_000, 10_000)
FEWER = (10, 30, 100, 300, 1_000)


def cases(size: Size) -> list[Row]:
    """One for each data set, past and horizon."""
    count = size.histories if size.name == "full" else size.histories // 2
    return [{"subject": name, "history": i, "horizon": k} for name in size.subjects for k in HORIZONS for i in range(count)]


def run(case: Row, size: Size) -> list[Row]:
    """The budget of all is what the hybrid spends."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    question = bh.P(bh.when(who.event(case["history"], case["horizon"])) == case["horizon"])
    past = who.past(case["history"])
    known = truth(who.model, question, past, case["horizon"], size.truth)
    samples, others = SAMPLES if size.name == "full" else FEWER, ("importance", "beam", "uniform", "naive", "sieve")
    found = beside_hybrid(who.model, question, past, others, samples, case["history"])
    return [{"label": who.label, **known, **each} for each in found]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Median and mean, in per cent."""
    each = relative(rows).group_by("label", "horizon", "samples", "method", maintain_order=True)
    return each.agg(median=100 * pl.col("error").median(), mean=100 * pl.col("error").mean(), calls=pl.col("calls").mean())


def chart(rows: pl.DataFrame) -> Any:
    """Both axes logarithmic."""
    clipped = table(rows).with_columns(median=pl.col("median").clip(0.1, 1_000))
    base = alt.Chart(clipped).encode(
        x=alt.X("samples:Q", title="samples of the hybrid", scale=alt.Scale(type="log")),
        y=alt.Y("median:Q", title="median error, %", scale=alt.Scale(type="log")),
        color=alt.Color("method:N", sort=[*METHODS, "uniform", "naive"]),
    )
    return (
        base.mark_line(point=True)
        .properties(width=210, height=150)
        .facet(row="horizon:O", column=alt.Column("label:N", title=None))
    )


STUDY = Study("budgets", __doc__, cases, run, table, chart)
