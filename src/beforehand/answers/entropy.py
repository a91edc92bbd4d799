"""How hard a question is, in the paper's own measure."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from beforehand.answers.answer import Answer
from beforehand.answers.checks import as_ids, check_numbers, check_questions
from beforehand.answers.student import t_quantile
from beforehand.errors import QueryError
from beforehand.estimators import history_keys
from beforehand.estimators.engine import Run, run
from beforehand.estimators.entropy import EntropyPaths
from beforehand.estimators.methods import DEFAULT_BUDGET
from beforehand.models import Model
from beforehand.queries import Futures, compile_questions


def restricted_entropy(
    model: Model,
    query: Any,
    history: Iterable[Any] = (),
    *,
    samples: int | None = None,
    budget: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Answer:
    """H_q in nats: the entropy of the futures that keep the question open, drawn from the model restricted to them.

    >>> from beforehand import Markov, Vocabulary
    >>> coin = Markov.from_table([[0.25] * 4] * 4, Vocabulary("abcd"))
    >>> round(restricted_entropy(coin, "P(when(a) = 3)", ["b"]).value, 6)  # two events out of three, one out of one
    2.197225
    """
    check_numbers(budget=budget, precision=None, confidence=confidence, seed=seed, memory=1)
    (question,) = check_questions([query], model.vocabulary)
    if isinstance(question, Futures):
        raise QueryError("the restricted entropy is that of a question with an answer; write P(…) instead of futures where …")
    automaton, begun, made = compile_questions((question,), model.vocabulary), time.perf_counter(), []

    def make(prepared: Run) -> EntropyPaths:
        made.append(EntropyPaths(prepared, samples, budget or DEFAULT_BUDGET))
        return made[0]

    ids = [as_ids(history, model.vocabulary, 0)]
    calls = int(run(model, automaton, ids, history_keys(ids, seed), make)[0].calls[0])
    mean, error = (float(each[0]) for each in made[0].estimate())
    half = float(t_quantile(confidence, made[0].sizes[0] - 1.0)) * error
    return Answer(
        f"restricted entropy of {question}",
        confidence,
        "asymptotic",
        0.0,
        calls,
        time.perf_counter() - begun,
        "importance",
        True,
        "paths drawn from q",
        mean,
        max(0.0, mean - half),
        mean + half,
        0.0,
        math.inf,
        error,
    )
