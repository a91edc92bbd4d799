"""An event log as three arrays: all events one after the other, where each user's begin, and when they happened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beforehand.errors import EventsError
from beforehand.events.report import Report
from beforehand.events.vocabulary import Vocabulary

Ids = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
START, END, OTHER = "<start>", "end", "other"


@dataclass(frozen=True, eq=False, repr=False)
class EventLog(Sequence[Ids]):
    """The sequences of many users; `log[i]` are the ids of user i's events, a view into one array.

    >>> log = EventLog.from_sequences([["view", "cart"], ["view"]])
    >>> len(log), log.events, log.labels(0)
    (2, 3, ['view', 'cart'])
    """

    vocabulary: Vocabulary
    ids: Ids
    offsets: NDArray[np.int64]
    users: pl.Series
    times: Floats | None = None  # seconds, of the same epoch or since each user's beginning
    report: Report = field(default_factory=Report)

    @classmethod
    def from_sequences(
        cls,
        sequences: Iterable[Iterable[object]] | Mapping[object, Iterable[object]],
        *,
        complete: bool = False,
        groups: Mapping[str, Iterable[str]] | None = None,
    ) -> EventLog:
        """A log from lists of labels, one a user; a mapping names the users."""
        named = sequences if isinstance(sequences, Mapping) else dict(enumerate(sequences))
        lists = [list(map(str, events)) for events in named.values()]
        frame = pl.DataFrame({"event": pl.Series([event for events in lists for event in events], dtype=pl.String)})
        lengths = np.array([len(events) for events in lists], dtype=np.int64)
        report = Report("lists of labels", rows=len(frame), kept=len(frame), users=len(lists))
        return assemble(
            frame["event"], lengths, pl.Series("user", list(named), strict=False), None, report, complete=complete, groups=groups
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The ids of one user's events, or of several users'."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"user {index} of a log of {len(self)}")
        index %= len(self)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"{len(self):,} users, {self.events:,} events of {len(self.vocabulary):,} kinds"

    @property
    def events(self) -> int:
        """How many there are in all."""
        return len(self.ids)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Events per user."""
        return np.diff(self.offsets)

    def labels(self, index: int) -> list[str]:
        """One user's events by name."""
        return [self.vocabulary.labels[i] for i in self[index].tolist()]

    def of(self, user: object) -> list[str]:
        """The events of the user with this name."""
        found = np.flatnonzero((self.users.cast(pl.String) == str(user)).to_numpy())
        if not len(found):
            raise EventsError(f"there is no user {str(user)!r} in this log; users are like {', '.join(map(repr, self.users[:3]))}")
        return self.labels(int(found[0]))

    def take(self, users: Sequence[int] | NDArray[np.integer[Any]]) -> EventLog:
        """A log of some of the users, by number."""
        chosen = np.asarray(users, dtype=np.int64)
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        times = None if self.times is None else self.times[places]
        return replace(self, ids=self.ids[places], offsets=offsets, users=self.users[chosen], times=times)

    def split(self, share: float = 0.1, seed: int = 0) -> tuple[EventLog, EventLog]:
        """All but a share of the users, and that share. Who is where depends on the user's name and the seed alone."""
        if not 0 < share < 1:
            raise EventsError(f"a share is between 0 and 1; got {share!r}")
        names = self.users.cast(pl.String).to_list()
        digests = [hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=7).digest() for name in names]
        apart = np.array([int.from_bytes(each, "big") for each in digests]) < share * 2**56
        if len(apart) > 1 and (apart.all() or not apart.any()):
            apart[np.argmin(apart) if apart.all() else -1] ^= True
        return self.take(np.flatnonzero(~apart)), self.take(np.flatnonzero(apart))

    def split_at(self, time: float) -> tuple[EventLog, EventLog]:
        """What happened before a time (in the log's seconds), and what happened from then on, to the same users."""
        if self.times is None:
            raise EventsError("this log has no times to be split at; split(share) parts it by users")
        return self._where(self.times < time), self._where(self.times >= time)

    def _where(self, kept: NDArray[np.bool_]) -> EventLog:
        owner = np.repeat(np.arange(len(self)), self.lengths)
        lengths = np.bincount(owner[kept], minlength=len(self))
        there = lengths > 0
        offsets = np.concatenate([[0], np.cumsum(lengths[there])])
        times = None if self.times is None else self.times[kept]
        return replace(self, ids=self.ids[kept], offsets=offsets, users=self.users.filter(pl.Series(there)), times=times)


