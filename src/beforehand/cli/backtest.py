"""beforehand backtest: are the answers right?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from beforehand.cli import options as o

NAME = "backtest"
EXAMPLE = "Example:  beforehand backtest shop.model events.parquet 'P(purchase within 30)' --plot calibration.html"


def command(
    model: o.ModelFolder,
    log: o.LogSource,
    questions: o.Questions,
    users: Annotated[int, typer.Option(help="How many held-out users to ask about.")] = 500,
    method: o.Method = "auto",
    budget: o.Budget = 1_000,
    keep: Annotated[bool, typer.Option(help="Keep the correction with the model, for ask --recalibrated.")] = False,
    plot: Annotated[Optional[Path], typer.Option(help="Write the calibration: .png, .svg or .html.")] = None,  # noqa: UP045
    user: o.User = None,
    time: o.Time = None,
    event: o.Event = None,
    query: o.Query = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare what a model says with what really happened, beside baselines that need no network."""
    from beforehand.backtesting import backtest
    from beforehand.models import load, save

    loaded = load(model)
    events = o.read(log, user, time, event, query, quiet or json, vocabulary=loaded.vocabulary)
    report = backtest(loaded, events, questions, users=users, method=method, budget=budget, seed=seed)
    typer.echo(o.as_json(report) if json else str(report))
    if plot is not None:
        report.plot(str(plot))
        typer.echo(f"plotted to {plot}", err=True)
    if keep:
        loaded.card.setdefault("recalibration", {}).update(report.recalibration)
        save(loaded, model)
        typer.echo(f"kept with {model}: ask with --recalibrated", err=True)
