"""Which of several texts comes next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import torch

from beforehand.answers.answer import Distribution
from beforehand.answers.ask import ask, chance
from beforehand.answers.checks import as_ids, check_model
from beforehand.errors import QueryError
from beforehand.events.tokens import Tokens
from beforehand.models import Model
from beforehand.queries import Which
from beforehand.queries.texts import Text


def continuations(
    model: Model,
    choices: Sequence[str],
    history: Iterable[Any] = (),
    *,
    cut: Literal["every", "canonical"] = "every",
    **options: Any,
) -> Distribution:
    """How likely each of several texts is to come next; what they leave of one is `undecided`.

    With `cut="every"` a text counts however the model cuts it into tokens, and so do tokens that go on past its end: it is the
    chance that what comes begins with the text. `options` are those of `ask`. With `cut="canonical"` it is the chance of the very
    tokens that the tokenizer makes of each text: exact, and less.
    """
    check_model(model)
    texts = _checked(choices)
    if cut == "every":
        question = Which(tuple(Text(text, anywhere=False) for text in texts), max(len(text.encode()) for text in texts))
        return ask(model, question, history, **options)  # type: ignore[no-any-return]
    if cut != "canonical":
        raise QueryError(f'cut is "every" or "canonical"; got {cut!r}')
    return _canonical(model, texts, as_ids(history, model.vocabulary, 0))


def _checked(choices: Sequence[str]) -> list[str]:
    texts = [] if isinstance(choices, str) else list(choices)
    if len(texts) < 2 or not all(isinstance(text, str) and text for text in texts):
        raise QueryError(f"choices is a list of at least two texts; got {choices!r}")
    for text in texts:
        longer = next((other for other in texts if other is not text and other.startswith(text)), None)
        if longer is not None:
            raise QueryError(f"what comes cannot be told to be {text!r} or {longer!r}: the one begins with the other")
    return texts


def _canonical(model: Model, texts: list[str], history: list[int]) -> Distribution:
    if not isinstance(model.vocabulary, Tokens):
        raise QueryError("only a language model has a tokenizer, which says what the canonical tokens of a text are")
    begun, cuts = time.perf_counter(), [model.vocabulary.encode(text) for text in texts]
    with torch.inference_mode():
        value = np.array([chance(model, history, ids) for ids in cuts])
    return Distribution(
        question=f"the canonical tokens of {', '.join(map(repr, texts))}",
        confidence=0.95,
        interval_kind="exact",
        undecided=max(0.0, 1 - float(value.sum())),
        calls=sum(len(ids) - 1 for ids in cuts),
        seconds=time.perf_counter() - begun,
        method="exact",
        converged=True,
        reason="the product of the chances of the tokens",
        labels=tuple(texts),
        value=value,
        low=value,
        high=value,
        lower_bound=value,
        upper_bound=value,
        standard_error=np.zeros_like(value),
    )
