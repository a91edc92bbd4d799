"""Labels and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from beforehand.errors import UnknownLabelError, VocabularyError


@dataclass(frozen=True)
class Vocabulary:
    """The events a model knows: label i has id i.

    `start` is the label that models put before every history, `end` the one after which nothing happens; both, if given,
    are among the labels. `groups` names sets of labels that questions may use like a label.

    >>> shop = Vocabulary(["browse", "cart", "purchase"], groups={"buying": ["cart", "purchase"]})
    >>> shop.ids(["purchase", "browse"])
    [2, 0]
    """

    labels: tuple[str, ...]
    start: str | None = None
    end: str | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __init__(
        self,
        labels: Iterable[object],
        start: str | None = None,
        end: str | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        if not isinstance(labels, Iterable):
            raise VocabularyError(f"labels is a list of labels; got {labels!r}")
        if groups is not None and not isinstance(groups, Mapping):
            raise VocabularyError(f"groups is a mapping from names to lists of labels; got {groups!r}")
        members = {name: tuple(map(str, group)) for name, group in (groups or {}).items()}
        for name, value in {"labels": tuple(map(str, labels)), "start": start, "end": end, "groups": members}.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if not self.labels:
            raise VocabularyError("a vocabulary needs at least one label")
        if len(self.index) < len(self.labels):
            twice = next(label for i, label in enumerate(self.labels) if self.index[label] != i)
            raise VocabularyError(f"the label {twice!r} stands twice in the vocabulary; labels must differ")
        for role, label in (("start", self.start), ("end", self.end)):
            if label is not None and label not in self.index:
                raise VocabularyError(f"the {role} label {label!r} is not among the labels; add it to them")
        for name, group in self.groups.items():
            if name in self.index:
                raise VocabularyError(f"the group {name!r} has the name of a label; call it something else")
            for label in group:
                self.id(label)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def index(self) -> dict[str, int]:
        """Label to id."""
        return {label: i for i, label in enumerate(self.labels)}

    @property
    def start_id(self) -> int | None:
        """The id of the start label, if there is one."""
        return None if self.start is None else self.index[self.start]

    @property
    def end_id(self) -> int | None:
        """The id of the end label, if there is one."""
        return None if self.end is None else self.index[self.end]

    def id(self, label: str) -> int:
        """The id of a label; an unknown one is an error that names the nearest."""
        try:
            return self.index[label]
        except KeyError:
            if label in self.groups:
                raise VocabularyError(f"{label!r} is a group of events; here a single event is wanted") from None
            raise UnknownLabelError(label, [*self.labels, *self.groups]) from None

    def ids(self, labels: Iterable[str]) -> list[int]:
        """The ids of labels."""
        return [self.id(label) for label in labels]

    def members(self, name: str) -> list[int]:
        """The ids that a name stands for: one for a label, all of its labels for a group."""
        return self.ids(self.groups[name]) if name in self.groups else [self.id(name)]
