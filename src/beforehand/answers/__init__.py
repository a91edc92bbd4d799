"""Answers: an estimate becomes something a person uses.

In: a model, questions as text or objects, histories as labels or ids. Out: `Answer`, `Distribution`, `FuturesFound`, and tables of
them. `plan` decides which questions share a pass and by which method, `read` knows what the numbers of a tally are called,
`intervals` is the one place where error bars are made.
"""

from beforehand.answers.answer import Answer, Distribution, Future, FuturesFound
from beforehand.answers.ask import Answers, ask, ask_many
from beforehand.answers.continuations import continuations
from beforehand.answers.entropy import restricted_entropy
from beforehand.answers.resolve import Resolving, resolving

__all__ = [
    "Answer",
    "Answers",
    "Distribution",
    "Future",
    "FuturesFound",
    "Resolving",
    "ask",
    "ask_many",
    "continuations",
    "resolving",
    "restricted_entropy",
]
