"""`make demo`: a made-up shop's log, a model of it, a question of each kind, and a report of one file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from beforehand import shop
from beforehand.answers import Answer, ask, ask_many
from beforehand.answers.answer import number
from beforehand.backtesting import backtest
from beforehand.events import EventLog, read_events
from beforehand.models import load, save, train
from beforehand.report import Section, write_report

QUESTIONS = {
    "What comes next?": "next",
    "Will there be a purchase within 30 events?": "P(purchase within 30)",
    "When will the next purchase be?": "when(purchase) within 40",
    "A purchase before the visitor leaves for good?": "P(purchase before left within 60)",
    "How often will products be put into the cart?": "count(cart) within 20",
    "What will the 10th event from now be?": "event(10)",
    "Which comes first?": "which(purchase, support, left) within 60",
    "Cart, then checkout, then purchase, in this order?": "P(cart then checkout then purchase within 20)",
    "A refund, if there is a purchase?": "P(refund within 40 | purchase within 20)",
    "Two carts in a row without a purchase?": "P(matches any* cart (not purchase)* cart within 15)",
    "No refund at all within 50?": "P(never refund within 50)",
}
TESTED = ["P(purchase within 30)", "P(cart within 10)", "when(purchase) within 20", "P(refund within 50)"]
RARE = "P(refund within 6)"
HISTORY = ["visit", "search", "view", "reviews", "cart"]


def run(out: Path, visitors: int = 6_000) -> Path:
    """All of it; the path of the report."""
    console, begun = Console(), time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    console.print(f"[bold]1[/bold]  a shop's log of {visitors:,} visitors → {out / 'events.parquet'}")
    shop.events(visitors).write_parquet(out / "events.parquet")
    log = _log(out)
    console.print(f"   {log!r}\n[bold]2[/bold]  training")
    model = train(log)
    save(model, out / "shop.model")
    model = load(out / "shop.model")
    console.print(f"   held out: {_told(model.card['best'])}\n[bold]3[/bold]  a visitor so far: {' → '.join(HISTORY)}")
    answers = []
    for words, question in QUESTIONS.items():
        answers.append(ask(model, question, HISTORY, budget=5_000))
        console.print(f"   [bold]{words}[/bold]\n   " + str(answers[-1]).replace("\n", "\n   "), highlight=False)
    console.print("[bold]4[/bold]  beside simulating futures, at the same cost")
    compared = _beside_naive(model)
    for line in compared:
        console.print("   " + line, highlight=False)
    console.print("[bold]5[/bold]  beside what really happened to held-out visitors")
    report = backtest(model, log, TESTED, users=400)
    console.print("   " + str(report).replace("\n", "\n   "), highlight=False)
    path = write_report(out / "report.html", _sections(log, model, answers, compared, report))
    console.print(
        f"\n{time.perf_counter() - begun:.0f} s in all; the report: [bold]{path.resolve()}[/bold]", highlight=False, soft_wrap=True
    )
    return path


def _log(out: Path) -> EventLog:
    """What `left` says is that nothing comes after: it is the end."""
    import polars

    frame = polars.read_parquet(out / "events.parquet")
    whole = read_events(frame, quiet=True)
    return read_events(frame, vocabulary=_with_end(whole), quiet=True)


def _with_end(log: EventLog) -> Any:
    from beforehand.events import Vocabulary

    return Vocabulary(log.vocabulary.labels, start=log.vocabulary.start, end=shop.END)


def _told(best: dict[str, float]) -> str:
    return f"loss {best['loss']:.3f}, accuracy {best['accuracy']:.1%}, calibration error {best['calibration_error']:.1%}"


def _beside_naive(model: Any) -> list[str]:
    """A rare event by both, ten times each; the truth is the sieve's at a hundred times the calls."""
    truth: Answer = ask(model, RARE, HISTORY, method="sieve", budget=200_000)
    lines = [f"{RARE}: {number(truth.value)}, from {truth.calls:,} model calls"]
    for method in ("naive", "sieve"):
        rows = [ask_many(model, [RARE], [HISTORY], method=method, budget=2_000, seed=seed)[0][0] for seed in range(10)]
        off = sum((row.value / truth.value - 1) ** 2 for row in rows) / len(rows)
        lines.append(f"{method:6} at 2 000 calls: off by {off**0.5:.3%} of it (ten runs), e.g. {rows[0]}")
    return lines


def _sections(log: EventLog, model: Any, answers: list[Any], compared: list[str], report: Any) -> list[Section]:
    said = f"{log!r}. Trained in {model.card['seconds']:.0f} s; on held-out visitors: {_told(model.card['best'])}."
    asked = [Section(words, str(answer.question), answer.plot()) for words, answer in zip(QUESTIONS, answers, strict=True)]
    return [
        Section("A made-up shop", said),
        Section("One visitor", "So far: " + " → ".join(HISTORY)),
        *asked,
        Section("Beside simulating futures", "\n".join(compared)),
        Section("Beside what really happened", str(report), report.plot()),
    ]


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
