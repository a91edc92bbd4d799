"""Automata against the oracle, over all words of small vocabularies."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from automata.fa.nfa import NFA
from hypothesis import given, settings

from beforehand.errors import QueryError, TooManyStatesError
from beforehand.events import Vocabulary
from beforehand.queries import GIVEN_NOT, GIVEN_SO, OPEN, YES, compile_questions, parse
from beforehand.queries import propositions as say
from beforehand.queries import questions as ask
from beforehand.testing import check_automaton, letters
from tests.queries.oracle import Oracle, needed_length
from tests.queries.strategies import pattern, propositions, sets
from tests.queries.walk import walk

# In the last one the questions' own labels include the end.
OPEN_ENDED, ENDING, ENDING_IN_C = letters(3), letters(4, end=True), Vocabulary(["a", "b", "c"], end="c")


def words(vocabulary: Vocabulary, length: int) -> list[tuple[int, ...]]:
    """All words of a length; those that hold the end event are cut after it."""
    return list(dict.fromkeys(_cut(word, vocabulary.end_id) for word in itertools.product(range(len(vocabulary)), repeat=length)))


def _cut(word: tuple[int, ...], end: int | None) -> tuple[int, ...]:
    return word[: word.index(end) + 1] if end in word else word


@pytest.mark.parametrize("vocabulary", [OPEN_ENDED, ENDING, ENDING_IN_C], ids=["endless", "ending", "ending in c"])
@given(propositions)
@settings(max_examples=120, deadline=None)
def test_propositions_mean_what_the_oracle_says(vocabulary: Vocabulary, proposition: say.Proposition) -> None:
    automaton, oracle = compile_questions((ask.Probability(proposition),), vocabulary), Oracle(vocabulary)
    check_automaton(automaton)
    for word in words(vocabulary, needed_length(proposition)):
        (outcome,), _ = walk(automaton, word)
        assert outcome >= 0, f"{proposition} is undecided after {word}"
        assert (outcome == YES) == oracle.holds(proposition, word), f"{proposition} after {word}"


@given(propositions, propositions)
@settings(max_examples=60, deadline=None)
def test_conditions(proposition: say.Proposition, given_: say.Proposition) -> None:
    automaton, oracle = compile_questions((ask.Probability(proposition, given_),), ENDING), Oracle(ENDING)
    check_automaton(automaton)
    for word in words(ENDING, max(needed_length(proposition), needed_length(given_))):
        (outcome,), _ = walk(automaton, word)
        wanted = 0 if not oracle.holds(given_, word) else GIVEN_SO if oracle.holds(proposition, word) else GIVEN_NOT
        assert outcome == wanted


@given(propositions, propositions)
@settings(max_examples=60, deadline=None)
def test_two_questions_in_one_pass_come_out_as_each_alone(one: say.Proposition, other: say.Proposition) -> None:
    both = compile_questions((ask.Probability(one), ask.Probability(other)), ENDING)
    check_automaton(both)
    for word in words(ENDING, max(needed_length(one), needed_length(other))):
        outcomes, _ = walk(both, word)
        assert [o == YES for o in outcomes] == [Oracle(ENDING).holds(p, word) for p in (one, other)]


@given(sets)
@settings(max_examples=40, deadline=None)
def test_distributions(events: object) -> None:
    when, count = parse(f"when({events}) within 4"), parse(f"count({events}) within 4")
    for vocabulary in (ENDING, ENDING_IN_C):
        oracle = Oracle(vocabulary)
        for word in words(vocabulary, 4):
            hits = [i + 1 for i, e in enumerate(word) if e in oracle.of(events)]  # type: ignore[arg-type]
            (outcome,), (step,) = walk(compile_questions((when,), vocabulary), word)
            assert (outcome, step) == (YES, hits[0]) if hits else outcome == 0
            assert walk(compile_questions((count,), vocabulary), word)[0] == [len(hits)]


def test_which_event_and_before() -> None:
    for word in words(ENDING, 4):
        first = next((e for e in word if e in (0, 1)), None)
        assert walk(compile_questions((parse("which(a, b) within 4"),), ENDING), word)[0] == [2 if first is None else first]
        assert walk(compile_questions((parse("event(3)"),), ENDING), word)[0] == [word[2] if len(word) > 2 else 3]
        (outcome,), _ = walk(compile_questions((parse("P(a before b within 4)"),), ENDING), word)
        open_still = first is None and 3 not in word
        assert outcome == (OPEN if open_still else int(first == 0))


@given(pattern)
@settings(max_examples=80, deadline=None)
def test_patterns_against_an_independent_automata_package(wanted: object) -> None:
    vocabulary = letters(3)
    text = _for_automata_lib(Oracle(vocabulary).expression(wanted))  # type: ignore[arg-type]
    if text is None:
        return
    oracle = NFA.from_regex(text, input_symbols={"a", "b", "c"})
    automaton = compile_questions((ask.Probability(say.Matches(wanted, 5)),), vocabulary)  # type: ignore[arg-type]
    for word in words(vocabulary, 5):
        letters_ = "".join("abc"[e] for e in word)
        wanted_answer = any(oracle.accepts_input(letters_[:n]) for n in range(6))
        assert (walk(automaton, word)[0] == [YES]) == wanted_answer


def _for_automata_lib(expression: str) -> str | None:
    """Its dialect writes a class as a choice, and knows no empty one."""
    if "[^" in expression:
        return None
    plain = re.sub(r"\[(\w+)\]", lambda found: "(" + "|".join(found[1]) + ")", expression)
    return plain.replace("(?:", "(")


@pytest.mark.parametrize("n,horizon", [(0, 5), (3, 10), (30, 60), (250, 500)])
def test_counting_is_one_small_automaton_however_many_products(n: int, horizon: int) -> None:
    automaton = compile_questions((parse(f"P(count(a) = {n} within {horizon})"),), letters(3))
    assert automaton.states <= n + 2, f"{automaton.states} states for the {math.comb(horizon, n)} products"


def test_states_that_can_only_come_out_one_way_are_decided_early() -> None:
    automaton = compile_questions((parse("P(count(a) = 3 within 4)"),), letters(2))
    assert walk(automaton, (1, 1))[1] == [2], "two misses in four leave no room for three hits"


def test_unions_of_set_products_with_overlaps() -> None:
    from beforehand.queries import P, products

    automaton = compile_questions((P(products(["a", "b", "a"], [{"a", "b"}, "b", {"a", "c"}])),), letters(3))
    for word in words(letters(3), 3):
        assert walk(automaton, word)[0] == [int(word in {(0, 1, 0), (1, 1, 0), (0, 1, 2), (1, 1, 2)})]


@pytest.mark.parametrize(
    "text",
    [
        "P(w5 within 30)",
        "P(count({w1, w2}) = 30 within 60)",
        "event(10)",
        "P(/7$/ before w3)",
        "P((w1 within 9) and not (w2 within 10))",
    ],
)
def test_large_vocabularies_cost_one_number_an_event(text: str) -> None:
    vocabulary = Vocabulary([f"w{i}" for i in range(50_000)])
    automaton = compile_questions((parse(text),), vocabulary)
    numbers = automaton.classes.size + automaton.moves.next.size + automaton.moves.emits.size
    assert numbers <= 10 * len(vocabulary)
    assert automaton.class_count <= 4 or text == "event(10)"


def test_exploding_states_are_an_error() -> None:
    parts = " and ".join(f"count({{w{i}, w{i + 1}}}) = 40 within 80" for i in range(6))
    with pytest.raises(TooManyStatesError, match="states"):
        compile_questions((parse(f"P({parts})"),), Vocabulary([f"w{i}" for i in range(10)]))
    with pytest.raises(TooManyStatesError, match="pattern"):
        compile_questions((parse("P(matches (w1 w2){3000} within 10)"),), Vocabulary(["w1", "w2"]))


def test_sets_that_meet_cannot_race() -> None:
    with pytest.raises(QueryError, match="'b' is in more than one"):
        compile_questions((parse("which({a, b}, {b, c}) within 3"),), letters(3))


def test_classes_are_those_that_the_sets_induce() -> None:
    automaton = compile_questions((parse("P({a, b} before {c, b})"),), letters(5))
    assert automaton.class_count == 4
    assert len(np.unique(automaton.classes[:3])) == 3
    assert automaton.classes[3] == automaton.classes[4]
