"""The tables of long horizons: which event comes at K, by importance sampling with 10 to 10 000 samples, over all events."""

from __future__ import annotations

import csv
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study
from paper.subjects import SHARED, subject

HORIZONS, SAMPLES = (2, 5, 10, 20, 40, 60, 80, 100), (10, 100, 1_000, 10_000)
TRUTH, LONGEST = 250_000, 100


def cases(size: Size) -> list[Row]:
    """The paper has 100 histories. At the small size ten, and four where the horizon is longest."""
    full = size.name == "full"
    names = size.subjects if full else [name for name in size.subjects if name in ("moocs", "shakespeare")]
    counts = {horizon: 100 if full else 10 if horizon <= 40 else 4 for horizon in HORIZONS}
    return [{"subject": name, "horizon": k, "history": number} for name in names for k in HORIZONS for number in range(counts[k])]


def run(case: Row, size: Size) -> list[Row]:
    """The median over all events of one history; the truth from many samples, and the sieve at the calls of 1 000 samples."""
    who = subject(case["subject"], 100, 1, size.data)
    question, past = bh.event(case["horizon"]), who.past(case["history"])
    most = TRUTH if size.name == "full" else 50_000
    known = bh.ask(who.model, question, past, method=bh.methods.Importance(samples=most), seed=77)
    rows = []
    for samples in SAMPLES if size.name == "full" else SAMPLES[:3]:
        answer = bh.ask(who.model, question, past, method=bh.methods.Importance(samples=samples), seed=case["history"])
        rows.append({"label": who.label, "method": "importance", "samples": samples, **_off(answer, known)})
        sieve = bh.ask(who.model, question, past, method="sieve", budget=max(answer.calls, case["horizon"]), seed=case["history"])
        rows.append({"label": who.label, "method": "sieve", "samples": samples, **_off(sieve, known)})
    return rows


def _off(answer: Any, known: Any) -> Row:
    there = known.value > 0
    error = np.abs(answer.value - known.value)[there] / known.value[there]
    return {"median": float(np.median(error)), "calls": answer.calls}


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Per cent, beside the paper's number and their ratio."""
    ours = rows.group_by("subject", "label", "method", "samples", "horizon", maintain_order=True).agg(
        median=100 * pl.col("median").median()
    )
    return ours.join(_papers(), on=["subject", "method", "samples", "horizon"], how="left").with_columns(
        ratio=pl.col("median") / pl.col("paper")
    )


def _papers() -> pl.DataFrame:
    file = SHARED / "paper" / "long_horizon.csv"
    names = {"subject": pl.String, "method": pl.String, "samples": pl.Int64, "horizon": pl.Int64, "paper": pl.Float64}
    if not file.exists():
        return pl.DataFrame(schema=names)
    with file.open() as lines:
        found = [
            (row["dataset"], row["method"], int(row["samples"]), int(row["horizon"]), float(row["median_rae_percent"]))
            for row in csv.DictReader(lines)
        ]
    return pl.DataFrame(found, schema=names, orient="row")


def chart(rows: pl.DataFrame) -> Any:
    """Error against horizon, one line a number of samples; points are the paper's."""
    base = alt.Chart(table(rows)).encode(x=alt.X("horizon:Q", title="horizon K"), color=alt.Color("samples:O"))
    lines = base.mark_line().encode(y=alt.Y("median:Q", title="median error, %"), strokeDash="method:N")
    return (
        (lines + base.mark_point().encode(y="paper:Q"))
        .properties(width=230, height=160)
        .facet(column=alt.Column("label:N", title=None))
    )


STUDY = Study("long_horizon", __doc__, cases, run, table, chart)
