"""The more of a past is of one kind, the likelier that kind comes first again: the study of social media before messages.

With the records of Mobile Apps (`lsapp.tsv`) these are apps of social media and of messages; without them, courses: videos and
problems cannot be told apart by their numbers there, so the commonest and the next commonest quarter of the events stand in.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import beforehand as bh
from paper.study import Row, Size, Study, fit
from paper.subjects import subject

SHARES, LENGTH, STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), 10, 60
SOCIAL = ("Facebook", "Instagram", "Twitter", "Snapchat", "Pinterest", "Reddit", "Tumblr", "LinkedIn")
MESSAGES = ("Messages", "Messenger", "WhatsApp", "Gmail", "Phone", "Hangouts", "Skype", "Google Duo", "Email")


def cases(size: Size) -> list[Row]:
    """The paper has 500 pasts for each share."""
    count = 500 if size.name == "full" else 30
    name = "apps" if (size.data / "lsapp" / "lsapp.tsv").exists() else "moocs"
    return [{"subject": name, "share": share, "history": number} for share in SHARES for number in range(count)]


def run(case: Row, size: Size) -> list[Row]:
    """A past that is made up: so many events of the first kind, the others of the second, in random order."""
    who = subject(case["subject"], 400, 1, size.data)
    first, second = _kinds(who.texts, who.model.vocabulary.labels, case["subject"])
    random = np.random.default_rng([case["history"], int(100 * case["share"])])
    count = round(LENGTH * case["share"])
    past = [*random.choice(first, count), *random.choice(second, LENGTH - count)]
    random.shuffle(past)
    question = bh.P(bh.occurs(first).before(second).within(STEPS))
    found = bh.ask(who.model, question, past, budget=1_000, seed=case["history"])
    return [{"label": who.label, "probability": found.value, "open": found.undecided}]


def _kinds(texts: list[list[int]], labels: tuple[str, ...], name: str) -> tuple[list[str], list[str]]:
    if name == "apps":
        return [each for each in SOCIAL if each in labels], [each for each in MESSAGES if each in labels]
    counts = [labels[event] for event, _ in Counter(event for text in texts for event in text).most_common()]
    quarter = len(counts) // 4
    return counts[:quarter:2], counts[1:quarter:2]


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Means with their 90 % intervals, and the slope of the line through them."""
    slope = fit(rows["share"].to_list(), rows["probability"].to_list())[0]
    half = 1.645 * pl.col("probability").std() / pl.len().sqrt()
    mean = pl.col("probability").mean()
    means = rows.group_by("label", "share", maintain_order=True).agg(probability=mean, low=mean - half, high=mean + half)
    return means.with_columns(slope=pl.lit(slope))


def chart(rows: pl.DataFrame) -> Any:
    """Bars of the intervals."""
    base = alt.Chart(table(rows)).encode(x=alt.X("share:Q", title="share of the first kind in the past", axis=alt.Axis(format="%")))
    bars = base.mark_rule().encode(y=alt.Y("low:Q", title="the first kind comes first"), y2="high:Q")
    return (bars + base.mark_line(point=True).encode(y="probability:Q")).properties(width=360, height=220)


STUDY = Study("habits", __doc__, cases, run, table, chart)
