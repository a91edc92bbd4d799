"""Parts of a log, answered in several processes on this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# What a process keeps between its parts.
_model: Any = None


@dataclass(frozen=True)
class Task:
    """One part: the users, the ids of their events, and where the answers go."""

    number: int
    users: list[str]
    histories: list[Any]
    target: Path


@dataclass(frozen=True)
class Asked:
    """What is the same for all parts."""

    model: Path
    questions: tuple[str, ...]
    options: dict[str, Any]


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A file to write to, which takes the target's place in one step; if writing fails, nothing is left of it."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def run(tasks: Iterator[Task], asked: Asked, workers: int) -> Iterator[tuple[int, int]]:
    """Yields the number and the size of each part as it is finished. At most two parts a worker are held in memory."""
    if workers == 1:
        _begin(asked.model, 0)
        for task in tasks:
            yield _answered(task, asked)
        return
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(asked.model, 1)) as pool:
        waiting = set()
        for task in tasks:
            waiting.add(pool.submit(_answered, task, asked))
            if len(waiting) >= 2 * workers:
                done = next(as_completed(waiting))
                waiting.discard(done)
                yield done.result()
        for done in as_completed(waiting):
            yield done.result()


def _begin(model: Path, threads: int) -> None:
    global _model
    import torch

    from beforehand.models import load

    if threads:
        torch.set_num_threads(threads)
    _model = load(model)


def _answered(task: Task, asked: Asked) -> tuple[int, int]:
    """Answers a part and writes it in one step."""
    from beforehand.answers import ask_many
    from beforehand.answers.table import long_table

    answers = ask_many(_model, list(asked.questions), [np.asarray(each) for each in task.histories], **asked.options)
    table = long_table(list(answers), task.users)
    with replacing(task.target) as partial:
        table.write_parquet(partial)
    return task.number, len(task.users)
