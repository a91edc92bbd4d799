"""What each proposition means, said a second time without automata: the truth that the automata are held against.

A word is a tuple of event ids; if it holds the end event, that is its last one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beforehand.events import Vocabulary
from beforehand.queries import patterns
from beforehand.queries import propositions as say
from beforehand.queries.sets import EventSet


class Oracle:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.end = vocabulary, vocabulary.end_id

    def of(self, events: EventSet) -> set[int]:
        return {i for i, member in enumerate(events.resolve(self.vocabulary)) if member}

    def holds(self, p: say.Proposition, word: Sequence[int]) -> bool:
        if isinstance(p, say.And):
            return all(self.holds(part, word) for part in p.parts)
        if isinstance(p, say.Or):
            return any(self.holds(part, word) for part in p.parts)
        if isinstance(p, say.Not):
            return not self.holds(p.part, word)
        if isinstance(p, say.Occurs):
            return any(e in self.of(p.events) for e in word[: p.horizon])
        if isinstance(p, say.Never):
            return not any(e in self.of(p.events) for e in word[: p.horizon])
        if isinstance(p, say.Always):
            return all(e in self.of(p.events) for e in word[: p.horizon] if e != self.end)
        if isinstance(p, say.Before):
            first, second = self.of(p.first), self.of(p.second)
            met = [e for e in word[: p.horizon] if e in first | second]
            return bool(met) and met[0] in first and met[0] not in second
        if isinstance(p, say.Until):
            goals = [i for i, e in enumerate(word[: p.horizon]) if e in self.of(p.goal)]
            return bool(goals) and all(e in self.of(p.hold) for e in word[: goals[0]])
        if isinstance(p, say.EventIs):
            reached = word[p.step - 1] if len(word) >= p.step else self.end
            return reached in self.of(p.events)
        if isinstance(p, say.WhenIs):
            hits = [i + 1 for i, e in enumerate(word) if e in self.of(p.events)]
            if p.high is None:
                return not hits or hits[0] >= p.low
            return bool(hits) and p.low <= hits[0] <= p.high
        if isinstance(p, say.CountIs):
            count = sum(e in self.of(p.events) for e in word[: p.horizon])
            return p.low <= count and (p.high is None or count <= p.high)
        if isinstance(p, say.Sequence):
            return self._sequence(p, word[: p.horizon], 0, 0, False)
        assert isinstance(p, say.Matches)
        text = "".join(chr(97 + e) for e in word[: p.horizon])
        return re.match(self.expression(p.pattern), text) is not None

    def _sequence(self, p: say.Sequence, word: Sequence[int], step: int, begin: int, at_once: bool) -> bool:
        if step == len(p.steps):
            return True
        places = range(begin, min(begin + 1, len(word)) if at_once else len(word))
        soon = step < len(p.immediate) and p.immediate[step]
        return any(word[i] in self.of(p.steps[step]) and self._sequence(p, word, step + 1, i + 1, soon) for i in places)

    def expression(self, pattern: patterns.Pattern) -> str:
        """The pattern for Python's own regular expressions, event i being the i-th letter."""
        if isinstance(pattern, patterns.One):
            members = "".join(chr(97 + e) for e in sorted(self.of(pattern.events)))
            return f"[{members}]" if members else "[^\\s\\S]"
        if isinstance(pattern, patterns.Chain):
            return "".join(f"(?:{self.expression(part)})" for part in pattern.parts)
        if isinstance(pattern, patterns.Choice):
            return "(?:" + "|".join(self.expression(part) for part in pattern.parts) + ")"
        assert isinstance(pattern, patterns.Repeat)
        return f"(?:{self.expression(pattern.part)}){{{pattern.low},{'' if pattern.high is None else pattern.high}}}"


def needed_length(p: object) -> int:
    """After how many events a proposition with a horizon is decided."""
    if isinstance(p, say.And | say.Or):
        return max(needed_length(part) for part in p.parts)
    if isinstance(p, say.Not):
        return needed_length(p.part)
    if isinstance(p, say.EventIs):
        return p.step
    if isinstance(p, say.WhenIs):
        return p.high if p.high is not None else p.low
    return int(p.horizon)  # type: ignore[attr-defined]
