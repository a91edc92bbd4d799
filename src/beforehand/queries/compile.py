"""Questions and a vocabulary to one automaton."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from beforehand.errors import QueryError, TooManyStatesError
from beforehand.events import Vocabulary
from beforehand.queries import propositions as say
from beforehand.queries import questions as ask
from beforehand.queries.automaton import Automaton, Deadline, Moves
from beforehand.queries.minimise import minimise
from beforehand.queries.pieces import NO, OPEN, YES, Masks, Piece, counting, piece, racing
from beforehand.queries.product import Combination, product, single
from beforehand.queries.sets import Anything, EventSet
from beforehand.queries.texts import Text, walk

Ints = NDArray[np.int64]
Verdict = Callable[[Ints], Ints]

# The outcomes of a conditional question.
ELSEWHERE, GIVEN_NOT, GIVEN_SO = 0, 1, 2


@lru_cache(maxsize=512)
def compile_questions(questions: tuple[ask.Question, ...], vocabulary: Vocabulary) -> Automaton:
    """One automaton that answers all the questions in one pass.

    Only the sets that the questions name matter: events that are in the same ones form a class. The end of a sequence is
    a class of its own.
    """
    if len(questions) == 1 and isinstance(questions[0], ask.EventAt):
        return _event_at(questions[0].step, vocabulary)
    masks = _Masks(vocabulary)
    _learn(questions, masks.learn)
    pieces: list[Piece] = []
    numbers: dict[object, int] = {}

    def number(key: object, make: Callable[[], Piece]) -> int:
        if key not in numbers:
            numbers[key] = len(pieces)
            pieces.append(make())
        return numbers[key]

    try:
        combined = [_combine(question, masks, number) for question in questions]
    except RecursionError:
        raise TooManyStatesError("the question is nested too deeply; ask its parts apart") from None
    if len(combined) == 1 and len(pieces) == 1 and combined[0].verdict is _as_is:
        automaton = single(pieces[0], masks.classes, combined[0])
        return minimise(automaton) if _from_pattern(questions[0]) else automaton
    return minimise(product(pieces, combined, masks.classes))


class _Masks:
    """The event sets of a question, first over events, then over the classes that they induce."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.of_events: dict[EventSet, NDArray[np.bool_]] = {}
        self.classes: Ints = np.zeros(len(vocabulary), dtype=np.int64)
        self.sizes = np.array([len(vocabulary)])
        if vocabulary.end_id is not None:
            ended = np.zeros(len(vocabulary), dtype=bool)
            ended[vocabulary.end_id] = True
            self._split(ended)

    def learn(self, events: EventSet | tuple[Text, ...]) -> None:
        if isinstance(events, tuple):
            pairs = self.classes * len(self.classes) + walk(events, self.vocabulary).kinds
            _, self.classes, self.sizes = np.unique(pairs, return_inverse=True, return_counts=True)
        elif events not in self.of_events:
            self.of_events[events] = events.resolve(self.vocabulary)
            self._split(self.of_events[events])

    def _split(self, mask: NDArray[np.bool_]) -> None:
        """Classes of which the set holds only a part become two; the work is that of the set, not of the vocabulary."""
        inside = np.flatnonzero(mask)
        kinds, place, counts = np.unique(self.classes[inside], return_inverse=True, return_counts=True)
        parted = counts < self.sizes[kinds]
        renamed = np.where(parted, len(self.sizes) - 1 + np.cumsum(parted), kinds)
        self.classes[inside] = renamed[place]
        self.sizes[kinds[parted]] -= counts[parted]
        self.sizes = np.append(self.sizes, counts[parted])

    @cached_property
    def examples(self) -> Ints:
        """[classes]: the first event of each, once all sets are known."""
        return np.unique(self.classes, return_index=True)[1]

    def __call__(self, events: EventSet) -> NDArray[np.bool_]:
        if isinstance(events, Anything):
            return ~self.ended
        return self.of_events[events][self.examples]

    def race(self, options: tuple[Text, ...]) -> Ints:
        walked = walk(options, self.vocabulary)
        return np.asarray(walked.moves[:, walked.kinds[self.examples]])

    @cached_property
    def ended(self) -> NDArray[np.bool_]:
        end = self.vocabulary.end_id
        return np.asarray(self.examples == (-1 if end is None else end))


def _learn(part: object, learn: Callable[[EventSet | tuple[Text, ...]], None]) -> None:
    """Shows every event set inside a question, and every text with those that it competes with."""
    if isinstance(part, EventSet):
        learn(part)
    elif isinstance(part, Text):
        learn((part,))
    elif isinstance(part, ask.Which) and isinstance(part.options[0], Text):
        learn(part.options)  # type: ignore[arg-type]
    elif isinstance(part, tuple):
        for each in part:
            _learn(each, learn)
    elif hasattr(part, "__dataclass_fields__"):
        for name in part.__dataclass_fields__:
            _learn(getattr(part, name), learn)


