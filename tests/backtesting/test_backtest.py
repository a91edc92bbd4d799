"""A backtest tells a good model from a bad one, and what really happened from what did not."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import beforehand as bh
from beforehand.answers.plots import page
from beforehand.backtesting import measures
from beforehand.backtesting.cuts import cut, outcomes
from beforehand.errors import EventsError, MethodError, QueryError
from beforehand.queries import compile_questions, parse
from beforehand.testing import letters, random_markov


def drawn(model: bh.Markov, users: int, length: int, seed: int = 0) -> bh.EventLog:
    """Sequences from a Markov model of two events' memory."""
    random, sequences = np.random.default_rng(seed), []
    table = model.probabilities.numpy()
    for _ in range(users):
        context, events = int(random.integers(len(table))), []
        for _ in range(length):
            events.append(int(random.choice(table.shape[1], p=table[context])))
            context = int(model.follow[context, events[-1]])
        sequences.append([model.vocabulary.labels[event] for event in events])
    return bh.EventLog.from_sequences(sequences)


TRUE = random_markov(4, order=2, seed=8)


@pytest.mark.parametrize(
    "text",
    ["P(a within 3)", "P(a before b within 4)", "when(a) within 4", "count(a) within 3", "which(a, b) within 3", "event(2)"],
)
def test_what_came_is_what_the_question_means(text: str) -> None:
    """Every future of three letters, against a walk with single futures certain."""
    vocabulary = letters(3)
    automaton = compile_questions((parse(text),), vocabulary)
    futures = np.array(list(itertools.product(range(3), repeat=automaton.horizon or 3)))
    outcome, step = outcomes(automaton, futures)
    for future, found, when in zip(futures.tolist(), outcome, step, strict=True):
        certain = bh.models.Function(
            lambda pasts, future=future: [np.eye(3)[future[min(len(past) - 1, len(future) - 1)]] for past in pasts],  # type: ignore[misc]
            vocabulary,
        )
        said = bh.ask(certain, text, ["a"], method="exact")
        if isinstance(said, bh.Answer):
            assert (found == 1) == (said.value > 0.5)
        elif "when" in text:
            assert (said.value.argmax() + 1 == when) if said.value.sum() > 0.5 else found == 0
        else:
            assert said.value[found] == 1 if found < len(said) else said.undecided == 1


def test_the_true_model_is_calibrated_and_beats_the_baselines() -> None:
    log = drawn(TRUE, 700, 12)
    model = bh.Markov.fit(drawn(TRUE, 3_000, 12, seed=1), log.vocabulary, order=2)
    report = bh.backtest(model, log, ["P(a within 2)", "when(b) within 4", "which(a, b) within 3"], users=350)
    for each in report.questions:
        assert each.scores["model"].log <= min(found.log for found in each.scores.values()) + 0.01
        inside = np.mean([group.low <= group.said <= group.high for group in each.calibration])
        assert inside >= 0.7, each.calibration
        assert abs(each.recalibration[0]) < 0.6 and abs(each.recalibration[1] - 1) < 0.5
    assert "Kaplan–Meier" in report.questions[0].scores and len(report.questions[1].by_horizon) == 4
    assert "better than the baselines" in str(report) or "no better than" in str(report)
    assert report.to_polars().height == sum(len(each.scores) for each in report.questions)


def test_a_model_that_is_wrong_is_called_wrong() -> None:
    log = drawn(TRUE, 400, 12)
    wrong = bh.Markov.fit(drawn(random_markov(4, order=2, seed=77), 500, 12), log.vocabulary, order=2)
    report = bh.backtest(wrong, log, ["P(a within 2)"], users=200)
    assert "WORSE" in report.questions[0].verdict and not report.questions[0].better_than_baselines


