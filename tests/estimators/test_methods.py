"""The laws of the methods, against the exact answer and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand.errors import MethodError, ModelError, TooExpensiveError
from beforehand.estimators import Method, history_keys, prefixes, run, solve
from beforehand.estimators.methods import Exact
from beforehand.models import Model, State
from beforehand.queries import YES, Probability, compile_questions, parse
from beforehand.testing import check_method, enumerate_futures, letters, random_lstm, random_markov, run_many
from tests.queries.oracle import Oracle

UNBIASED: dict[str, tuple[Method, int | None]] = {
    "naive": (bh.methods.Naive(20), None),
    "uniform": (bh.methods.Uniform(20), None),
    "importance": (bh.methods.Importance(10), None),
    "hybrid": (bh.methods.Hybrid(10), None),
    "sieve": (bh.methods.Sieve(), 25),
    "sieve, no lookahead": (bh.methods.Sieve(lookahead=False), 25),
    "sieve, not corrected": (bh.methods.Sieve(correct=False), 25),
}
BOUNDED: dict[str, Method] = {
    "beam": bh.methods.Beam(5),
    "geometric coverage": bh.methods.Coverage(0.8),
    "linear coverage": bh.methods.Coverage(0.8, schedule="linear"),
    "tail-split": bh.methods.TailSplit(),
    "hybrid": bh.methods.Hybrid(10),
    "importance": bh.methods.Importance(10),
    "sieve": bh.methods.Sieve(),
}
# One of every kind of question, endings among them.
QUESTIONS = [
    "P(a within 4)",
    "P(event(4) = a)",
    "P(when(a) = 4)",
    "P(when(a) >= 3)",
    "P(a before b within 5)",
    "P(count(a) = 2 within 4)",
    "P(count(a) in 1..2 within 4)",
    "P(b then a within 4)",
    "P(b immediately then a within 4)",
    "P(never a within 4)",
    "P(always {a, b} within 4)",
    "P(b until a within 4)",
    "P(matches (a b?)* c within 4)",
    "P((a within 3) and not (b within 4))",
    "P(a within 4 | b within 2)",
    "when(a) within 4",
    "count(a) within 4",
    "event(3)",
    "which(a, b) within 4",
]
MODELS: dict[str, Model] = {
    "markov": random_markov(4, order=2, seed=3),
    "ending markov": random_markov(4, order=2, seed=4, end=True),
    "lstm": random_lstm(4, seed=2),
    "ending lstm": random_lstm(4, seed=5, end=True),
    "looking ahead": bh.prepare(random_lstm(4, seed=2), progress=False),
    "looking ahead wrongly": bh.models.Prepared(
        random_lstm(4, seed=2), bh.prepare(random_lstm(4, seed=9), progress=False).lookahead
    ),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased(name: str, model: Model) -> None:
    method, budget = UNBIASED[name]
    check_method(method, model, QUESTIONS, seeds=400, budget=budget)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased_over_thousands_of_seeds(name: str, model: Model) -> None:
    method, budget = UNBIASED[name]
    check_method(method, model, QUESTIONS, seeds=6_000, budget=budget)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("method", BOUNDED.values(), ids=BOUNDED)
def test_bounds_bracket(method: Method, model: Model) -> None:
    check_method(method, model, QUESTIONS, seeds=3, unbiased=False)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("text", [text for text in QUESTIONS if text.startswith("P(") and "|" not in text])
def test_exact_equals_brute_force(model: Model, text: str) -> None:
    question = parse(text)
    oracle, history = Oracle(model.vocabulary), [1, 0]
    assert isinstance(question, Probability)
    words = enumerate_futures(model, history, 5)
    truth = sum(chance for word, chance in words if oracle.holds(question.proposition, word))
    automaton = compile_questions((question,), model.vocabulary)
    tally = run(model, automaton, [history], history_keys([history], 0), Exact().policy(None))[0]
    assert float(tally.mass[0, YES]) == pytest.approx(truth, abs=1e-12)
    if isinstance(model, bh.Markov):
        assert float(solve(model, automaton, [history])[0].mass[0, YES]) == pytest.approx(truth, abs=1e-12)


def test_markov_hitting_times_against_matrix_powers() -> None:
    model = random_markov(5, seed=7)
    table, start = model.probabilities.numpy(), 2
    stays = table.copy()
    stays[:, 0] = 0
    row, wanted = np.eye(5)[start], []
    for _ in range(3_000):
        wanted.append(row @ table[:, 0])
        row = row @ stays
    answer = bh.ask(model, "when(a) within 3000", [start])
    np.testing.assert_allclose(answer.value, wanted, atol=1e-14)
    assert answer.undecided == pytest.approx(1 - sum(wanted), abs=1e-12)


def test_markov_before_without_horizon_against_the_linear_system() -> None:
    model = random_markov(5, seed=8)
    table = model.probabilities.numpy()
    middle = [2, 3, 4]
    solved = np.linalg.solve(np.eye(3) - table[np.ix_(middle, middle)], table[middle, 0])
    answer = bh.ask(model, "P(a before b)", [3])
    assert answer.value == pytest.approx(solved[1], abs=1e-12)
    assert answer.undecided < 1e-12
    assert bh.ask(model, "P(b before a)", [3]).value == pytest.approx(1 - solved[1], abs=1e-12)


def test_markov_counts_against_polynomials() -> None:
    """The count's distribution over a thousand steps, by a polynomial in the number of hits."""
    model = random_markov(2, seed=9)
    table = model.probabilities.numpy()
    rows = np.zeros((2, 301))
    rows[1, 0] = 1
    for _ in range(300):
        mixed = table.T @ rows
        rows = np.stack([np.concatenate([[0], mixed[0, :-1]]), mixed[1]])
    np.testing.assert_allclose(bh.ask(model, "count(a) within 300", [1]).value, rows.sum(0), atol=1e-12)


