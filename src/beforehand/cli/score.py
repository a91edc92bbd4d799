"""beforehand score: every user of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from beforehand.cli import options as o

NAME = "score"
EXAMPLE = "Example:  beforehand score shop.model events.parquet 'P(purchase within 30)' --out answers.parquet"


def command(
    model: o.ModelFolder,
    log: o.LogSource,
    questions: o.Questions,
    out: Annotated[Path, typer.Option(help="The Parquet file of answers.")] = Path("answers.parquet"),
    method: o.Method = "auto",
    budget: o.Budget = None,
    workers: Annotated[Optional[int], typer.Option(help="Processes; one a core if not given.")] = None,  # noqa: UP045
    user: o.User = None,
    time: o.Time = None,
    event: o.Event = None,
    query: o.Query = None,
    seed: o.Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Write over answers that are there already.")] = False,
    quiet: o.Quiet = False,
) -> None:
    """Answer questions about every user of a log. A run that is stopped goes on where it was when started again."""
    from beforehand.events import read_events
    from beforehand.models import load
    from beforehand.scoring import score

    if out.exists() and not replace:
        raise typer.BadParameter(f"{out} is there already; name another file with --out, or say --replace")
    vocabulary = load(model).vocabulary
    events = read_events(log, user=user, time=time, event=event or None, query=query, quiet=quiet, vocabulary=vocabulary)
    written = score(model, events, questions, out=out, method=method, budget=budget, seed=seed, workers=workers, progress=not quiet)
    typer.echo(f"{written}: {len(events):,} users, {len(questions)} question(s)")
