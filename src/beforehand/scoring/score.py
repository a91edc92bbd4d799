"""`score`: every user of a log, every question, one table."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from beforehand.answers.checks import check_numbers, check_questions
from beforehand.answers.plan import resolve
from beforehand.errors import EventsError, StorageError
from beforehand.events import EventLog
from beforehand.models import load, save
from beforehand.models.card import fingerprint
from beforehand.models.storage import card_of
from beforehand.scoring.local import Asked, Task, replacing, run

PART = 500


def score(
    model: Any,
    log: EventLog,
    questions: Sequence[Any],
    *,
    out: str | os.PathLike[str] | None = None,
    method: str = "auto",
    budget: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = True,
) -> pl.DataFrame | Path:
    """Answers about the future of every user of a log, from all of their events; a user whose sequence has ended is left out.

    `model` is a model or its folder. With `out`, a Parquet file, the answers are streamed to it by several processes; started
    again, a run that was stopped goes on where it was; the path is returned. Without, the table is. The same seed gives the same
    answers, whatever the number of workers.
    """
    folder, temporary = _folder(model)
    try:
        known = load(folder).vocabulary
        if log.vocabulary.labels != known.labels:
            raise EventsError("the log and the model have different vocabularies; read the log with vocabulary=model.vocabulary")
        check_numbers(budget=budget, precision=None, confidence=0.95, seed=seed, memory=1)
        resolve(method)
        texts = tuple(str(each) for each in check_questions(list(questions), known))
        asked = Asked(folder, texts, {"method": method, "budget": budget, "seed": seed})
        target = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="beforehand-")) / "answers.parquet"
        parts = target.with_name(target.name + ".parts")
        _prepared(
            parts, {"model": card_of(folder)["weights"]["sha256"], "log": fingerprint(log), "questions": texts, **asked.options}
        )
        _all(log, asked, parts, workers or max(1, min(os.cpu_count() or 1, 1 + len(log) // PART)), progress)
        _joined(parts, target)
    finally:
        if temporary:
            shutil.rmtree(folder.parent, ignore_errors=True)
    if out is not None:
        return target
    table = pl.read_parquet(target)
    shutil.rmtree(target.parent, ignore_errors=True)
    return table


def _folder(model: Any) -> tuple[Path, bool]:
    """The model on disk, where all processes find it."""
    if isinstance(model, str | os.PathLike):
        return Path(model), False
    return save(model, Path(tempfile.mkdtemp(prefix="beforehand-")) / "model").resolve(), True


def _prepared(parts: Path, about: dict[str, Any]) -> None:
    """A place for the finished parts; those of another run are not mixed in."""
    words = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()
    try:
        parts.mkdir(parents=True, exist_ok=True)
        mark = parts / "run"
        if mark.exists() and mark.read_text() != words:
            raise StorageError(
                f"{parts} holds parts of another run (another model, log, question or option); delete it, or name another file"
            )
        mark.write_text(words)
    except OSError as error:
        raise StorageError(f"{parts} cannot be written: {error.strerror or error}") from None


def _all(log: EventLog, asked: Asked, parts: Path, workers: int, shown: bool) -> None:
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TextColumn("users"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), disable=not shown) as bar:
        done = sum(len(users) for number, users in _pieces(log) if _part(parts, number).exists())
        total = sum(len(users) for _, users in _pieces(log))
        task = bar.add_task("", total=total, completed=done, rate="")
        try:
            for _, size in run(_tasks(log, parts), asked, workers):
                bar.advance(task, size)
                speed = bar.tasks[task].speed
                bar.update(task, rate=f"{speed:,.0f} users/s" if speed else "")
        except (OSError, pl.exceptions.PolarsError) as error:
            raise StorageError(f"the answers could not be written: {error}; what is finished is kept in {parts}") from None


def _pieces(log: EventLog) -> Iterator[tuple[int, list[int]]]:
    """The users still under way, a few hundred at a time, those with histories of like length together."""
    end = log.vocabulary.end_id
    order = sorted(range(len(log)), key=lambda i: (int(log.lengths[i]), i))
    alive = [i for i in order if log.lengths[i] and (end is None or log[i][-1] != end)]
    return ((number, alive[first : first + PART]) for number, first in enumerate(range(0, len(alive), PART)))


def _part(parts: Path, number: int) -> Path:
    return parts / f"{number:06}.parquet"


def _tasks(log: EventLog, parts: Path) -> Iterator[Task]:
    names = log.users.cast(pl.String)
    for number, users in _pieces(log):
        if not _part(parts, number).exists():
            yield Task(number, [names[i] for i in users], [log[i] for i in users], _part(parts, number))


def _joined(parts: Path, target: Path) -> None:
    """All parts in one file, replaced in one step."""
    files = sorted(parts.glob("*.parquet"))
    if not files:
        raise EventsError("there is nobody to score: all sequences have ended, or are empty")
    try:
        with replacing(target) as partial:
            pl.scan_parquet(files).sink_parquet(partial)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StorageError(f"{target} cannot be written: {error}; the parts in {parts} are kept") from None
    shutil.rmtree(parts, ignore_errors=True)