def test_a_mass_that_never_decides_stays_undecided() -> None:
    trap = bh.Markov.from_table([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]], letters(3))
    answer = bh.ask(trap, "P(a before b)", ["c"])
    assert answer.value == pytest.approx(0.5)
    stuck = bh.Markov.from_table([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.25, 0.75, 0.0]], letters(3))
    assert bh.ask(stuck, "P(c before a)", ["b"]).undecided == 1


def test_endless_questions_report_what_is_left() -> None:
    model, truth = random_lstm(4, seed=2), None
    for name in ("importance", "naive", "hybrid", "beam", "sieve"):
        answer = bh.ask(model, "P(a before b)", [2], method=name, budget=40_000)
        other = bh.ask(model, "P(b before a)", [2], method=name, budget=40_000)
        truth = truth or bh.ask(model, "P(a before b within 60)", [2], method="importance", budget=200_000).value
        assert answer.calls <= 40_000
        assert answer.low <= truth + 0.01 and truth <= answer.high + 0.01
        if name != "beam":
            assert answer.value + other.value + answer.undecided == pytest.approx(1, abs=0.05)
        assert answer.undecided < 2e-3 or name == "beam"


def test_importance_shares_prefixes_but_draws_the_same_law() -> None:
    model, question = random_markov(3, seed=1), compile_questions((parse("P(when(a) = 6)"),), letters(3))
    tally = run_many(bh.methods.Importance(500), model, question, [1], seeds=2)
    assert int(tally.calls.max()) <= 2 + 4 + 8 + 16 + 32, "there are no more different prefixes than that"
    naive = run_many(bh.methods.Naive(500), model, question, [1], seeds=2)
    assert int(naive.calls.min()) > 500


def test_exact_refuses_what_it_cannot_pay_and_names_the_cost() -> None:
    with pytest.raises(TooExpensiveError, match=r"6\.08e"):
        bh.ask(random_lstm(4), "P(a within 40)", [1], method="exact")
    assert prefixes(compile_questions((parse("P(a within 4)"),), letters(3))) == 2 + 4 + 8


def test_the_paper_s_upper_bound_holds() -> None:
    model = random_lstm(4, seed=2)
    truth = bh.ask(model, "P(when(a) = 6)", [1], method="exact").value
    for method in (bh.methods.Beam(5), bh.methods.Beam(40), bh.methods.Coverage(0.7), bh.methods.TailSplit()):
        answer = bh.ask(model, "P(when(a) = 6)", [1], method=method)
        assert answer.coverage is not None
        assert answer.value <= truth <= answer.upper_bound + 1e-12
        assert truth - answer.value <= 1 - answer.coverage + 1e-12
        assert answer.upper_bound - answer.value <= 1 - answer.coverage + 1e-12, "ours is never the looser one"
    wide = bh.ask(model, "P(when(a) = 6)", [1], method=bh.methods.Coverage(0.7))
    assert wide.coverage is not None and wide.coverage >= 0.7


