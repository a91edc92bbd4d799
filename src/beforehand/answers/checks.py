"""What users hand in, checked before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from beforehand.errors import HistoryError, MethodError, QueryError, UnknownLabelError
from beforehand.events import Vocabulary
from beforehand.queries import Futures, Probability, Question, as_question, compile_questions, locate_label, parse


def check_questions(queries: Sequence[Any], vocabulary: Vocabulary) -> list[Question]:
    """Questions from texts and objects, each known to compile; an unknown label is pointed at in its text."""
    if isinstance(queries, str) or not isinstance(queries, Sequence):
        raise QueryError(f"queries is a list of questions; got {queries!r}")
    questions = []
    for query in queries:
        question = parse(query) if isinstance(query, str) else as_question(query)
        try:
            compile_questions((Probability(question.where) if isinstance(question, Futures) else question,), vocabulary)
        except UnknownLabelError as error:
            raise locate_label(query if isinstance(query, str) else str(question), error) from None
        questions.append(question)
    return questions


def as_ids(history: Iterable[Any], vocabulary: Vocabulary, number: int) -> list[int]:
    """Ids from labels, or from integers as they are."""
    if isinstance(history, str):
        raise HistoryError(
            f"a history is a sequence of labels, not one text; write [{history!r}], or list({history!r}) for its characters"
        )
    if isinstance(history, torch.Tensor | np.ndarray):
        history = history.tolist()
    events = list(history)
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
    except UnknownLabelError as error:
        raise HistoryError(f"history {number}: {error}") from None


def check_numbers(budget: int | None, precision: float | None, confidence: float, seed: int, memory: int) -> None:
    """The options of `ask`."""
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 1):
        raise MethodError(f"a budget is a number of model calls, a whole number from 1 on; got {budget!r}")
    if precision is not None and not 0 < precision < 1:
        raise MethodError(f"a precision is a relative half-width between 0 and 1, such as 0.05; got {precision!r}")
    if not 0 < confidence < 1:
        raise MethodError(f"a confidence is between 0 and 1, such as 0.95; got {confidence!r}")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise MethodError(f"a seed is a whole number; got {seed!r}")
    if not memory > 0:
        raise MethodError(f"memory is a number of bytes above 0; got {memory!r}")
