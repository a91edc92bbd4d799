"""`read_events`: from a log in any form to sequences, with a report of what was read, what was dropped and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from beforehand.errors import EventsError
from beforehand.events.columns import choose
from beforehand.events.lines import read_lines
from beforehand.events.log import EventLog, assemble
from beforehand.events.report import Report
from beforehand.events.sources import FILE, explained, is_lines, scan
from beforehand.events.times import seconds
from beforehand.events.vocabulary import Vocabulary

Groups = Mapping[str, Iterable[str]] | str | Path


def read_events(
    source: Any,
    *,
    user: str | None = None,
    time: str | None = None,
    event: str | Sequence[str] | None = None,
    query: str | None = None,
    min_count: int = 1,
    complete: bool = False,
    duplicates: str = "keep",
    groups: Groups | None = None,
    vocabulary: Vocabulary | None = None,
    quiet: bool = False,
) -> EventLog:
    """The events of many users, each user's in the order of time; at the same time, in the order of the source.

    `source` is a file (CSV, TSV, JSON lines, Parquet, XES, DuckDB; gzipped ones too), a folder of such, `postgresql://…` with a
    `query`, a data frame of pandas, polars or arrow, or lists of labels. Columns are found by their usual names; `user`, `time`
    and `event` say which they are; several event columns are joined by a space. Events seen less often than `min_count` become
    `other`. `complete=True` says that nothing comes after a user's last event: each sequence gets an `end`. `duplicates="drop"`
    leaves out rows that repeat user, time and event. `groups` names sets of labels for questions: a mapping, or a JSON file of
    one. `vocabulary` is that of a model which the log shall speak of. What was read and dropped is printed, unless `quiet`.

    >>> log = read_events([["view", "cart", "buy"], ["view"]], quiet=True)
    >>> log.labels(0)
    ['view', 'cart', 'buy']
    """
    if min_count < 1 or duplicates not in ("keep", "drop"):
        raise EventsError(f"min_count is 1 or more and duplicates 'keep' or 'drop'; got {min_count!r} and {duplicates!r}")
    options: dict[str, Any] = {"min_count": min_count, "complete": complete, "groups": _groups(groups), "vocabulary": vocabulary}
    if is_lines(source):
        log = _of_lines(Path(source), options)
    elif isinstance(source, list | tuple) or (isinstance(source, Mapping) and not hasattr(source, "columns")):
        log = EventLog.from_sequences(source, complete=complete, groups=options["groups"])
    else:
        log = _of_table(source, query, {"user": user, "time": time, "event": event}, duplicates == "drop", options)
    if not quiet:
        print(log.report, file=sys.stderr)
    return log


def _of_lines(path: Path, options: dict[str, Any]) -> EventLog:
    events, lengths = read_lines(path)
    if not len(events):
        raise EventsError(f"{path} holds no events")
    report = Report(str(path), len(events), len(events), len(lengths))
    return assemble(events, lengths, pl.Series("user", np.arange(len(lengths))), None, report, **options)


def _of_table(source: Any, query: str | None, wanted: dict[str, Any], drop_duplicates: bool, options: dict[str, Any]) -> EventLog:
    table, name = scan(source, query)
    report = Report(name)
    with explained(name):
        names = table.collect_schema().names()
        columns = choose([each for each in names if each != FILE], **wanted)
        parts = [pl.col(column).cast(pl.String) for column in columns["event"]]
        label = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=" ")
        times = [pl.col(column).alias("time") for column in columns["time"]]
        files = [FILE] if FILE in names else []
        frame = table.select(pl.col(columns["user"][0]).alias("user"), label.alias("event"), *times, *files).collect()
    report.columns = {role: " + ".join(each) for role, each in columns.items() if each}
    report.rows = len(frame)
    if files:
        frame = _of_one_file(frame, report)
    frame = _cleaned(frame, report)
    frame = _sorted(frame, report, drop_duplicates)
    if not len(frame):
        dropped = f" ({'; '.join(f'{count:,} {why}' for why, count in report.dropped.items())})" if report.dropped else ""
        raise EventsError(f"{name} holds no events that can be used{dropped}")
    runs = frame["user"].rle().struct.unnest()
    report.kept, report.users = len(frame), len(runs)
    if "time" not in frame:
        report.notes.append("there is no column of times: events are in the order of the rows")
    when = frame["time"].to_numpy() if "time" in frame else None
    return assemble(frame["event"], runs["len"].to_numpy().astype(np.int64), runs["value"].rename("user"), when, report, **options)


def _of_one_file(frame: pl.DataFrame, report: Report) -> pl.DataFrame:
    """Says so if users come up in several files."""
    report.notes.append(f"{frame[FILE].n_unique():,} files were read together")
    shared = int((frame.group_by("user").agg(pl.col(FILE).n_unique())[FILE] > 1).sum())
    if shared:
        report.notes.append(
            f"{shared:,} users come up in several files, and were taken as the same; if they are not, read each apart"
        )
    return frame.drop(FILE)


def _cleaned(frame: pl.DataFrame, report: Report) -> pl.DataFrame:
    """Without rows that miss what is needed."""
    if "time" in frame.columns:
        given = frame["time"]
        parsed = seconds(given, report)
        missing = given.is_null() if given.dtype != pl.String else given.is_null() | (given.str.strip_chars() == "")
        report.drop("no time", int(missing.sum()))
        report.drop("a time that cannot be understood", int((parsed.is_null() & ~missing).sum()))
        frame = frame.with_columns(parsed.alias("time")).filter(pl.col("time").is_not_null())
    for column, why in (("user", "no user"), ("event", "no event")):
        empty = pl.col(column).is_null() | (pl.col(column).cast(pl.String).str.strip_chars() == "")
        report.drop(why, frame.select(empty.sum()).item())
        frame = frame.filter(~empty)
    return frame


def _sorted(frame: pl.DataFrame, report: Report, drop_duplicates: bool) -> pl.DataFrame:
    """By user, in the order in which users first come up, and by time."""
    keys = ["user", "time"] if "time" in frame.columns else ["user"]
    first = pl.col("row").min().over("user").alias("first")
    ordered = frame.with_row_index("row").with_columns(first).sort(["first", *keys[1:], "row"])
    same = pl.all_horizontal(*(pl.col(key) == pl.col(key).shift(1) for key in keys))
    if "time" in frame.columns:
        if int((ordered["row"].diff() < 0).sum()):
            report.notes.append("rows were sorted by user and time")
        ties = ordered.select(same.sum()).item()
        if ties:
            report.notes.append(f"{ties:,} events have the same time as the one before them, and stay in the order of the rows")
        repeated = frame.select(pl.struct("user", "time", "event").is_duplicated().sum()).item()
        if drop_duplicates:
            before = len(ordered)
            ordered = ordered.unique(["user", "time", "event"], keep="first", maintain_order=True)
            report.drop("a repetition of user, time and event", before - len(ordered))
        elif repeated:
            report.notes.append(f"{repeated:,} rows share user, time and event with another; duplicates='drop' keeps one of each")
    return ordered.drop("row", "first")


def _groups(groups: Groups | None) -> Mapping[str, Iterable[str]] | None:
    """A mapping as it is, or that of a JSON file."""
    if groups is None or isinstance(groups, Mapping):
        return groups
    try:
        found = json.loads(Path(groups).read_text())
    except (OSError, ValueError) as error:
        raise EventsError(f"the groups in {groups} cannot be read: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
        raise EventsError(f'{groups} holds groups as a JSON object of lists: {{"social": ["facebook", "mail"]}}')
    return found
