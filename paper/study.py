"""One experiment: cases that are run one by one, kept as they are done, and summed up in a table and a chart."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import beforehand as bh
from beforehand.answers.plots import write

Row = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """How much is done: as in the paper, or as much as two cores do in some minutes."""

    name: str
    subjects: tuple[str, ...]
    histories: int
    horizons: tuple[int, ...]
    samples: tuple[int, ...]
    truth: int  # samples of the surrogate truth at most
    data: Path

    def path(self, root: Path) -> Path:
        """Where its results are."""
        return root / self.name


SMALL = {"histories": 20, "horizons": (3, 4, 5, 7, 9, 11), "samples": (10, 100), "truth": 30_000}
FULL = {"histories": 1_000, "horizons": tuple(range(3, 12)), "samples": (10, 100, 1_000), "truth": 100_000}


@dataclass(frozen=True)
class Study:
    """What one file of an experiment gives."""

    name: str
    about: str
    cases: Callable[[Size], list[Row]]
    run: Callable[[Row, Size], list[Row]]
    table: Callable[[pl.DataFrame], pl.DataFrame]
    chart: Callable[[pl.DataFrame], Any]
    more: Mapping[str, Callable[[pl.DataFrame], Any]] = field(default_factory=dict)  # further charts, by name


def carry_out(study: Study, size: Size, root: Path) -> pl.DataFrame:
    """Runs what is not done yet; writes the rows as Parquet, the table as CSV and the chart as PNG and SVG."""
    folder = size.path(root)
    folder.mkdir(parents=True, exist_ok=True)
    parts = folder / f"{study.name}.jsonl"
    done = _kept(parts)
    known = {json.dumps(each["case"], sort_keys=True) for each in done}
    cases = study.cases(size)
    left = [case for case in cases if json.dumps(case, sort_keys=True) not in known]
    columns = (TextColumn(study.name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar, parts.open("a") as out:
        task = bar.add_task("", total=len(cases), completed=len(cases) - len(left))
        for case in left:
            done.append({"case": case, "rows": study.run(case, size)})
            out.write(json.dumps(done[-1]) + "\n")
            out.flush()
            bar.advance(task)
    rows = pl.DataFrame([each["case"] | row for each in done for row in each["rows"]], infer_schema_length=None)
    rows.write_parquet(folder / f"{study.name}.parquet")
    written(study, rows, folder)
    return rows


def _kept(parts: Path) -> list[Row]:
    """The cases that were finished; a line that was cut off by a kill is taken away."""
    if not parts.exists():
        return []
    content = parts.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(parts, whole)
    return [json.loads(line) for line in content[:whole].splitlines()]


def written(study: Study, rows: pl.DataFrame, folder: Path) -> None:
    """The table and the charts of what was found."""
    study.table(rows).write_csv(folder / f"{study.name}.csv", float_precision=4)
    for name, draw in {study.name: study.chart, **{f"{study.name}-{each}": draw for each, draw in study.more.items()}}.items():
        for kind in ("png", "svg"):
            write(draw(rows), str(folder / f"{name}.{kind}"))


def truth(model: Any, question: Any, past: Any, horizon: int, most: int) -> Row:
    """Exact up to four steps; else as the paper does: 10 000 samples, and the most if their variance is above 1e-7. (That is the
    samples' variance, which does not fall with their number: adding 1 000 at a time ends at one or the other.) And the sieve's."""
    calls = len(model.vocabulary) ** (horizon - 1)
    if horizon <= 4 and calls <= 2_000_000:
        return {"truth": bh.ask(model, question, past, method=bh.methods.Exact(limit=2 * calls + 1)).value, "truth_error": 0.0}
    first = bh.ask(model, question, past, method=bh.methods.Importance(samples=min(10_000, most)), seed=77)
    if first.standard_error**2 * 10_000 > 1e-7 and most > 10_000:
        first = bh.ask(model, question, past, method=bh.methods.Importance(samples=most), seed=78)
    sieve = bh.ask(model, question, past, method="sieve", budget=20_000, seed=79)
    return {
        "truth": first.value,
        "truth_error": first.standard_error,
        "truth_sieve": sieve.value,
        "truth_sieve_error": sieve.standard_error,
    }


def errors(model: Any, question: Any, past: Any, methods: Sequence[str], calls: int, seed: int) -> list[Row]:
    """The answers of several methods at one budget."""
    return [_row(method, bh.ask(model, question, past, method=method, budget=max(calls, 2), seed=seed)) for method in methods]


def beside_hybrid(model: Any, question: Any, past: Any, methods: Sequence[str], samples: Sequence[int], seed: int) -> Iterator[Row]:
    """The hybrid with so many samples, and the other methods at the calls that it spent."""
    for count in samples:
        hybrid = bh.ask(model, question, past, method=bh.methods.Hybrid(samples=count), seed=seed)
        for row in (*errors(model, question, past, methods, hybrid.calls, seed), _row("hybrid", hybrid)):
            yield {"samples": count, **row}


def _row(method: str, answer: Any) -> Row:
    return {"method": method, "estimate": answer.value, "low": answer.low, "high": answer.high, "calls": answer.calls}


def relative(rows: pl.DataFrame) -> pl.DataFrame:
    """With the relative absolute error, and whether the interval holds the truth."""
    slack = 3 * pl.col("truth_error")
    return rows.with_columns(
        error=(pl.col("estimate") - pl.col("truth")).abs() / pl.col("truth"),
        covered=(pl.col("low") - slack <= pl.col("truth")) & (pl.col("truth") <= pl.col("high") + slack),
    )


def fit(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """The slope of a line, and the correlation."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    square_x, square_y = (sum((a - m) ** 2 for a in v) for v, m in ((x, mean_x), (y, mean_y)))
    return both / square_x, both / math.sqrt(square_x * square_y) if square_y else 0.0
