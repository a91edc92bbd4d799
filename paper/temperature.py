"""Figure 4b and its appendix: error at K = 4 as the temperature rises, for all data sets."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, errors, relative, truth
from paper.subjects import subject

TEMPERATURES, HORIZON = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0), 4


def cases(size: Size) -> list[Row]:
    """One for each data set, past and temperature."""
    count = size.histories if size.name == "full" else size.histories // 2
    return [
        {"subject": name, "temperature": temperature, "history": number}
        for name in size.subjects
        for temperature in TEMPERATURES
        for number in range(count)
    ]


def run(case: Row, size: Size) -> list[Row]:
    """Without a lookahead, which was distilled from the model at temperature one."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    model = bh.Tempered(who.model.model, case["temperature"])
    question, past = bh.P(bh.when(who.event(case["history"], HORIZON)) == HORIZON), who.past(case["history"])
    known = truth(model, question, past, HORIZON, size.truth)
    if known["truth"] < 1e-12:
        return []
    calls = bh.ask(model, question, past, method=bh.methods.Hybrid(samples=100), seed=case["history"]).calls
    found = errors(model, question, past, ("importance", "beam", "sieve"), calls, case["history"])
    return [{"label": who.label, **known, **each} for each in found]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Median and quartiles, in per cent."""
    shares = {"median": 0.5, "lower": 0.25, "upper": 0.75}
    own = {name: 100 * pl.col("error").quantile(share, "linear") for name, share in shares.items()}
    return relative(rows).group_by("label", "temperature", "method", maintain_order=True).agg(**own)


def chart(rows: pl.DataFrame) -> Any:
    """Medians, and the middle half."""
    base = alt.Chart(table(rows)).encode(x=alt.X("temperature:Q"), color="method:N")
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("lower:Q", title="median error, %"), y2="upper:Q")
    return (
        (band + base.mark_line(point=True).encode(y="median:Q"))
        .properties(width=230, height=160)
        .facet(column=alt.Column("label:N", title=None))
    )


STUDY = Study("temperature", __doc__, cases, run, table, chart)
