"""The paper's questions, by every method, beside the exact answer: `python benchmarks/table.py`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from beforehand.answers import Answer, ask
from beforehand.answers.answer import number
from beforehand.errors import MethodError
from beforehand.estimators import METHODS
from beforehand.models import Model
from beforehand.testing import random_lstm, random_markov

QUESTIONS = {
    "Q1": ("what comes next", "P(event(1) = a)"),
    "Q2": ("what comes 6 steps from now", "P(event(6) = a)"),
    "Q3": ("when does a come next", "P(when(a) = 6)"),
    "Q4": ("does a come before b", "P(a before b within 12)"),
    "Q5": ("how often does a come", "P(count(a) = 2 within 6)"),
}
BUDGET = 400


def main() -> None:
    """One table per model, then a distribution and some futures."""
    console = Console()
    for name, (meaning, text) in QUESTIONS.items():
        console.print(f"{name}  {meaning:28} {text}", highlight=False)
    models: dict[str, Model] = {"A Markov model of order 2": random_markov(5, order=2), "A random LSTM": random_lstm(5)}
    for title, model in models.items():
        console.print(_table(model, title))
    console.print(f"Each cell: the answer at {BUDGET} model calls, and under it its 95 % interval;")
    console.print("a search (beam, tail-split) gives certain bounds instead.")
    for question in ("when(a) within 8", "futures where a then b within 5"):
        console.print("\n" + str(ask(random_lstm(5), question, ["b", "c"])), highlight=False)


def _table(model: Model, title: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", padding=0)
    table.add_column("method")
    for name in QUESTIONS:
        table.add_column(name, justify="right", no_wrap=True)
    for method in (name for name in METHODS if name != "coverage"):
        table.add_row(method, *(_cell(model, text, method) for _, text in QUESTIONS.values()))
    return table


def _cell(model: Model, question: str, method: str) -> str:
    budget = BUDGET if method != "exact" else None
    try:
        answer: Answer = ask(model, question, ["b", "c"], method=method, budget=budget)
    except MethodError:
        return "too many"
    return f"{number(answer.value)}\n[dim]{number(answer.low)}–{number(answer.high)}[/dim]"


if __name__ == "__main__":
    main()
