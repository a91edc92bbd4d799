from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand.answers.betting import betting_interval
from beforehand.answers.student import t_quantile
from beforehand.errors import HistoryError
from beforehand.testing import enumerate_futures, letters, random_lstm, random_markov

MODEL, HISTORY = random_lstm(4, seed=3), ["b", "a"]
METHODS = ["exact", "naive", "importance", "hybrid", "beam"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", ["when(a) within 5", "count(a) within 5", "event(4)", "which(a, b) within 5"])
def test_distributions_add_up_to_one_with_what_is_undecided(method: str, text: str) -> None:
    answer = bh.ask(MODEL, text, HISTORY, method=method, budget=None if method == "exact" else 300)
    assert answer.value.sum() + answer.undecided == pytest.approx(1, abs=0.1 if method == "hybrid" else 1e-9)
    assert ((answer.low <= answer.value) & (answer.value <= answer.high)).all()
    assert ((answer.lower_bound <= answer.low + 1e-12) & (answer.high <= answer.upper_bound + 1e-12)).all()
    truth = bh.ask(MODEL, text, HISTORY, method="exact").value
    assert ((answer.lower_bound <= truth + 1e-9) & (truth <= answer.upper_bound + 1e-9)).all()


def test_one_run_gives_both_directions_of_before() -> None:
    both = bh.ask_many(MODEL, ["P(a before b within 6)", "P(b before a within 6)"], [HISTORY], method="importance", budget=300)[0]
    alone = bh.ask(MODEL, "P(a before b within 6)", HISTORY, method="importance", budget=300)
    assert both[0].calls == alone.calls
    assert both[0].value == alone.value
    assert both[0].value + both[1].value + both[0].undecided == pytest.approx(1)
    which = bh.ask(MODEL, "which(a, b) within 6", HISTORY, method="exact")
    exact = bh.ask(MODEL, "P(a before b within 6)", HISTORY, method="exact")
    assert exact.value == pytest.approx(which["a"].value)
    assert exact.undecided == pytest.approx(which.undecided)


def test_many_questions_share_a_pass_whatever_their_order() -> None:
    texts = [f"P(when(a) = {k})" for k in range(1, 7)]
    forwards = bh.ask_many(MODEL, texts, [HISTORY], method="importance", budget=500)[0]
    backwards = bh.ask_many(MODEL, texts[::-1], [HISTORY], method="importance", budget=500)[0]
    curve = bh.ask(MODEL, "when(a) within 6", HISTORY, method="importance", budget=500)
    assert [a.value for a in forwards] == [a.value for a in backwards][::-1]
    assert len({a.calls for a in forwards}) == 1
    np.testing.assert_allclose([a.value for a in forwards], curve.value)


def test_conditionals_and_expectations_against_brute_force() -> None:
    futures = enumerate_futures(MODEL, MODEL.vocabulary.ids(HISTORY), 5)
    given = sum(p for word, p in futures if 1 in word[:3])
    both = sum(p for word, p in futures if 1 in word[:3] and 0 in word)
    hits = [(word.index(0) + 1, p) for word, p in futures if 0 in word]
    assert bh.ask(MODEL, "P(a within 5 | b within 3)", HISTORY, method="exact").value == pytest.approx(both / given)
    mean = sum(k * p for k, p in hits) / sum(p for _, p in hits)
    assert bh.ask(MODEL, "E(when(a) within 5)", HISTORY, method="exact").value == pytest.approx(mean)
    assert bh.ask(MODEL, "when(a) within 5", HISTORY, method="exact").mean == pytest.approx(mean)
    count = sum(word.count(0) * p for word, p in futures)
    assert bh.ask(MODEL, "E(count(a) within 5)", HISTORY, method="exact").value == pytest.approx(count)
    for text, truth in (
        ("P(a within 5 | b within 3)", both / given),
        ("E(when(a) within 5)", mean),
        ("E(count(a) within 5)", count),
    ):
        for method in ("importance", "naive", "hybrid"):
            answer = bh.ask(MODEL, text, HISTORY, method=method, budget=4_000, confidence=0.9999)
            assert answer.low <= truth <= answer.high
        bound = bh.ask(MODEL, text, HISTORY, method="beam", budget=200)
        assert bound.lower_bound <= truth <= bound.upper_bound
        assert bound.interval_kind in ("certified", "exact")


def test_quantiles_and_means() -> None:
    coin = bh.Markov.from_table([[0.5, 0.5], [0.5, 0.5]], letters(2))
    when = bh.ask(coin, "when(a) within 4", ["b"])
    assert when.quantile(0.5) == 1 and when.quantile(0.75) == 2 and when.quantile(0.99) == math.inf
    assert when["2"].value == 0.25 and when[2].value == 0.25
    with pytest.raises(TypeError, match="not numbers"):
        _ = bh.ask(coin, "next", ["b"]).mean
    with pytest.raises(KeyError, match="not an outcome"):
        when["9"]


def test_a_condition_that_cannot_be_met_has_no_answer() -> None:
    model = bh.Markov.from_table([[1, 0], [1, 0]], letters(2))
    answer = bh.ask(model, "P(a within 2 | b within 2)", ["a"])
    assert math.isnan(answer.value) and not answer.converged


def test_what_is_decided_before_anything_happens() -> None:
    assert bh.ask(MODEL, "P(count(a) >= 0 within 5)", HISTORY).value == 1
    assert bh.ask(MODEL, "P(when(a) >= 1)", HISTORY).value == 1
    assert bh.ask(MODEL, "P(matches a* within 5)", HISTORY).interval_kind == "exact"


def test_ends_decide() -> None:
    table = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    model = bh.Markov.from_table(table, letters(3, end=True))
    never = bh.ask(model, "P(never b within 1000)", ["a"]).value
    assert never == pytest.approx(0.5), "from a, b comes half of the time before the end does"
    assert bh.ask(model, "P(b before end)", ["a"]).value == pytest.approx(0.5)
    assert bh.ask(model, "event(1000)", ["a"])["end"].value == pytest.approx(1)


@pytest.mark.parametrize("model", [MODEL, random_markov(4, seed=3)], ids=["lstm", "markov"])
def test_futures_satisfy_the_question_and_say_how_likely_they_are(model: bh.Recurrent) -> None:
    found = bh.ask(model, "futures where b then a within 5", HISTORY, budget=2_000)
    futures = dict(enumerate_futures(model, model.vocabulary.ids(HISTORY), 5))
    for future in (*found.likely, *found.sampled):
        assert future.events[-1] == "a" and "b" in future.events[:-1] and len(future.events) <= 5
        ids = tuple(model.vocabulary.ids(future.events))
        assert future.probability == pytest.approx(sum(p for word, p in futures.items() if word[: len(ids)] == ids))
    best = found.likely[0].probability
    assert best == max(future.probability for future in found.likely)
    assert "→" in str(found)


def test_restricted_entropy_against_enumeration() -> None:
    total = 0.0
    for word, p in enumerate_futures(MODEL, [1], 2):
        q = 1.0
        for k in range(2):
            nexts = MODEL.start([[1, *word[:k]]]).log_probs[0].exp()
            q *= float(nexts[word[k]] / (1 - nexts[0])) if word[k] else 0.0
        total -= q * math.log(q) if q else 0
        assert p >= 0
    answer = bh.restricted_entropy(MODEL, "P(when(a) = 3)", [1], samples=4_000, confidence=0.9999)
    assert answer.low <= total <= answer.high


def test_tables() -> None:
    many = bh.ask_many(MODEL, ["P(a within 3)", "P(b within 3)"], [HISTORY, ["c"]])
    frame = many.to_polars()
    assert frame.shape[0] == 4 and {"history", "question", "value", "low", "high", "calls"} <= set(frame.columns)
    assert frame["value"].dtype.is_float()
    wide = bh.ask_many(MODEL, ["next"], [HISTORY]).to_polars()
    assert wide["labels"][0].to_list() == ["a", "b", "c", "d"]
    assert len(bh.ask_many(MODEL, ["next"], [])) == 0


def test_histories() -> None:
    as_labels = bh.ask(MODEL, "P(a within 3)", ["b", "a"]).value
    assert bh.ask(MODEL, "P(a within 3)", np.array([1, 0])).value == as_labels
    assert bh.ask(MODEL, "P(a within 3)", torch.tensor([1, 0])).value == as_labels
    for wrong, words in (
        (["z"], "no event called 'z'"),
        ("ba", "one text"),
        ([9], "id 9"),
        ([1.5], "1.5"),
        ([], "no start symbol"),
    ):
        with pytest.raises(HistoryError, match=words):
            bh.ask(MODEL, "P(a within 3)", wrong)


def test_answers_say_what_they_are() -> None:
    text = str(bh.ask(MODEL, "P(when(a) = 9)", HISTORY, method="importance", budget=1_000))
    assert "95%" in text and "importance" in text and "model calls" in text
    assert "certain" in str(bh.ask(MODEL, "P(when(a) = 9)", HISTORY, method="beam", budget=100))
    assert "exact" in str(bh.ask(MODEL, "next", HISTORY))


@pytest.mark.parametrize("p", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("count", [20, 200])
def test_betting_intervals_cover(p: float, count: int) -> None:
    generator = torch.Generator().manual_seed(1)
    samples = (torch.rand(400, count, generator=generator, dtype=torch.float64) < p).double()
    low, high = betting_interval(samples, torch.full((400,), count), 0.95)
    assert ((low <= p) & (p <= high)).double().mean() >= 0.94
    assert (high > low).all()


def test_t_quantiles() -> None:
    for freedom, wanted in ((3, 3.182446), (5, 2.570582), (10, 2.228139), (30, 2.042272), (1e9, 1.959964)):
        assert float(t_quantile(0.95, torch.tensor(float(freedom)))) == pytest.approx(wanted, rel=2e-3)


def test_before_resolves_step_by_step() -> None:
    model = random_lstm(4, seed=3)
    found = bh.resolving(model, "P(a before b within 5)", ["c"], budget=10_000)
    for k in (1, 3, 5):
        for i, text in enumerate((f"P(a before b within {k})", f"P(b before a within {k})")):
            assert found.value[i][k - 1] == pytest.approx(bh.ask(model, text, ["c"], method="exact").value, abs=1e-9)
    assert (np.diff(found.value[0]) >= 0).all() and found.open[0] > found.open[-1] >= 0
    assert len(bh.resolving(model, "P(a before b)", ["c"], steps=3).open) == 3
    with pytest.raises(bh.errors.QueryError, match="only P"):
        bh.resolving(model, "P(a within 3)", ["c"])
