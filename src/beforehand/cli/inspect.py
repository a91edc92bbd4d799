"""beforehand inspect: what a model or a log is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from beforehand.cli import options as o

NAME = "inspect"
EXAMPLE = "Example:  beforehand inspect shop.model     or     beforehand inspect events.csv"


def command(
    what: Annotated[str, typer.Argument(help="A model's folder, or a log.", show_default=False)],
    user: o.User = None,
    time: o.Time = None,
    event: o.Event = None,
    query: o.Query = None,
    json: o.Json = False,
) -> None:
    """Show what is known of a model, or what a log holds."""
    from beforehand.models.language import about, is_language_model
    from beforehand.models.storage import MANIFEST, card_of

    if is_language_model(what):
        told = about(what)
        typer.echo(o.as_json(told) if json else "a language model: " + ", ".join(f"{name} {value}" for name, value in told.items()))
        return

    if (Path(what) / MANIFEST).exists():
        found = card_of(what)
        typer.echo(o.as_json(found) if json else _model(found))
        return
    log = o.read(what, user, time, event, query, quiet=True)
    counts = _counts(log)
    lengths = {"shortest": int(log.lengths.min()), "mean": float(log.lengths.mean()), "longest": int(log.lengths.max())}
    if json:
        typer.echo(o.as_json({"report": log.report, "lengths": lengths, "counts": dict(counts)}))
        return
    typer.echo(str(log.report))
    typer.echo(f"  events per user: {lengths['shortest']} to {lengths['longest']}, {lengths['mean']:.1f} on average")
    typer.echo("  most frequent: " + ", ".join(f"{label!r} {count / log.events:.1%}" for label, count in counts[:8]))


def _counts(log: Any) -> list[tuple[str, int]]:
    import numpy as np

    counts = np.bincount(log.ids, minlength=len(log.vocabulary)).tolist()
    return sorted(zip(log.vocabulary.labels, counts, strict=True), key=lambda each: -each[1])


def _model(found: dict[str, Any]) -> str:
    words, card, inner = found["vocabulary"], found.get("card", {}), found["model"]
    kinds = [inner["kind"]]
    while "model" in inner:
        inner = inner["model"]
        kinds.append(inner["kind"])
    labels = words["labels"]
    lines = [
        f"a {' '.join(kinds)} model of {len(labels):,} events: {', '.join(map(repr, labels[:8]))}" + ", …" * (len(labels) > 8),
        f"  start {words['start']!r}, end {words['end']!r}, groups {', '.join(words['groups']) or 'none'}",
    ]
    if "data" in card:
        data = card["data"]
        lines.append(f"  trained on {data['source']}: {data['users']:,} users, {data['events']:,} events, {card.get('made', '')}")
    if "best" in card:
        lines.append("  held out: " + ", ".join(f"{name} {value:.4g}" for name, value in card["best"].items()))
    if card.get("recalibration"):
        lines.append("  recalibrated for: " + ", ".join(card["recalibration"]))
    return "\n".join(lines)
