"""beforehand demo: the whole way, from a log to answers, on a shop that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NAME = "demo"
EXAMPLE = "Example:  beforehand demo --out demo"


def command(
    out: Annotated[Path, typer.Option(help="Where to write the log, the model and the report.")] = Path("demo"),
    visitors: Annotated[int, typer.Option(help="How many visitors the shop has.")] = 6_000,
) -> None:
    """Make a shop's event log, train on it, ask a question of each kind, and write a report."""
    from beforehand.demo import run

    run(out, visitors)
