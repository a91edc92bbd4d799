"""Events: labels become integers.

In: the labels of a log or a model. Out: a `Vocabulary`, the one place where labels, ids, the start symbol, the end of a
sequence and named groups are known. Nothing here knows of models or questions.
"""

from beforehand.events.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
