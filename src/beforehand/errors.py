"""Everything that beforehand raises on purpose.

    BeforehandError
    ├── QueryError              a question that cannot be asked
    │   ├── QuerySyntaxError    its text does not parse
    │   ├── UnknownLabelError   it names a label that the model has never seen
    │   └── TooManyStatesError  its automaton would not fit
    ├── ModelError              a model that breaks its promises, or weights that do not fit
    ├── HistoryError            a history that the model cannot read
    ├── MethodError             a method, budget or precision that makes no sense here
    │   └── TooExpensiveError   an exact answer that would cost more than was allowed
    ├── VocabularyError         labels that do not make a vocabulary
    ├── EventsError             an event log that cannot be read
    └── StorageError            a model that cannot be saved or loaded

Each message says what was wanted, what came instead, and how to mend it.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable


class BeforehandError(Exception):
    """The root: catch this to catch everything that beforehand raises on purpose."""


class QueryError(BeforehandError, ValueError):
    """A question that cannot be asked; `about` is the part of it that is wrong, if a single number or pattern is."""

    def __init__(self, message: str, about: object = None) -> None:
        self.about = about
        super().__init__(message)


class QuerySyntaxError(QueryError):
    """The text of a question does not parse."""


class UnknownLabelError(QueryError):
    """A label that the vocabulary does not hold; `label` names it."""

    def __init__(self, label: str, known: Iterable[str]) -> None:
        self.label = label
        super().__init__(f"there is no event called {label!r}{did_you_mean(label, known)}")


class TooManyStatesError(QueryError):
    """The automaton of a question would grow past the limit."""


class ModelError(BeforehandError, ValueError):
    """A model that breaks its promises, or weights that do not fit it."""


class HistoryError(BeforehandError, ValueError):
    """A history that the model cannot read."""


class MethodError(BeforehandError, ValueError):
    """A method, budget or precision that makes no sense for this question."""


class TooExpensiveError(MethodError):
    """An exact answer that would cost more model calls than was allowed."""


class VocabularyError(BeforehandError, ValueError):
    """Labels that do not make a vocabulary."""


class EventsError(BeforehandError, ValueError):
    """An event log that cannot be read."""


class StorageError(BeforehandError, ValueError):
    """A model that cannot be saved or loaded."""


# Of more names than these, only those that begin alike and are about as long are compared letter by letter.
MANY = 2_000


def _may_be_meant(word: str, name: str) -> bool:
    return abs(len(word) - len(name)) <= 3 and name[:1] == word[:1] and sum((Counter(word) - Counter(name)).values()) <= 2


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known ones, or the first few."""
    names = list(known)
    folded = {name.casefold(): name for name in names}
    alike = folded if len(folded) <= MANY else [name for name in folded if _may_be_meant(word.casefold(), name)]
    near = difflib.get_close_matches(word.casefold(), alike, n=3, cutoff=0.6) if len(alike) <= MANY else []
    if near:
        return "; did you mean " + " or ".join(repr(folded[name]) for name in near) + "?"
    shown = ", ".join(map(repr, names[:5]))
    return f"; known are {shown}{', …' if len(names) > 5 else ''} ({len(names)} in all)"
