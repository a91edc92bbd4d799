"""How a set of questions will be answered: which go together, by which method, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beforehand.errors import MethodError, TooManyStatesError, did_you_mean
from beforehand.estimators import METHODS, Method, prefixes, work
from beforehand.estimators.methods import DEFAULT_BUDGET, Exact
from beforehand.events import Vocabulary
from beforehand.models import Markov, Model
from beforehand.queries import Automaton, EventAt, Question, compile_questions

# Dynamic programming over a Markov model's contexts is preferred up to this much work: a few seconds.
CHEAP_WORK = 5e9


@dataclass(frozen=True)
class Group:
    """Questions answered in one pass, with their places in the order asked."""

    questions: tuple[Question, ...]
    places: tuple[int, ...]
    automaton: Automaton


@dataclass(frozen=True)
class Choice:
    """A method, and the reason for it in words."""

    method: Method
    reason: str
    solved: bool = False  # by dynamic programming, without any run


def group(questions: Sequence[Question], vocabulary: Vocabulary) -> list[Group]:
    """Questions share a pass where their joint automaton has no more states than theirs together.

    So all hitting times of one event go together, all counts, and both directions of `before`. The order of the questions
    makes no difference: they are taken in the order of their texts.
    """
    order = sorted(range(len(questions)), key=lambda i: str(questions[i]))
    groups: list[list[int]] = []
    for i in order:
        home = next((members for members in groups if _together(questions, [*members, i], vocabulary)), None)
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    made = []
    for members in groups:
        distinct = tuple(dict.fromkeys(questions[i] for i in members))
        made.append(Group(tuple(questions[i] for i in members), tuple(members), compile_questions(distinct, vocabulary)))
    return made


def _together(questions: Sequence[Question], members: list[int], vocabulary: Vocabulary) -> bool:
    distinct = tuple(dict.fromkeys(questions[i] for i in members))
    if len(distinct) == 1:
        return True
    if any(isinstance(question, EventAt) for question in distinct):
        return False
    known, new = compile_questions(distinct[:-1], vocabulary), compile_questions(distinct[-1:], vocabulary)
    if (known.horizon is None) != (new.horizon is None):
        return False
    try:
        return compile_questions(distinct, vocabulary).states <= known.states + new.states
    except TooManyStatesError:
        return False


def resolve(method: str | Method) -> Method | None:
    """A method by name; None for auto."""
    if not isinstance(method, str):
        if isinstance(method, type) or not hasattr(method, "policy"):
            raise MethodError(f"a method is a name or one of bh.methods; got {method!r}")
        return method
    if method == "auto":
        return None
    if method not in METHODS:
        raise MethodError(f"there is no method {method!r}{did_you_mean(method, ['auto', *METHODS])}")
    return METHODS[method]


def choose(method: Method | None, model: Model, automaton: Automaton, budget: int | None) -> Choice:
    """The method asked for, or the cheapest that is exact, or else the best estimate."""
    known_contexts = isinstance(model, Markov)
    if isinstance(method, Exact) and known_contexts:
        return Choice(method, "a Markov model: dynamic programming over its contexts", solved=True)
    if method is not None:
        return Choice(method, "asked for")
    if isinstance(model, Markov) and work(model, automaton, 1) <= CHEAP_WORK:
        return Choice(METHODS["exact"], "a Markov model: dynamic programming over its contexts", solved=True)
    allowed = budget or DEFAULT_BUDGET
    if automaton.horizon is not None and (needed := prefixes(automaton, allowed)) <= allowed:
        return Choice(Exact(), f"all {needed:,.0f} prefixes fit the budget of {allowed:,} calls")
    return Choice(METHODS["sieve"], "too many prefixes to follow them all")
