"""Sets of events: the words that a question is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import QueryError
from beforehand.events import Vocabulary
from beforehand.events.tokens import spelling

Mask = NDArray[np.bool_]

# Words with a meaning of their own; a label that is one of them is written in quotes.
KEYWORDS = frozenset(
    {"P", "E", "any", "not", "and", "or", "within", "before", "then", "immediately", "never", "always", "until"}
    | {"matches", "next", "event", "when", "count", "which", "in", "futures", "where"}
)
WORD = re.compile(r"[^\W\d]\w*(?:-\w+)*\Z")


class EventSet:
    """Some of the events of a vocabulary; `resolve` says which."""

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """One boolean per event of the vocabulary."""
        raise NotImplementedError

    def __invert__(self) -> EventSet:
        return Complement(self)


@dataclass(frozen=True)
class Labels(EventSet):
    """Events by name; a name may also be a group of the vocabulary."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names:
            raise QueryError("a set of events needs at least one label between its braces")
        object.__setattr__(self, "names", tuple(sorted(set(self.names))))

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """True at the events named."""
        mask = np.zeros(len(vocabulary), dtype=bool)
        for name in self.names:
            mask[vocabulary.members(name)] = True
        return mask

    def __str__(self) -> str:
        shown = [quote(name) for name in self.names]
        return shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"


@dataclass(frozen=True)
class Anything(EventSet):
    """Every event; the end of a sequence is none."""

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """True everywhere but at the end label."""
        mask = np.ones(len(vocabulary), dtype=bool)
        if vocabulary.end_id is not None:
            mask[vocabulary.end_id] = False
        return mask

    def __str__(self) -> str:
        return "any"


@dataclass(frozen=True)
class Complement(EventSet):
    """Every event that is not in the set; the end of a sequence is no event, so it is in neither."""

    of: EventSet

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """True where the inner set is false, but never at the end label."""
        return Anything().resolve(vocabulary) & ~self.of.resolve(vocabulary)

    def __str__(self) -> str:
        return f"not {self.of}"


@dataclass(frozen=True)
class LabelPattern(EventSet):
    """The events in whose label a regular expression is found."""

    pattern: str

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise QueryError(f"matching(...) takes a regular expression: text, and not empty; got {self.pattern!r}")
        plain = re.sub(r"\\(.)", lambda pair: "/" if pair[1] == "/" else pair[0], self.pattern)
        object.__setattr__(self, "pattern", re.sub(r"\\?\n", r"\\n", plain))
        _found(self.pattern, ("",))

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """True where the pattern is found; none at all is an error."""
        mask = _found(self.pattern, vocabulary.labels)
        if not mask.any():
            raise QueryError(f"no label of the {len(vocabulary)} matches /{self.pattern}/", about=self)
        return mask

    def __str__(self) -> str:
        return "/" + self.pattern.replace("/", "\\/") + "/"


@dataclass(frozen=True)
class Spelled(EventSet):
    """The events that add a text with some characters in it, at its beginning or at its end: `token containing "."`."""

    how: str
    characters: str

    def __post_init__(self) -> None:
        if not isinstance(self.characters, str) or not self.characters:
            raise QueryError(f"token {self.how} … takes the characters to look for; got {self.characters!r}")

    def resolve(self, vocabulary: Vocabulary) -> Mask:
        """True where the event's text has them; none at all is an error."""
        wanted = self.characters.encode()
        pieces = spelling(vocabulary)
        found = {
            "containing": lambda: [wanted in piece for piece in pieces],
            "starting with": lambda: [piece.startswith(wanted) for piece in pieces],
            "ending with": lambda: [piece.endswith(wanted) for piece in pieces],
        }[self.how]()
        mask = np.array(found, dtype=np.bool_)
        if not mask.any():
            raise QueryError(f"no event of the {len(vocabulary)} is a token {self.how} {self.characters!r}", about=self.characters)
        return mask

    def __str__(self) -> str:
        return f"token {self.how} {json.dumps(self.characters, ensure_ascii=False)}"


def _found(pattern: str, labels: tuple[str, ...]) -> Mask:
    """Where a regular expression is found. Polars' expressions take time in proportion to the text, whatever the pattern."""
    import polars

    try:
        return np.array(polars.Series(labels, dtype=polars.String).str.contains(pattern).to_numpy(), dtype=bool)
    except polars.exceptions.ComputeError as error:
        reason = str(error).split("\n\nThis error")[0].splitlines()[-1].removeprefix("regex ").removeprefix("error: ")
        raise QueryError(f"/{pattern}/ is not a regular expression: {reason}", about=pattern) from None


def quote(label: str) -> str:
    """A label as the language writes it: bare if it is a plain word, else in double quotes with the usual escapes."""
    return label if WORD.match(label) and label not in KEYWORDS else json.dumps(label, ensure_ascii=False)


def event_set(events: EventSet | str | Iterable[str]) -> EventSet:
    """A set from what Python users write: a label, several labels, or a set already."""
    if isinstance(events, EventSet):
        return events
    if isinstance(events, str):
        return Labels((events,))
    if not isinstance(events, Iterable):
        raise QueryError(f"events are named by labels, which are text; got {events!r}")
    names = tuple(events)
    if not all(isinstance(name, str) for name in names):
        raise QueryError(f"events are named by labels, which are text; got {names!r}")
    return Labels(names)


def matching(pattern: str) -> EventSet:
    """The events in whose label a regular expression is found: `bh.matching("^cart")`."""
    return LabelPattern(pattern)


class token:  # noqa: N801 - reads as a word of the language
    """`token.containing(".")`, `token.starting_with(" the")`, `token.ending_with("ing")`: events by the text that they add."""

    @staticmethod
    def containing(characters: str) -> EventSet:
        """The events whose text has the characters somewhere."""
        return Spelled("containing", characters)

    @staticmethod
    def starting_with(characters: str) -> EventSet:
        """The events whose text begins with the characters."""
        return Spelled("starting with", characters)

    @staticmethod
    def ending_with(characters: str) -> EventSet:
        """The events whose text ends with the characters."""
        return Spelled("ending with", characters)


any_event = Anything()
