"""Figure 4a: error against restricted entropy, question by question, with straight lines fitted."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, errors, fit, relative, truth
from paper.subjects import subject

HORIZONS, SAMPLES = (3, 4, 5, 7), 100


def cases(size: Size) -> list[Row]:
    """One for each data set, past and horizon."""
    count = size.histories
    return [{"subject": name, "history": i, "horizon": k} for name in size.subjects for k in HORIZONS for i in range(count)]


def run(case: Row, size: Size) -> list[Row]:
    """Importance, beam and sieve at the hybrid's calls; the entropy from 500 draws of the proposal."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    question = bh.P(bh.when(who.event(case["history"], case["horizon"])) == case["horizon"])
    past = who.past(case["history"])
    known = truth(who.model, question, past, case["horizon"], size.truth)
    entropy = bh.restricted_entropy(who.model, question, past, samples=500).value
    calls = bh.ask(who.model, question, past, method=bh.methods.Hybrid(samples=SAMPLES), seed=case["history"]).calls
    found = errors(who.model, question, past, ("importance", "beam", "sieve"), calls, case["history"])
    return [{"label": who.label, "entropy": entropy, **known, **each} for each in found]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """The slope of the error in per cent per nat, and the correlation."""
    found = []
    for (label, method), own in relative(rows).group_by("label", "method", maintain_order=True):
        slope, correlation = fit(own["entropy"].to_list(), (100 * own["error"]).to_list())
        found.append({"label": label, "method": method, "slope": slope, "correlation": correlation, "questions": len(own)})
    return pl.DataFrame(found)


def chart(rows: pl.DataFrame) -> Any:
    """A point a question."""
    data = relative(rows).with_columns(error=(100 * pl.col("error")).clip(0, 150))
    base = alt.Chart(data).encode(
        x=alt.X("entropy:Q", title="restricted entropy, nats"), y=alt.Y("error:Q", title="error, %"), color="method:N"
    )
    points = base.mark_circle(size=14, opacity=0.5)
    lines = base.transform_regression("entropy", "error", groupby=["method", "label"]).mark_line()
    return (points + lines).properties(width=230, height=170).facet(column=alt.Column("label:N", title=None))


STUDY = Study("entropy", __doc__, cases, run, table, chart)
