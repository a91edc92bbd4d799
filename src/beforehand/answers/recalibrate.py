"""Answers corrected by what a backtest found: p becomes σ(a + b·logit p), its interval and bounds with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

from beforehand.answers.answer import Answer
from beforehand.errors import MethodError

# Odds are taken to be finite.
SURE = 1e-9


def recalibrated(answer: Any, known: Mapping[str, Sequence[float]]) -> Answer:
    """The answer by the correction of its own question."""
    if not isinstance(answer, Answer) or answer.question not in known:
        asked = ", ".join(known) or "none yet"
        raise MethodError(
            f"there is no correction for {answer.question}; this model has been backtested, and the result kept, for: {asked}. "
            "See `beforehand backtest --keep`"
        )
    correction = known[answer.question]
    corrected: dict[str, Any] = {
        name: _moved(getattr(answer, name), correction) for name in ("value", "lower_bound", "upper_bound")
    }
    reach = NormalDist().inv_cdf((1 + answer.confidence) / 2)
    low, high = _moved(answer.low, correction, -reach), _moved(answer.high, correction, reach)
    error = max(answer.standard_error, (high - low) / (2 * reach))
    corrected |= {
        "low": low,
        "high": high,
        "standard_error": error,
        "interval_kind": "asymptotic",
        "lower_bound": 0.0,
        "upper_bound": 1.0,
    }
    return replace(answer, **corrected, method=f"{answer.method}, recalibrated")


def _moved(p: float, correction: Sequence[float], reach: float = 0.0) -> float:
    """σ(a + b·logit p), and so many standard errors of that away: the correction comes from some cases only."""
    a, b, of_a, of_b, shared = correction
    if p != p:
        return p
    x = math.log(min(max(p, SURE), 1 - SURE) / (1 - min(max(p, SURE), 1 - SURE)))
    error = math.sqrt(max(0.0, of_a + 2 * x * shared + x * x * of_b))
    return 1 / (1 + math.exp(-(a + b * x + reach * error)))
