"""The front door: ask one question about one history, or many about many."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import torch

from beforehand.answers.answer import Answer, Distribution, Future, FuturesFound, Result
from beforehand.answers.checks import as_ids, check_histories, check_model, check_numbers, check_questions, check_reach
from beforehand.answers.plan import group, resolve
from beforehand.answers.recalibrate import recalibrated as correct
from beforehand.answers.table import table
from beforehand.answers.work import Work
from beforehand.errors import MethodError
from beforehand.estimators import Method, history_keys, run
from beforehand.estimators.futures import LikelyFutures, SampledFutures
from beforehand.estimators.methods import DEFAULT_BUDGET
from beforehand.models import Model
from beforehand.queries import Futures, Probability, compile_questions

DEFAULT_MEMORY = 1_000_000_000


def ask(
    model: Model,
    query: Any,
    history: Iterable[Any] = (),
    *,
    method: str | Method = "auto",
    budget: int | None = None,
    precision: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    recalibrated: bool = False,
) -> Any:
    """The answer to one question about one history: an `Answer`, a `Distribution`, or `FuturesFound`.

    `query` is text or a query object; `history` a sequence of labels, or of ids as integers, or for a language model a text.
    `budget` is the number of model calls to spend at most, `precision` a relative half-width to reach, within the budget if one is
    given. `method` is a name or one of `bh.methods`. `memory` bounds, in bytes, what one pass may take. `recalibrated` corrects the
    answer by what a backtest of the same question found, if the model's card holds it.

    >>> from beforehand import Markov, Vocabulary
    >>> coin = Markov.from_table([[0.5, 0.5], [0.5, 0.5]], Vocabulary(["heads", "tails"]))
    >>> ask(coin, "P(heads within 3)", ["tails"]).value
    0.875
    """
    many = ask_many(
        model,
        [query],
        [history],
        method=method,
        budget=budget,
        precision=precision,
        confidence=confidence,
        seed=seed,
        memory=memory,
    )
    answer = many[0][0]
    return correct(answer, getattr(model, "card", {}).get("recalibration", {})) if recalibrated else answer


class Answers(Sequence[tuple[Any, ...]]):
    """One tuple of answers per history, in the order of the queries; `to_polars` gives the table."""

    def __init__(self, rows: list[tuple[Result, ...]]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Any, ...]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The answers about one history."""
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows)

    def to_polars(self) -> Any:
        """One row per history and question; the numbers of a distribution stand in lists."""
        return table(self._rows)


@torch.inference_mode()
def ask_many(
    model: Model,
    queries: Sequence[Any],
    histories: Iterable[Iterable[Any]],
    *,
    method: str | Method = "auto",
    budget: int | None = None,
    precision: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
) -> Answers:
    """The answers to several questions about each of many histories, sharing work between them.

    The budget is per history and pass; questions that can be answered together share a pass. The same seed gives the same
    answers whatever else is in the batch.
    """
    check_model(model)
    check_numbers(budget=budget, precision=precision, confidence=confidence, seed=seed, memory=memory)
    wanted = resolve(method)
    questions = check_questions(queries, model.vocabulary)
    ids = [as_ids(history, model.vocabulary, number) for number, history in enumerate(check_histories(histories))]
    columns: list[list[Result]] = [[] for _ in questions]
    work = Work(model, wanted, budget, precision, confidence, seed, memory)
    if ids:
        asked = [i for i, question in enumerate(questions) if not isinstance(question, Futures)]
        for each in group([questions[i] for i in asked], model.vocabulary):
            check_reach(model, ids, each.automaton.horizon)
            found = work.answer(each, ids)
            for place, column in zip(each.places, found, strict=True):
                columns[asked[place]] = column
        for i, question in enumerate(questions):
            if isinstance(question, Futures):
                columns[i] = [_futures(model, question, history, budget, confidence, seed) for history in ids]
    return Answers(list(zip(*columns, strict=True)) if ids else [])


def _futures(model: Model, question: Futures, ids: list[int], budget: int | None, confidence: float, seed: int) -> FuturesFound:
    """The likeliest by a beam, the random ones by importance sampling, with half of the budget each."""
    begun, labels = time.perf_counter(), model.vocabulary.labels
    automaton = compile_questions((Probability(question.where),), model.vocabulary)
    if automaton.start < 0:
        raise MethodError(f"{question.where} is decided before anything happens, so there is no future to show")
    each = max(1, (budget or DEFAULT_BUDGET) // 2 // max(1, min((automaton.horizon or 100) - 1, 100)))
    made: list[Any] = []

    def keep(policy: Any) -> Any:
        made.append(policy)
        return policy

    keys = history_keys([ids], seed)
    beam = run(model, automaton, [ids], keys, lambda prepared: keep(LikelyFutures(prepared, 5, each)))[0]
    paths = run(model, automaton, [ids], keys, lambda prepared: keep(SampledFutures(prepared, each)))[0]
    likely = tuple(Future(tuple(labels[event] for event in events), mass) for events, mass in made[0].likeliest())
    drawn = tuple(Future(tuple(labels[e] for e in events), chance(model, ids, events)) for events in made[1].drawn(5))
    return FuturesFound(
        str(question),
        confidence,
        "asymptotic",
        0.0,
        int(beam.calls[0] + paths.calls[0]),
        time.perf_counter() - begun,
        "beam and importance",
        True,
        "the likeliest by a beam, the random ones by importance sampling",
        likely,
        drawn,
        float(paths.mass[0, 1]),
    )


def chance(model: Model, history: list[int], events: list[int]) -> float:
    """The probability of exactly these events."""
    state, total, row = model.start([history]), 0.0, torch.zeros(1, dtype=torch.long)
    for place, event in enumerate(events):
        if place:
            state = model.advance(state, row, torch.tensor([events[place - 1]]))
        total += float(state.log_probs[0, event])
    return float(torch.tensor(total, dtype=torch.float64).exp())


__all__ = ["Answer", "Answers", "Distribution", "ask", "ask_many"]