def _combine(question: ask.Question, masks: _Masks, number: Callable[[object, Callable[[], Piece]], int]) -> Combination:
    if isinstance(question, ask.Expectation):
        question = question.of
    if isinstance(question, ask.WhenDistribution):
        of_text = isinstance(question.events, Text)
        happens = (say.Says if of_text else say.Occurs)(question.events, question.horizon)  # type: ignore[arg-type]
        return Combination(_as_is, (number(happens, lambda: piece(happens, masks, masks.ended)),), 2, (YES,), timed=True)
    if isinstance(question, ask.CountDistribution):
        asked = question
        made = number(asked, lambda: counting(asked.events, asked.horizon, masks, masks.ended))
        return Combination(_as_is, (made,), asked.horizon + 1, tuple(range(asked.horizon + 1)))
    if isinstance(question, ask.Which):
        race = question
        _check_disjoint(race, masks)
        made = number(race, lambda: racing(race.options, race.horizon, masks, masks.ended))
        return Combination(_as_is, (made,), len(race.options) + 1, tuple(range(len(race.options))))
    if isinstance(question, ask.Futures):
        question = ask.Probability(question.where)
    if not isinstance(question, ask.Probability):
        raise QueryError(f"{question} is asked on its own, not together with other questions")
    return _probability(question, masks, masks.ended, number)


def _probability(
    question: ask.Probability, of: Masks, ended: NDArray[np.bool_], number: Callable[[object, Callable[[], Piece]], int]
) -> Combination:
    used: list[int] = []

    def leaf(proposition: say.Proposition) -> int:
        made = number(proposition, lambda: piece(proposition, of, ended))
        if made not in used:
            used.append(made)
        return used.index(made)

    if not isinstance(question.proposition, say.And | say.Or | say.Not) and question.given is None:
        leaf(question.proposition)
        return Combination(_as_is, tuple(used), 3 if isinstance(question.proposition, say.Before) else 2, (YES,))
    asked = _formula(question.proposition, leaf)
    if question.given is None:
        return Combination(asked, tuple(used), 2, (YES,))
    return Combination(_conditional(asked, _formula(question.given, leaf)), tuple(used), 3, (GIVEN_NOT, GIVEN_SO))


def _as_is(outcomes: Ints) -> Ints:
    return outcomes[:, 0]


def _formula(proposition: say.Proposition, leaf: Callable[[say.Proposition], int]) -> Verdict:
    """Three-valued logic over the outcomes of the pieces: −1 stands for not yet known."""
    if isinstance(proposition, say.Not):
        inner = _formula(proposition.part, leaf)
        return lambda outcomes: np.where((known := inner(outcomes)) >= 0, 1 - known, -1)
    if isinstance(proposition, say.And | say.Or):
        parts = [_formula(part, leaf) for part in proposition.parts]
        final, other = (NO, YES) if isinstance(proposition, say.And) else (YES, NO)
        return lambda outcomes: _joined(np.stack([part(outcomes) for part in parts]), final, other)
    place = leaf(proposition)
    return lambda outcomes: np.where(outcomes[:, place] == OPEN, NO, outcomes[:, place])


def _joined(verdicts: Ints, final: int, other: int) -> Ints:
    return np.where((verdicts == final).any(axis=0), final, np.where((verdicts == other).all(axis=0), other, -1))


def _conditional(asked: Verdict, given: Verdict) -> Verdict:
    def verdict(outcomes: Ints) -> Ints:
        so, condition = asked(outcomes), given(outcomes)
        inside = np.where(so == YES, GIVEN_SO, np.where(so == NO, GIVEN_NOT, -1))
        return np.where(condition == NO, ELSEWHERE, np.where(condition == YES, inside, -1))

    return verdict


def _event_at(step: int, vocabulary: Vocabulary) -> Automaton:
    """Every event is its own class and its own outcome; a sequence that has ended by then counts as ended."""
    count = len(vocabulary)
    next_ = np.array([[0], [-1]]).repeat(count, axis=1)
    emits = np.stack([np.full(count, -1), np.arange(count)])
    if vocabulary.end_id is not None:
        next_[0, vocabulary.end_id], emits[0, vocabulary.end_id] = -1, vocabulary.end_id
    deadlines = {step - 1: Deadline(np.array([1, 1]), np.full((1, 2), -1))} if step > 1 else {}
    deadlines[step] = Deadline(np.array([-1, -1]), np.full((1, 2), -1))
    start = int(step == 1)
    return Automaton(
        np.arange(count), Moves(next_, emits[None]), deadlines, start, (-1,), (count,), (False,), (tuple(range(count)),)
    )


def _check_disjoint(question: ask.Which, masks: _Masks) -> None:
    sets = [option for option in question.options if isinstance(option, EventSet)]
    total = sum((masks(option).astype(int) for option in sets), np.zeros(len(masks.examples), dtype=int))
    if (total > 1).any():
        label = masks.vocabulary.labels[int(masks.examples[int(np.argmax(total > 1))])]
        raise QueryError(f"which(...) compares sets that do not meet, but {label!r} is in more than one of them")


def _from_pattern(question: ask.Question) -> bool:
    asked = (
        question.proposition
        if isinstance(question, ask.Probability)
        else question.where
        if isinstance(question, ask.Futures)
        else None
    )
    return isinstance(asked, say.Sequence | say.Matches | say.Says)
