"""Answers corrected by what a backtest found: p becomes σ(a + b·logit p), its interval and bounds with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from beforehand.answers.answer import Answer
from beforehand.errors import MethodError


def recalibrated(answer: Any, known: Mapping[str, Sequence[float]]) -> Answer:
    """The answer by the correction of its own question."""
    if not isinstance(answer, Answer) or answer.question not in known:
        asked = ", ".join(known) or "none yet"
        raise MethodError(
            f"there is no correction for {answer.question}; this model has been backtested, and the result kept, for: {asked}. "
            "See `beforehand backtest --keep`"
        )
    a, b = known[answer.question]
    names = ("value", "low", "high", "lower_bound", "upper_bound")
    corrected: dict[str, Any] = {name: _moved(getattr(answer, name), a, b) for name in names}
    slope = (corrected["high"] - corrected["low"]) / (answer.high - answer.low) if answer.high > answer.low else 0.0
    return replace(answer, **corrected, standard_error=answer.standard_error * slope, method=f"{answer.method}, recalibrated")


def _moved(p: float, a: float, b: float) -> float:
    if p <= 0 or p >= 1 or p != p:
        return p
    return 1 / (1 + math.exp(-(a + b * math.log(p / (1 - p)))))
