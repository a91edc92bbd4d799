"""How `A before B` resolves, step by step: the chance that A has come first by then, that B has, and that neither has yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from beforehand.answers.answer import Floats, drawn
from beforehand.answers.ask import ask_many
from beforehand.errors import QueryError
from beforehand.models import Model
from beforehand.queries import Before, Probability, as_question, parse

# A question without a horizon is shown for so many steps.
STEPS = 40


@dataclass(frozen=True, repr=False)
class Resolving:
    """One number a step for each of the two, with intervals; what they leave of one is still open."""

    question: str
    names: tuple[str, str]
    value: tuple[Floats, Floats]
    low: tuple[Floats, Floats]
    high: tuple[Floats, Floats]
    cost: str

    @property
    def open(self) -> Floats:
        """The chance that neither has come, after each step."""
        return np.clip(1 - self.value[0] - self.value[1], 0, 1)

    def plot(self, path: str | None = None) -> Any:
        """Two curves with their bands; with a path, also written to a .png, .svg or .html file."""
        from beforehand.answers import plots

        return drawn(plots.of_resolving(self), path)

    def __repr__(self) -> str:
        one, other = (f"{name} first {value[-1]:.3f}" for name, value in zip(self.names, self.value, strict=True))
        return f"{self.question}: after {len(self.open)} steps {one}, {other}, neither {self.open[-1]:.3f}"


def resolving(model: Model, query: Any, history: Iterable[Any] = (), *, steps: int | None = None, **options: Any) -> Resolving:
    """Both directions of a `before`, for every number of steps up to its horizon, in one pass; options as for `ask`.

    >>> from beforehand import Markov, Vocabulary
    >>> coin = Markov.from_table([[0.5, 0.5], [0.5, 0.5]], Vocabulary(["heads", "tails"]))
    >>> resolving(coin, "P(heads before tails)", ["tails"], steps=2).value[0].tolist()
    [0.5, 0.5]
    """
    question = parse(query) if isinstance(query, str) else as_question(query)
    asked = question.proposition if isinstance(question, Probability) and question.given is None else None
    if not isinstance(asked, Before):
        raise QueryError(f"only P(A before B) resolves over steps; got {question}")
    last = steps or asked.horizon or STEPS
    turned = replace(asked, first=asked.second, second=asked.first)
    questions = [Probability(replace(each, horizon=k)) for each in (asked, turned) for k in range(1, last + 1)]
    found = ask_many(model, questions, [history], **options)[0]
    arrays = {
        name: tuple(np.array([getattr(each, name) for each in found[i * last : (i + 1) * last]]) for i in (0, 1))
        for name in ("value", "low", "high")
    }
    names = (str(asked.first), str(asked.second))
    return Resolving(str(question), names, arrays["value"], arrays["low"], arrays["high"], found[last - 1].cost)  # type: ignore[arg-type]