@pytest.mark.parametrize("kind", ["markov", "lstm", "looking ahead"])
@pytest.mark.parametrize("name", ["naive", "uniform", "importance", "beam", "coverage", "tail-split", "hybrid", "sieve", "auto"])
def test_same_seed_same_answer_in_any_batch(name: str, kind: str) -> None:
    """Bit for bit for a model that only looks up; as far as double products agree for a network."""
    model = MODELS[kind]
    rng = np.random.default_rng(1)
    histories = [rng.integers(0, 4, size=int(n)).tolist() for n in rng.integers(2, 9, size=23)]
    budget = None if name == "coverage" else 60
    for text in ("P(when(a) = 6)", "count(b) within 5", "event(4)"):
        options = {"method": name, "budget": budget, "seed": 5}
        together = bh.ask_many(model, [text], histories, **options)  # type: ignore[arg-type]
        backwards = bh.ask_many(model, [text], histories[::-1], **options)  # type: ignore[arg-type]
        small = bh.ask_many(model, [text], histories, memory=1, **options)  # type: ignore[arg-type]
        for i in (0, 7, 22):
            alone = bh.ask(model, text, histories[i], **options)  # type: ignore[arg-type]
            for other in (together[i][0], backwards[22 - i][0], small[i][0]):
                if kind == "markov":
                    assert np.array_equal(alone.value, other.value) and np.array_equal(alone.high, other.high)
                np.testing.assert_allclose(alone.value, other.value, rtol=1e-12)
                assert alone.calls == other.calls


def test_seeds_differ() -> None:
    answers = {bh.ask(random_lstm(4), "P(when(a) = 6)", [1], method="importance", budget=60, seed=s).value for s in range(5)}
    assert len(answers) == 5


@pytest.mark.parametrize("name", ["naive", "uniform", "importance", "beam", "coverage", "tail-split", "hybrid", "sieve"])
@pytest.mark.parametrize("budget", [37, 100, 999])
def test_budgets_are_kept(name: str, budget: int) -> None:
    for text in ("P(when(a) = 8)", "when(b) within 6", "P(a before b)"):
        if name == "coverage" and "before" in text:
            continue
        try:
            answer = bh.ask(random_lstm(4), text, [1], method=name, budget=budget)
        except MethodError as error:
            assert "not enough" in str(error)
        else:
            assert answer.calls <= budget


class NotADistribution:
    vocabulary = letters(3)

    def start(self, histories: list[list[int]]) -> State:
        return State(torch.zeros(len(histories), 3), None)

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        return State(torch.full((len(rows), 3), float("nan")), None)


def test_models_that_give_no_distribution_are_caught() -> None:
    with pytest.raises(ModelError, match="sum to 3"):
        bh.ask(NotADistribution(), "P(a within 3)", [0], method="importance")  # type: ignore[arg-type]


def test_bad_options_get_clear_errors() -> None:
    model = random_lstm(3)
    for options in (
        {"budget": 0},
        {"budget": 2.5},
        {"precision": 0.0},
        {"precision": 2.0},
        {"confidence": 1.0},
        {"seed": "x"},
        {"memory": 0},
        {"method": "sive"},
        {"method": 3},
        {"method": "importance", "budget": 2},
        {"method": "hybrid", "budget": 2},
        {"method": "beam", "budget": 2},
    ):
        with pytest.raises(MethodError):
            bh.ask(model, "P(when(a) = 9)", [0], **options)
    for make in (
        lambda: bh.methods.Coverage(1.5),
        lambda: bh.methods.Beam(0),
        lambda: bh.methods.Naive(-1),
        lambda: bh.methods.Exact(0),
    ):
        with pytest.raises(MethodError):
            make()
    with pytest.raises(MethodError, match="horizon"):
        bh.ask(model, "P(a before b)", [0], method="coverage")
    with pytest.raises(TooExpensiveError, match="without a horizon"):
        bh.ask(model, "P(a before b)", [0], method="exact")