def assemble(
    events: pl.Series,
    lengths: NDArray[np.int64],
    users: pl.Series,
    times: Floats | None,
    report: Report,
    *,
    min_count: int = 1,
    complete: bool = False,
    groups: Mapping[str, Iterable[str]] | None = None,
    vocabulary: Vocabulary | None = None,
) -> EventLog:
    """A log from labels in order of users and time. A vocabulary that is given is kept to; what it does not know is an error."""
    if vocabulary is None:
        events, labels = _counted(events, min_count, report)
        end = (END if END not in labels else f"<{END}>") if complete else None
        labels += [end] if end is not None else []
        members = _members(groups or {}, set(labels), report)
        start = START if START not in labels else f"<{START}>"
        vocabulary = Vocabulary([*labels, start], start=start, end=end, groups=members)
    known = events.cast(pl.Enum(vocabulary.labels), strict=False)
    if known.null_count() and (folded := next((each for each in (f"<{OTHER}>", OTHER) if each in vocabulary.index), None)):
        unseen = events.filter(known.is_null())
        report.notes.append(
            f"{len(unseen):,} events of {unseen.n_unique():,} kinds that are not in the vocabulary became {folded!r}"
        )
        known = known.fill_null(folded)
    if known.null_count():
        strange = events.filter(known.is_null()).unique().sort()
        raise EventsError(
            f"the model has never seen {', '.join(map(repr, strange[:5]))}{', …' if len(strange) > 5 else ''} "
            f"({known.null_count():,} of {len(events):,} events); read the log with the labels that the model knows, or train anew"
        )
    kind = np.uint16 if len(vocabulary) < 2**16 else np.int32
    ids: Ids = known.to_physical().to_numpy().astype(kind)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if complete and vocabulary.end_id is not None:
        ids = np.insert(ids, offsets[1:], kind(vocabulary.end_id))
        times = None if times is None else np.insert(times, offsets[1:], times[np.maximum(offsets[1:] - 1, 0)])
        offsets = offsets + np.arange(len(offsets))
        report.notes.append(f"every sequence ends with the event {vocabulary.end!r}, because the sequences are complete")
    report.kinds = len(vocabulary) - sum(label is not None for label in (vocabulary.start, vocabulary.end))
    return EventLog(vocabulary, ids, offsets, users, times, report)


def _counted(events: pl.Series, min_count: int, report: Report) -> tuple[pl.Series, list[str]]:
    """The labels, frequent ones first; those seen less often than `min_count` are folded into one."""
    counts = pl.DataFrame({"event": events}).group_by("event").len().sort(["len", "event"], descending=[True, False])
    rare = counts.filter(pl.col("len") < min_count)
    labels: list[str] = counts.filter(pl.col("len") >= min_count)["event"].to_list()
    if len(rare):
        other = OTHER if OTHER not in counts["event"] else f"<{OTHER}>"
        report.notes.append(
            f"{len(rare):,} kinds of events seen less than {min_count} times ({rare['len'].sum():,} events) became {other!r}"
        )
        events = pl.DataFrame({"event": events}).with_columns(
            pl.when(pl.col("event").is_in(rare["event"].implode())).then(pl.lit(other)).otherwise(pl.col("event")).alias("event")
        )["event"]
        labels.append(other)
    return events, labels


def _members(groups: Mapping[str, Iterable[str]], labels: set[str], report: Report) -> dict[str, list[str]]:
    """Groups with the labels that there are; the others are named in the report."""
    members = {}
    for name, wanted in groups.items():
        given = list(map(str, wanted))
        members[name] = [label for label in given if label in labels]
        if len(members[name]) < len(given):
            missing = [label for label in given if label not in labels]
            report.notes.append(f"group {name!r}: {', '.join(map(repr, missing[:5]))} did not happen, and were left out")
        if not members[name]:
            raise EventsError(f"the group {name!r} has no event that happened; its labels are {', '.join(map(repr, given[:5]))}")
    return members
