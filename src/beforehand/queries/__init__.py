"""Queries: a question becomes an automaton.

In: text, or the builders' objects, and a vocabulary. Out: an `Automaton`, dense tables over the few classes of events that
the question tells apart. Sets (`sets`), patterns, propositions and questions are plain frozen values; `parse` reads the
language of `language.lark`; `pieces` turns elementary propositions into little automata, `product` walks several at once,
`minimise` merges what cannot be told apart. Nothing here knows of models.
"""

from beforehand.queries.automaton import Automaton, Deadline, Ints, Moves
from beforehand.queries.builders import (
    E,
    P,
    always,
    as_question,
    count,
    event,
    futures,
    matches,
    never,
    next_event,
    occurs,
    products,
    text,
    when,
    which,
)
from beforehand.queries.compile import ELSEWHERE, GIVEN_NOT, GIVEN_SO, compile_questions
from beforehand.queries.parse import locate, parse
from beforehand.queries.patterns import Pattern, Repeat, chain, choice, pattern
from beforehand.queries.pieces import NO, OPEN, YES
from beforehand.queries.propositions import Before, Occurs, Proposition
from beforehand.queries.questions import (
    CountDistribution,
    EventAt,
    Expectation,
    Futures,
    Probability,
    Question,
    WhenDistribution,
    Which,
)
from beforehand.queries.sets import EventSet, any_event, matching, token

__all__ = [
    "ELSEWHERE",
    "GIVEN_NOT",
    "GIVEN_SO",
    "NO",
    "OPEN",
    "YES",
    "Automaton",
    "Before",
    "CountDistribution",
    "Deadline",
    "E",
    "EventAt",
    "EventSet",
    "Expectation",
    "Futures",
    "Ints",
    "Moves",
    "Occurs",
    "P",
    "Pattern",
    "Probability",
    "Proposition",
    "Question",
    "Repeat",
    "WhenDistribution",
    "Which",
    "always",
    "any_event",
    "as_question",
    "chain",
    "choice",
    "compile_questions",
    "count",
    "event",
    "futures",
    "locate",
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
]
