"""What users hand in, checked before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import torch

from beforehand.errors import HistoryError, MethodError, ModelError, QueryError, UnknownLabelError, VocabularyError
from beforehand.events import Vocabulary
from beforehand.events.tokens import Tokens
from beforehand.models import Model
from beforehand.queries import Futures, Probability, Question, as_question, compile_questions, locate, parse

LARGEST_BUDGET = 1_000_000_000


def check_model(model: object) -> None:
    """Something with the three parts of a model."""
    if isinstance(model, type) or not isinstance(model, Model) or not isinstance(model.vocabulary, Vocabulary):
        raise ModelError(
            f"a model has a vocabulary (a bh.Vocabulary), start and advance; got {model!r}. "
            "A plain function becomes one by bh.models.Function(function, vocabulary)"
        )


def check_questions(queries: Sequence[Any], vocabulary: Vocabulary) -> list[Question]:
    """Questions from texts and objects, each known to compile; an unknown label is pointed at in its text."""
    if isinstance(queries, str) or not isinstance(queries, Sequence):
        raise QueryError(f"queries is a list of questions; got {queries!r}")
    questions = []
    for query in queries:
        question = parse(query) if isinstance(query, str) else as_question(query)
        try:
            compile_questions((Probability(question.where) if isinstance(question, Futures) else question,), vocabulary)
        except QueryError as error:
            raise locate(query if isinstance(query, str) else str(question), error) from None
        questions.append(question)
    return questions


def check_histories(histories: Any) -> Iterable[Any]:
    """Several histories, not one."""
    if isinstance(histories, str | bytes | Mapping) or not isinstance(histories, Iterable):
        raise HistoryError(f"histories is a list of histories, each a sequence of labels or ids; got {histories!r}")
    return histories


def as_ids(history: Iterable[Any], vocabulary: Vocabulary, number: int) -> list[int]:
    """Ids from labels, or from integers as they are; of a text, those of its tokens."""
    if isinstance(history, str) and isinstance(vocabulary, Tokens):
        return vocabulary.encode(history)
    if isinstance(history, str):
        raise HistoryError(
            f"a history is a sequence of labels, not one text; write [{history!r}], or list({history!r}) for its characters"
        )
    if isinstance(history, torch.Tensor | np.ndarray):
        history = history.tolist()
    if isinstance(history, bytes | Mapping | Set) or not isinstance(history, Iterable):
        raise HistoryError(f"history {number} is {history!r}; a history is a sequence of labels, or of ids as integers")
    events = _ids(list(history), vocabulary, number)
    if vocabulary.end_id in events and not isinstance(vocabulary, Tokens):  # a text may hold turns that have ended
        raise HistoryError(
            f"history {number} holds the event {vocabulary.end!r}, which ends a sequence: nothing happens after it, "
            "so there is nothing to ask; leave it out to ask what would have happened"
        )
    return events


def _ids(events: list[Any], vocabulary: Vocabulary, number: int) -> list[int]:
    if all(isinstance(event, int | np.integer) and not isinstance(event, bool) for event in events):
        outside = [event for event in events if not 0 <= event < len(vocabulary)]
        if outside:
            raise HistoryError(
                f"history {number} holds the id {outside[0]}; this vocabulary has ids from 0 to {len(vocabulary) - 1}"
            )
        return [int(event) for event in events]
    if not all(isinstance(event, str) for event in events):
        strange = next(event for event in events if not isinstance(event, str))
        raise HistoryError(f"history {number} holds {strange!r}; a history is a sequence of labels, or of ids as integers")
    try:
        return vocabulary.ids(events)
    except (UnknownLabelError, VocabularyError) as error:
        raise HistoryError(f"history {number}: {error}") from None


def check_reach(model: Model, histories: Sequence[Sequence[int]], horizon: int | None) -> None:
    """A model that reads so much and no more says it by `longest`: better at once than after half of the work."""
    longest: int | None = getattr(model, "longest", None)
    if longest is None:
        return
    for number, history in enumerate(histories):
        first = int(model.vocabulary.start_id is not None)
        if first + len(history) + (horizon or 1) - 1 > longest:
            ahead = "" if horizon is None else f", and the question looks {horizon:,} ahead"
            raise HistoryError(
                f"history {number} has {len(history):,} tokens{ahead}; this model reads at most {longest:,}: "
                "shorten the text or the horizon"
            )


def check_numbers(budget: object, precision: object, confidence: object, seed: object, memory: object) -> None:
    """The options of `ask`."""
    if budget is not None and not (_whole(budget) and 1 <= budget <= LARGEST_BUDGET):  # type: ignore[operator]
        raise MethodError(f"a budget is a number of model calls, a whole number from 1 to {LARGEST_BUDGET:,}; got {budget!r}")
    if precision is not None and not (_real(precision) and 0 < precision < 1):  # type: ignore[operator]
        raise MethodError(f"a precision is a relative half-width between 0 and 1, such as 0.05; got {precision!r}")
    if not (_real(confidence) and 0 < confidence < 1):  # type: ignore[operator]
        raise MethodError(f"a confidence is between 0 and 1, such as 0.95; got {confidence!r}")
    if not (_whole(seed) and abs(seed) < 2**63):  # type: ignore[arg-type]
        raise MethodError(f"a seed is a whole number of at most 63 bits; got {seed!r}")
    if not (_real(memory) and memory > 0):  # type: ignore[operator]
        raise MethodError(f"memory is a number of bytes above 0; got {memory!r}")


def _whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _real(number: object) -> bool:
    return isinstance(number, int | float | np.number) and not isinstance(number, bool)
