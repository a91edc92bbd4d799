"""What is left open of "A before B" when one looks K steps ahead."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study
from paper.subjects import subject

LONGEST = 60


def cases(size: Size) -> list[Row]:
    """One for each data set and past."""
    return [{"subject": name, "history": number} for name in size.subjects for number in range(size.histories)]


def run(case: Row, size: Size) -> list[Row]:
    """A is what came next but one, B another event of the same past or future; both directions and every K from one run."""
    who = subject(case["subject"], size.histories, max(size.horizons), size.data)
    text, labels = who.texts[case["history"]], who.model.vocabulary.labels
    first = text[6]
    others = [event for event in text if event != first]
    second = (
        others[int(np.random.default_rng(case["history"]).integers(len(others)))] if others else (first + 1) % (len(labels) - 1)
    )
    question = bh.P(bh.occurs(labels[first]).before(labels[second]).within(LONGEST))
    found = bh.resolving(who.model, question, who.past(case["history"]), budget=3_000, seed=case["history"])
    return [{"label": who.label, "steps": step + 1, "open": float(left)} for step, left in enumerate(found.open)]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Means, with the 99 % interval of the mean over histories."""
    each = rows.group_by("label", "steps", maintain_order=True)
    half = 2.576 * pl.col("open").std() / pl.len().sqrt()
    return each.agg(open=pl.col("open").mean(), low=pl.col("open").mean() - half, high=pl.col("open").mean() + half).sort(
        "label", "steps"
    )


def chart(rows: pl.DataFrame) -> Any:
    """One line a data set."""
    base = alt.Chart(table(rows)).encode(x=alt.X("steps:Q", title="steps K"), color=alt.Color("label:N", title=None))
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title="probability left open"), y2="high:Q")
    return (band + base.mark_line().encode(y="open:Q")).properties(width=380, height=220)


STUDY = Study("before", __doc__, cases, run, table, chart)
