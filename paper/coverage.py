"""How many beams a coverage search needs, step by step."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study
from paper.subjects import subject

SHARES, STEPS, MOST = (0.5, 0.75, 0.95), 7, 60_000


def cases(size: Size) -> list[Row]:
    """Shakespeare, as in the paper, with each share of the mass."""
    count = 20 if size.name == "full" else 8
    return [{"share": share, "history": number} for share in SHARES for number in range(count)]


def run(case: Row, size: Size) -> list[Row]:
    """The beams of a step are the calls that one step more costs; until there are too many."""
    who = subject("shakespeare", 100, 1, size.data)
    rows, before = list[Row](), 0
    for step in range(2, STEPS + 1):
        try:
            method = bh.methods.Coverage(case["share"])
            calls = bh.ask(who.model, bh.event(step), who.past(case["history"]), method=method, budget=MOST).calls
        except bh.errors.BeforehandError:
            break
        if calls >= MOST:
            break
        rows.append({"step": step - 1, "beams": calls - before})
        before = calls
    return rows


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """The geometric mean, of the histories that got so far."""
    found = rows.filter(pl.col("beams") > 0).group_by("share", "step", maintain_order=True)
    return found.agg(beams=pl.col("beams").log().mean().exp(), histories=pl.len()).sort("share", "step")


def chart(rows: pl.DataFrame) -> Any:
    """On a logarithmic axis, where exponential growth is a line."""
    base = alt.Chart(table(rows)).encode(x=alt.X("step:O"), color=alt.Color("share:O", title="share of the mass"))
    return base.mark_line(point=True).encode(y=alt.Y("beams:Q", scale=alt.Scale(type="log"))).properties(width=320, height=200)


STUDY = Study("coverage", __doc__, cases, run, table, chart)
