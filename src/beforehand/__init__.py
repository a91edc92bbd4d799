"""Probability questions about the future of any autoregressive sequence model.

Names are imported when they are first used, so that a command which needs no model does not wait for torch.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beforehand import errors, methods, models
    from beforehand.answers import (
        Answer,
        Answers,
        Distribution,
        FuturesFound,
        ask,
        ask_many,
        continuations,
        resolving,
        restricted_entropy,
    )
    from beforehand.backtesting import Backtest, backtest
    from beforehand.errors import BeforehandError
    from beforehand.events import EventLog, Vocabulary, read_events
    from beforehand.models import Markov, Recurrent, Tempered, Transformer, load, load_language_model, prepare, save, train
    from beforehand.queries import (
        E,
        P,
        Repeat,
        always,
        any_event,
        chain,
        choice,
        count,
        event,
        futures,
        matches,
        matching,
        never,
        next_event,
        occurs,
        parse,
        pattern,
        products,
        text,
        token,
        when,
        which,
    )
    from beforehand.scoring import score

__version__ = "0.1.0"

# Threads that spin for long while they wait for each other make torch many times slower on a machine that does other work as well.
# A short spin costs nothing where it does not. Heeded if torch is not loaded yet, and left alone if somebody has set it.
SHORT_SPIN = "10000"
os.environ.setdefault("GOMP_SPINCOUNT", SHORT_SPIN)

_HOMES = {
    "backtesting": ("Backtest", "backtest"),
    "scoring": ("score",),
    "answers": (
        "Answer",
        "Answers",
        "Distribution",
        "FuturesFound",
        "ask",
        "ask_many",
        "continuations",
        "restricted_entropy",
        "resolving",
    ),
    "errors": ("BeforehandError",),
    "events": (
        "EventLog",
        "Vocabulary",
        "read_events",
    ),
    "models": (
        "Markov",
        "Recurrent",
        "Tempered",
        "Transformer",
        "load",
        "load_language_model",
        "prepare",
        "save",
        "train",
    ),
    "queries": (
        "E",
        "P",
        "Repeat",
        "always",
        "any_event",
        "chain",
        "choice",
        "count",
        "event",
        "futures",
        "matches",
        "matching",
        "never",
        "next_event",
        "occurs",
        "parse",
        "pattern",
        "products",
        "text",
        "token",
        "when",
        "which",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ("errors", "methods", "models")

__all__ = [
    "Answer",
    "Answers",
    "Backtest",
    "BeforehandError",
    "Distribution",
    "E",
    "EventLog",
    "FuturesFound",
    "Markov",
    "P",
    "Recurrent",
    "Repeat",
    "Tempered",
    "Transformer",
    "Vocabulary",
    "always",
    "any_event",
    "ask",
    "ask_many",
    "backtest",
    "chain",
    "choice",
    "continuations",
    "count",
    "errors",
    "event",
    "futures",
    "load",
    "load_language_model",
    "matches",
    "matching",
    "methods",
    "models",
    "never",
    "next_event",
    "occurs",
    "parse",
    "pattern",
    "prepare",
    "products",
    "read_events",
    "resolving",
    "restricted_entropy",
    "save",
    "score",
    "text",
    "token",
    "train",
    "when",
    "which",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"beforehand.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"beforehand.{_HOME[name]}"), name)
    raise AttributeError(f"module 'beforehand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
