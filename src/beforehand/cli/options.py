"""Options that several commands share, and small helpers of theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

if TYPE_CHECKING:
    from beforehand.events import EventLog, Vocabulary

User = Annotated[Optional[str], typer.Option(help="The column of users; found by its name if not given.")]  # noqa: UP045
Time = Annotated[Optional[str], typer.Option(help="The column of times.")]  # noqa: UP045
Event = Annotated[Optional[list[str]], typer.Option(help="The column of events; give it twice to join two.")]  # noqa: UP045
Query = Annotated[Optional[str], typer.Option(help="The SQL query, for a database.")]  # noqa: UP045
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no report of what was read.")]
ModelFolder = Annotated[Path, typer.Argument(help="A model's folder.", show_default=False)]
LogSource = Annotated[
    str, typer.Argument(help="A log: CSV, TSV, JSON lines, Parquet, XES, DuckDB, a folder, or postgresql://…", show_default=False)
]
Questions = Annotated[list[str], typer.Argument(help="Questions, such as 'P(purchase within 30)'.", show_default=False)]
Method = Annotated[str, typer.Option(help="auto, sieve, exact, importance, naive, beam, hybrid, …")]
Budget = Annotated[Optional[int], typer.Option(help="Model calls to spend, per history.")]  # noqa: UP045


def read(
    source: str,
    user: str | None,
    time: str | None,
    event: list[str] | None,
    query: str | None,
    quiet: bool,
    vocabulary: Vocabulary | None = None,
    **more: Any,
) -> EventLog:
    """The log; with a model's vocabulary, complete if the model knows an end."""
    from beforehand.events import read_events

    if vocabulary is not None:
        more["complete"] = vocabulary.end is not None
    return read_events(source, user=user, time=time, event=event or None, query=query, quiet=quiet, vocabulary=vocabulary, **more)


def load_any(path: Path) -> Any:
    """A model of ours, or a language model."""
    from beforehand.models import load
    from beforehand.models.language import is_language_model, load_language_model

    return load_language_model(path) if is_language_model(path) else load(path)


def as_json(found: Any) -> str:
    """JSON of dataclasses, arrays and what they hold; numbers that are not are null."""
    return json.dumps(plain(found), ensure_ascii=False)


def plain(found: Any) -> Any:
    """What JSON knows."""
    import dataclasses
    import math

    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        return {each.name: plain(getattr(found, each.name)) for each in dataclasses.fields(found)}
    if hasattr(found, "tolist"):
        return plain(found.tolist())
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [plain(each) for each in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found
