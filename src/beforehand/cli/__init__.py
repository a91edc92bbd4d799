"""The command line: one thin file per command.

In: words typed in a terminal. Out: answers, tables and reports, for people or, with --json, for machines. Exit codes: 0 done, 1 a
problem that the message explains, 2 a command that was typed wrong, 130 interrupted. Nothing heavy is imported before a command
needs it.
"""

from __future__ import annotations

import os
import sys

import typer

from beforehand import SHORT_SPIN
from beforehand.cli import ask, backtest, demo, inspect, released, score, train
from beforehand.errors import BeforehandError

app = typer.Typer(
    name="beforehand",
    help="Probability questions about the future of any sequence model, answered with an honest error bar.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (train, ask, score, backtest, inspect, released, demo):
    app.command(module.NAME, epilog=module.EXAMPLE)(module.command)


def main() -> None:
    """The entry point: errors of ours are a sentence, not a traceback."""
    if (
        os.environ.get("GOMP_SPINCOUNT") == SHORT_SPIN
    ):  # a command may take long, and a millisecond is nothing to it: no spin at all
        os.environ["GOMP_SPINCOUNT"] = "0"
    try:
        app()
    except BeforehandError as error:
        print(f"beforehand: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("beforehand: interrupted; what was finished is kept", file=sys.stderr)
        sys.exit(130)


__all__ = ["app", "main"]
