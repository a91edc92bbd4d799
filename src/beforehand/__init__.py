"""Probability questions about the future of any autoregressive sequence model."""

from beforehand import errors, methods, models
from beforehand.answers import Answer, Answers, Distribution, FuturesFound, ask, ask_many, restricted_entropy
from beforehand.errors import BeforehandError
from beforehand.events import EventLog, Vocabulary, read_events
from beforehand.models import Markov, Recurrent, Tempered, load, prepare, save
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
    when,
    which,
)

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Answers",
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
    "Vocabulary",
    "always",
    "any_event",
    "ask",
    "ask_many",
    "chain",
    "choice",
    "count",
    "errors",
    "event",
    "futures",
    "load",
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
    "restricted_entropy",
    "save",
    "when",
    "which",
]
