"""beforehand train: from a log to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from beforehand.cli import options as o

NAME = "train"
EXAMPLE = "Example:  beforehand train events.parquet shop.model --complete"


def command(
    log: o.LogSource,
    model: Annotated[Path, typer.Argument(help="Where to write the model, a folder.", show_default=False)],
    kind: Annotated[str, typer.Option(help="recurrent, transformer or markov.")] = "recurrent",
    settings: Annotated[Optional[str], typer.Option(help="'paper' for the paper's; else what suits the log.")] = None,  # noqa: UP045
    epochs: Annotated[Optional[int], typer.Option(help="Passes over the log, at most.")] = None,  # noqa: UP045
    complete: Annotated[bool, typer.Option(help="Nothing comes after a user's last event: sequences end.")] = False,
    min_count: Annotated[int, typer.Option(help="Events seen less often become 'other'.")] = 1,
    groups: Annotated[Optional[Path], typer.Option(help="JSON file of named groups of labels.")] = None,  # noqa: UP045
    user: o.User = None,
    time: o.Time = None,
    event: o.Event = None,
    query: o.Query = None,
    seed: o.Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Train anew a model that is there already.")] = False,
    quiet: o.Quiet = False,
) -> None:
    """Train a model on an event log. A run that is killed goes on where it was when started again."""
    import shutil

    from beforehand.models import save, train
    from beforehand.models.storage import MANIFEST

    if model.exists() and not (model / MANIFEST).exists() and any(model.iterdir() if model.is_dir() else [model]):
        raise typer.BadParameter(f"{model} is there and is not a model; name another folder")
    if model.exists() and not replace:
        raise typer.BadParameter(f"{model} is trained already; name another folder, or say --replace")
    events = o.read(log, user, time, event, query, quiet, complete=complete, min_count=min_count, groups=groups)
    running = model.with_name(model.name + ".training")
    if running.exists():
        typer.echo(f"going on with the run in {running}", err=True)
    try:
        made = train(events, kind, settings=settings, epochs=epochs, seed=seed, checkpoint=running, progress=not quiet)
    except KeyboardInterrupt:
        typer.echo("beforehand: stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    save(made, model)
    shutil.rmtree(running, ignore_errors=True)
    best = made.card["best"]
    typer.echo(
        f"{model}: loss {best['loss']:.3f}, accuracy {best['accuracy']:.1%}, calibration error {best['calibration_error']:.1%} "
        f"on held-out users; {made.card['seconds']} s"
    )
    typer.echo(f"ask it:  beforehand ask {model} 'next' {' '.join(map(_quoted, events.labels(0)[:2]))}")


def _quoted(label: str) -> str:
    import shlex

    return shlex.quote(label)
