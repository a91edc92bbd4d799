"""Process logs in XES: each trace a user, each of its events a row. Read as a stream, gzipped or not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import polars as pl

from beforehand.errors import EventsError

CASE, NAME, TIME, LIFECYCLE = "case:concept:name", "concept:name", "time:timestamp", "lifecycle:transition"


def read_xes(path: Path) -> pl.DataFrame:
    """The columns that every XES log may have; a trace without a name gets its number."""
    columns: dict[str, list[str | None]] = {CASE: [], NAME: [], TIME: [], LIFECYCLE: []}
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            _read(file, columns)
    except (ElementTree.ParseError, EOFError, OSError) as error:
        raise EventsError(f"{path} is not whole: {error}; fetch or write it again") from None
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame if frame[LIFECYCLE].null_count() < len(frame) else frame.drop(LIFECYCLE)


def _read(file: IO[bytes] | gzip.GzipFile, columns: dict[str, list[str | None]]) -> None:
    number, begun, inside = 0, 0, False
    for what, element in ElementTree.iterparse(file, events=("start", "end")):
        tag = str(element.tag).rsplit("}", 1)[-1]
        if tag not in ("trace", "event"):
            continue
        if tag == "trace" and what == "start":
            number, inside, begun = number + 1, True, len(columns[CASE])
        elif tag == "event" and what == "end" and inside:
            values = {child.get("key"): child.get("value") for child in element}
            for column in (NAME, TIME, LIFECYCLE):
                columns[column].append(values.get(column))
            columns[CASE].append(None)
            element.clear()
        elif tag == "trace":
            name = next((child.get("value") for child in element if child.get("key") == NAME), None)
            columns[CASE][begun:] = [name or str(number)] * (len(columns[CASE]) - begun)
            inside = False
            element.clear()
