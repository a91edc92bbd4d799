"""beforehand ask: one question about one history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from beforehand.cli import options as o

NAME = "ask"
EXAMPLE = """Example:  beforehand ask shop.model 'P(purchase within 30)' browse cart

Questions:  P(a within 9) · P(a before b) · P(when(a) = 3) · P(count(a) >= 2 within 9) · P(event(3) = a) · P(a then b within 9) ·
P(never a within 9) · P(always {a, b} within 3) · P(a until b within 9) · P(matches (a b?)* c within 9) ·
P((a within 5) and not (b within 9)) · P(a within 9 | b within 3) · next · event(3) · when(a) within 9 · count(a) within 9 ·
which(a, b) within 9 · E(when(a) within 9) · futures where a within 9. Labels with spaces or digits are quoted: "Add to cart".

Language models:  beforehand ask FOLDER 'when(token containing ".") within 30' --text "In my opinion, "

FOLDER holds a model of transformers, or a GGUF file. P(text contains "good" within 9) · P(text matches /[0-9]+ years/ within 9) ·
which(text matches " yes", text matches " no") within 4 · token starting with " the" · token ending with "ing"
"""


def command(
    model: o.ModelFolder,
    question: Annotated[str, typer.Argument(help="Such as 'P(a before b)', 'when(a) within 50', 'next'.", show_default=False)],
    history: Annotated[Optional[list[str]], typer.Argument(help="The events so far, one after the other.")] = None,  # noqa: UP045
    user: Annotated[Optional[str], typer.Option(help="Take the history of this user of --log.")] = None,  # noqa: UP045
    log: Annotated[Optional[str], typer.Option(help="The log to take it from.")] = None,  # noqa: UP045
    text: Annotated[Optional[str], typer.Option(help="The text so far, for a language model.")] = None,  # noqa: UP045
    method: o.Method = "auto",
    budget: o.Budget = None,
    precision: Annotated[Optional[float], typer.Option(help="Relative half-width to reach, such as 0.05.")] = None,  # noqa: UP045
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    seed: o.Seed = 0,
    why: Annotated[bool, typer.Option(help="Also show likely futures.")] = False,
    recalibrated: Annotated[bool, typer.Option(help="Correct by what a backtest found.")] = False,
    plot: Annotated[Optional[Path], typer.Option(help="Write a chart: .png, .svg or .html.")] = None,  # noqa: UP045
    json: o.Json = False,
) -> None:
    """Ask a model a question about the future of one history."""
    from beforehand.answers import ask, plots

    if plot is not None:
        plots.check_place(plot)
    if sum(each is not None for each in (history or None, text, user)) > 1:
        raise typer.BadParameter("give the history as events, as --text, or as a --user of a --log")
    loaded = o.load_any(model)
    events = _history(loaded, history, text, user, log)
    options: dict[str, Any] = {"method": method, "budget": budget, "precision": precision, "confidence": confidence, "seed": seed}
    answer = ask(loaded, question, events, **options, recalibrated=recalibrated)
    typer.echo(o.as_json(answer) if json else str(answer))
    if plot is not None:
        _shown(loaded, question, answer, events, options).plot(str(plot))
        typer.echo(f"plotted to {plot}", err=True)
    if why:
        found = ask(loaded, _futures(question), events, seed=seed, budget=budget)
        typer.echo(o.as_json(found) if json else str(found))


def _shown(model: Any, question: str, answer: Any, events: Any, options: dict[str, Any]) -> Any:
    """A `before` is shown as it resolves, anything else as it is."""
    from beforehand.answers import resolving
    from beforehand.queries import Before, Probability, parse

    asked = parse(question)
    if isinstance(asked, Probability) and isinstance(asked.proposition, Before) and asked.given is None:
        return resolving(model, asked, events, **options)
    return answer


def _futures(question: str) -> object:
    from beforehand.errors import QueryError
    from beforehand.queries import Probability, futures, parse

    asked = parse(question)
    if not isinstance(asked, Probability):
        raise QueryError(f"--why shows futures of a single probability, P(…); {asked} has several outcomes")
    return futures(asked.proposition if asked.given is None else asked.proposition & asked.given)


def _history(loaded: Any, events: list[str] | None, text: str | None, user: str | None, log: str | None) -> Any:
    """What has happened so far, in whichever way it is given."""
    if text is not None and not hasattr(loaded.vocabulary, "encode"):
        raise typer.BadParameter("--text is for language models; give this model's events one after the other")
    return text if text is not None else _of_user(loaded, user, log) if user is not None else list(events or [])


def _of_user(loaded: object, user: str, log: str | None) -> list[str]:
    if log is None:
        raise typer.BadParameter("--user needs --log, the log to take the history from")
    found = o.read(log, None, None, None, None, True, vocabulary=loaded.vocabulary)  # type: ignore[attr-defined]
    events = found.of(user)
    return events[:-1] if events and events[-1] == found.vocabulary.end else events
