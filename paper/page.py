"""The page that shows ours beside the paper's, made from the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from paper.study import Study

HEAD = """# The paper, reproduced

Boyd, Showalter, Mandt and Smyth, "Predictive Querying for Autoregressive Neural Sequence Models" (NeurIPS 2022). Made by
`python -m paper page` from the results beside it; `python -m paper run all` makes those (`--size full`: as many as the paper).
Courses (moocs) and Shakespeare are asked of the paper's released weights. Reviews and Mobile Apps are not to be had here:
amazon's 16 categories and taobao's 17 stand in, with models trained here, and are called by their names.
"""


def built(studies: Mapping[str, Study], results: Path) -> str:
    """All that there is at the small size."""
    parts, remarks = [HEAD], _remarks()
    for name, study in studies.items():
        folder = results / "small"
        if not (folder / f"{name}.csv").exists():
            parts.append(f"## {name}\n\n{study.about}\n\nNot run yet.\n")
            continue
        table = pl.read_csv(folder / f"{name}.csv")
        charts = [name, *(f"{name}-{each}" for each in study.more)]
        shown = "\n\n".join(f"![{each}](results/small/{each}.svg)" for each in charts)
        remark = f"{remarks[name]}\n\n" if name in remarks else ""
        parts.append(f"## {name}\n\n{study.about}\n\n{remark}{shown}\n\n{markdown(brief(table))}")
    parts += [_figure1(results), _gpt2(results)]
    return "\n".join(part for part in parts if part)


def _remarks() -> dict[str, str]:
    """What is said of each experiment, by its name."""
    sections = Path(__file__).with_name("remarks.md").read_text().split("\n## ")[1:]
    return {name: text.strip() for name, _, text in (section.partition("\n") for section in sections)}


def brief(table: pl.DataFrame) -> pl.DataFrame:
    """Methods side by side, and of many steps a few; the whole table stands in the .csv."""
    if {"method", "median"} <= set(table.columns) and "paper" not in table.columns:
        index = [name for name in ("label", "samples", "horizon", "temperature") if name in table.columns]
        return table.pivot("method", index=index, values="median").sort(index)
    if "open" in table.columns:
        few = table.filter(pl.col("steps").is_in([1, 2, 5, 10, 20, 30, 60]))
        return few.pivot("label", index="steps", values="open").sort("steps")
    return table


def markdown(table: pl.DataFrame, most: int = 100) -> str:
    """A table, its beginning if it is long."""
    names = table.columns
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(map(_shown, row)) + " |" for row in table.head(most).iter_rows()]
    left = f"\n… and {len(table) - most} more rows in the .csv.\n" if len(table) > most else ""
    return "\n".join(lines) + "\n" + left


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def _figure1(results: Path) -> str:
    file = results / "figure1.json"
    if not file.exists():
        return ""
    found = json.loads(file.read_text())
    rows = []
    for each in found["beginnings"]:
        cost = {name: sum(each[name]["variance"]) * each[name]["calls"] for name in ("naive", "importance", "sieve")}
        rows.append(f"| {each['beginning']!r} | {cost['naive'] / cost['importance']:.1f} | {cost['naive'] / cost['sieve']:.1f} |")
    head = f"""## Figure 1, with SmolLM2-135M-Instruct in the place of GPT-2 medium

When the sentence ends, within 30 tokens, at {found["calls"]:,} calls; by how much the variance, summed over the steps and
from {found["seeds"]} runs, is less than naive simulation's at equal calls. The paper says 6 for importance sampling.

![figure 1](results/figure1.svg)

| beginning | importance | sieve |
|---|---|---|
"""
    return head + "\n".join(rows) + "\n"


def _gpt2(results: Path) -> str:
    file = results / "gpt2.json"
    if not file.exists():
        return ""
    found = json.loads(file.read_text())
    head = f"""## The table of GPT-2 on WikiText-2, with SmolLM2-135M-Instruct

Median relative error in per cent, {found["histories"]} histories, the calls of {found["samples"]} importance samples.
In the paper (GPT-2 medium, 100 histories, 1 000 samples): importance 11.4, 13.4, 13.5; beam 51.3, 82.4, 93.6;
uniform 99.4, 100.0, 100.0; entropy 41.3, 40.7, 40.4 % of its most.

"""
    return head + markdown(pl.DataFrame(found["table"]))