def test_only_held_out_users_are_asked_about_and_corrections_are_kept(tmp_path: Path) -> None:
    log = drawn(TRUE, 300, 12)
    model = bh.train(log, "markov", progress=False)
    report = bh.backtest(model, log, ["P(a within 2)"])
    held = len(log.split(0.1, 0)[1])
    assert f"{held:,} users held out then" in report.notes[0] and report.questions[0].cases == held
    model.card["recalibration"] = report.recalibration
    bh.save(model, tmp_path / "m")
    again = bh.load(tmp_path / "m")
    plain, corrected = (bh.ask(again, "P(a within 2)", ["a", "b"], recalibrated=flag) for flag in (False, True))
    a, b, *_ = report.recalibration["P(a within 2)"]
    assert corrected.value == pytest.approx(1 / (1 + np.exp(-(a + b * np.log(plain.value / (1 - plain.value))))))
    assert "recalibrated" in corrected.method and corrected.low < corrected.value < corrected.high
    with pytest.raises(MethodError, match="no correction for"):
        bh.ask(again, "P(b within 2)", ["a", "b"], recalibrated=True)


def test_ended_sequences_tell_everything_and_short_ones_are_counted() -> None:
    log = bh.EventLog.from_sequences([["a", "b"]] * 30 + [["a"]] * 5 + [["a", "b", "a", "b"]] * 10, complete=True)
    cuts = cut(log, 10, 100, 0)
    assert len(cuts.pasts) == 45 and cuts.too_short == 0
    open_log = bh.EventLog.from_sequences([["a", "b"]] * 30 + [["a"] * 12] * 5)
    cuts = cut(open_log, 10, 100, 0)
    assert len(cuts.pasts) == 5 and cuts.too_short == 30
    with pytest.raises(EventsError, match="no sequence has 50 events"):
        cut(open_log, 50, 100, 0)


def test_questions_that_cannot_be_tested_are_refused() -> None:
    log = drawn(TRUE, 40, 12)
    with pytest.raises(QueryError, match="no outcome that either happens or not"):
        bh.backtest(TRUE, bh.EventLog(TRUE.vocabulary, log.ids, log.offsets, log.users), ["E(when(a) within 5)"])
    with pytest.raises(EventsError, match="different vocabularies"):
        bh.backtest(TRUE, log, ["P(a within 3)"])


def test_measures() -> None:
    random = np.random.default_rng(0)
    said = random.uniform(0, 1, 20_000)
    came = (random.uniform(0, 1, 20_000) < said).astype(float)
    found = measures.scores(said, came)
    assert found.brier == pytest.approx(1 / 6, abs=0.01) and found.auc == pytest.approx(5 / 6, abs=0.01)
    assert measures.auc(np.full(10, 0.5), np.array([0.0, 1] * 5)) == 0.5
    off = 1 / (1 + np.exp(-(0.5 + 2 * np.log(said / (1 - said)))))
    a, b, *_ = measures.recalibration(off, came)
    assert a == pytest.approx(-0.25, abs=0.05) and b == pytest.approx(0.5, abs=0.03)
    low, high = measures.wilson(0, 20)
    assert low == pytest.approx(0, abs=1e-9) and 0.1 < high < 0.2


def test_charts_need_no_network(tmp_path: Path) -> None:
    log = drawn(TRUE, 200, 12)
    model = bh.Markov.fit(log, log.vocabulary, order=2)
    report = bh.backtest(model, log, ["P(a within 2)", "when(b) within 4"], users=100)
    report.plot(str(tmp_path / "calibration.png"))
    assert (tmp_path / "calibration.png").read_bytes()[:4] == b"\x89PNG"
    for question in (
        "P(a within 3)",
        "when(a) within 8",
        "when(a) within 60",
        "event(2)",
        "count(a) within 4",
        "which(a, b) within 3",
    ):
        chart = bh.ask(model, question, ["a", "b"]).plot(str(tmp_path / "answer.svg"))
        assert (tmp_path / "answer.svg").read_text().startswith("<svg")
        text = page(chart)
        assert "<script src=" not in text and "cdn" not in text.lower().split("</script>")[0][:300]
    with pytest.raises(bh.BeforehandError, match=r"a \.png, \.svg or \.html file"):
        bh.ask(model, "next", ["a", "b"]).plot(str(tmp_path / "answer.docx"))
