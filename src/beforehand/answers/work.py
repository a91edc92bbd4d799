"""Doing what was asked: in passes that fit the memory, and again with more calls where a precision is wanted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from beforehand.answers.answer import Result
from beforehand.answers.plan import Choice, Group, choose
from beforehand.answers.read import Circumstances, answers
from beforehand.estimators import Method, Tally, averaged, history_keys, run, solve
from beforehand.estimators.local import MOST_EVENTS
from beforehand.estimators.methods import DEFAULT_BUDGET, Sieve
from beforehand.models import Model

# What a pass holds for every candidate, in half a dozen arrays of numbers (benchmarks/large.py).
BYTES_PER_CANDIDATE = 30
# Without a budget, a long horizon still has so many rows a step on average.
ROWS_A_STEP = 32
# Less is taken as this much: the process itself takes more, and the answer should not depend on it.
LEAST_MEMORY = 16_000_000
# Beyond so many candidates, the arrays leave the processor's cache and everything takes twice as long.
CANDIDATES_AT_ONCE = 800_000
# A wanted precision is approached from this many calls, four times as many each time, up to this many in all.
FIRST_BUDGET, GROWTH, LAST_BUDGET = 500, 4, 1_000_000


@dataclass(frozen=True)
class Work:
    """Everything that was asked for, apart from the questions and the histories."""

    model: Model
    method: Method | None
    budget: int | None
    precision: float | None
    confidence: float
    seed: int
    memory: int

    def answer(self, questions: Group, ids: Sequence[list[int]]) -> list[list[Result]]:
        """Per question of the group, one answer per history."""
        rows = self._until_precise(questions, ids) if self.precision is not None else self._pass(questions, ids, self.budget)
        return [list(column) for column in zip(*rows, strict=True)]

    def _until_precise(self, questions: Group, ids: Sequence[list[int]]) -> list[list[Result]]:
        """Runs of growing budgets; only the histories whose answers are not yet precise go on to the next."""
        found: list[list[Result]] = [[] for _ in ids]
        spent, budget, limit = 0, FIRST_BUDGET, self.budget or LAST_BUDGET
        pending = list(range(len(ids)))
        while pending:
            budget = min(max(budget, 2 * (questions.automaton.horizon or 1)), limit - spent)
            for place, row in zip(pending, self._pass(questions, [ids[i] for i in pending], budget), strict=True):
                before = found[place]
                found[place] = [_adding(answer, *(before[i : i + 1])) for i, answer in enumerate(row)]
            spent += budget
            budget *= GROWTH
            enough = limit - spent < budget // GROWTH
            pending = [] if enough else [i for i in pending if not all(answer.converged for answer in found[i])]
        return found

    def _pass(self, questions: Group, ids: Sequence[list[int]], budget: int | None) -> list[list[Result]]:
        """One answer per history and question."""
        choice = choose(self.method, self.model, questions.automaton, budget)
        if budget is None and isinstance(choice.method, Sieve):
            budget = max(DEFAULT_BUDGET, ROWS_A_STEP * (questions.automaton.horizon or 0))
        at_once = self._at_once(questions, budget)
        rows: list[list[Result]] = []
        for first in range(0, len(ids), at_once):
            chunk = ids[first : first + at_once]
            begun = time.perf_counter()
            tallies = self._tallies(questions, chunk, choice, budget)
            seconds = (time.perf_counter() - begun) / len(chunk)
            about = Circumstances(
                self.confidence, choice.method.name, choice.reason, seconds, self.precision, self.model.vocabulary
            )
            distinct = list(dict.fromkeys(questions.questions))
            columns: list[Any] = [answers(each, tallies[distinct.index(each)], about) for each in questions.questions]
            rows += [list(row) for row in zip(*columns, strict=True)]
        return rows

    def _at_once(self, questions: Group, budget: int | None) -> int:
        """How many histories fit into the memory, and into the cache."""
        vocabulary = len(self.model.vocabulary)
        candidates = self._rows(questions, budget) * vocabulary + min(vocabulary, MOST_EVENTS) ** 2
        return max(1, min(self.memory // BYTES_PER_CANDIDATE, CANDIDATES_AT_ONCE) // candidates)

    def _rows(self, questions: Group, budget: int | None) -> int:
        """At most so many at once for one history: twice the average, because they rise with the step."""
        return max(1, 2 * (budget or DEFAULT_BUDGET) // max(1, (questions.automaton.horizon or 100) - 1))

    def _tallies(self, questions: Group, ids: Sequence[list[int]], choice: Choice, budget: int | None) -> list[Tally]:
        automaton = questions.automaton
        if choice.solved:
            return solve(self.model, automaton, ids)  # type: ignore[arg-type]
        runs = self._runs(questions, budget) if isinstance(choice.method, Sieve) else 1
        policy = choice.method.policy(budget if runs == 1 else (budget or DEFAULT_BUDGET) // runs)
        found = [run(self.model, automaton, ids, history_keys(ids, self.seed + (number << 64)), policy) for number in range(runs)]
        return found[0] if runs == 1 else [averaged(each) for each in zip(*found, strict=True)]

    def _runs(self, questions: Group, budget: int | None) -> int:
        """Where the rows of one history do not fit into the memory together, independent smaller runs take their place."""
        needed = self._rows(questions, budget) * len(self.model.vocabulary) * BYTES_PER_CANDIDATE
        needed += (budget or DEFAULT_BUDGET) * getattr(self.model, "bytes_per_call", 0)
        steps = questions.automaton.horizon or 100
        return min(-(-needed // max(int(self.memory), LEAST_MEMORY)), max(1, (budget or DEFAULT_BUDGET) // (2 * steps)))


def _adding(answer: Result, before: Result | None = None) -> Result:
    """What the run before has cost is paid for too."""
    return answer if before is None else replace(answer, calls=answer.calls + before.calls, seconds=answer.seconds + before.seconds)
