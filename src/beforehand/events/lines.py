"""The plainest form: a sequence a line, its events separated by spaces. Lines that begin with % are comments.

If all events are whole numbers and a line of words stands before them, one for each number from 1 on, the words are their names.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beforehand.errors import EventsError


def read_lines(path: Path) -> tuple[pl.Series, NDArray[np.int64]]:
    """All labels, and how many of them each line has."""
    lines = pl.Series("line", _bytes(path).decode("utf-8-sig").split("\n")).str.strip_chars()
    lines = lines.filter((lines != "") & ~lines.str.starts_with("%"))
    names: list[str] = []
    if len(lines) > 1 and not _numbers(lines[0]) and _numbers(lines[1]):
        names, lines = lines[0].split(), lines[1:]
    lists = lines.str.split(" ")
    events = lists.explode(empty_as_null=False)
    lengths = lists.list.len().to_numpy().astype(np.int64)
    if names:
        numbers = events.cast(pl.Int64, strict=False)
        if numbers.null_count() or not 1 <= int(numbers.min()) <= int(numbers.max()) <= len(names):  # type: ignore[arg-type]
            raise EventsError(f"{path} names {len(names)} events, but its sequences hold others than the numbers 1 to {len(names)}")
        events = pl.Series("event", names).gather(numbers - 1)
    return events, lengths


def _numbers(line: str) -> bool:
    return all(word.isdigit() for word in line.split())


def _bytes(path: Path) -> bytes:
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                inside = [name for name in archive.namelist() if not name.startswith("__MACOSX") and not name.endswith("/")]
                if len(inside) != 1:
                    raise EventsError(f"{path} holds {len(inside)} files; unpack it and name the one to read")
                return archive.read(inside[0])
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise EventsError(f"{path} cannot be read: {error}") from None
