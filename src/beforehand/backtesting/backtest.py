"""Asking a model about pasts whose future is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beforehand.answers import ask_many
from beforehand.backtesting import measures
from beforehand.backtesting.baselines import chain, frequencies, survival
from beforehand.backtesting.cuts import Cuts, cut, outcomes
from beforehand.backtesting.measures import Bin, Scores
from beforehand.errors import EventsError, QueryError
from beforehand.events import EventLog
from beforehand.models.card import fingerprint
from beforehand.queries import (
    GIVEN_NOT,
    GIVEN_SO,
    YES,
    Automaton,
    Expectation,
    Futures,
    Occurs,
    Probability,
    Question,
    WhenDistribution,
    compile_questions,
    parse,
)

Floats = NDArray[np.float64]
MODEL = "model"


@dataclass(frozen=True)
class QuestionReport:
    """One question: `scores` of the model and of each baseline, the calibration of the model, and what follows in words."""

    question: str
    cases: int
    left_out: int
    came: float
    scores: dict[str, Scores]
    calibration: list[Bin]
    verdict: str
    better_than_baselines: bool
    recalibration: tuple[float, ...]
    by_horizon: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class Backtest:
    """All questions; `str` is the report, `recalibration` goes into a model's card."""

    questions: list[QuestionReport]
    notes: list[str]

    @property
    def recalibration(self) -> dict[str, list[float]]:
        """Per question, the correction that fits what happened: `model.card["recalibration"] = report.recalibration`."""
        return {each.question: list(each.recalibration) for each in self.questions}

    def plot(self, path: str | None = None) -> Any:
        """Calibration, one panel a question; with a path, also written to a .png, .svg or .html file."""
        from beforehand.answers import plots
        from beforehand.backtesting.plots import calibration

        chart = calibration(self)
        if path is not None:
            plots.write(chart, path)
        return chart

    def to_polars(self) -> Any:
        """One row per question and forecaster."""
        import polars

        return polars.DataFrame(
            [
                {"question": each.question, "forecaster": name, "cases": each.cases, "came": each.came, **vars(scores)}
                for each in self.questions
                for name, scores in each.scores.items()
            ]
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = list(self.notes)
        for each in self.questions:
            lines += ["", f"{each.question}   came true in {each.came:.1%} of {each.cases:,} cases"]
            lines += [f"  {'':14} {'Brier':>7} {'log':>7} {'AUC':>6} {'sharpness':>9}"]
            for name, found in each.scores.items():
                lines.append(f"  {name:14} {found.brier:7.4f} {found.log:7.4f} {found.auc:6.3f} {found.sharpness:9.3f}")
            said = "  ".join(f"{each_bin.said:.2f}→{each_bin.came:.2f}" for each_bin in each.calibration)
            lines += [f"  said→came      {said}", f"  {each.verdict}"]
        return "\n".join(lines).lstrip("\n")


def backtest(
    model: Any,
    log: EventLog,
    questions: Sequence[str | Question],
    *,
    users: int = 500,
    background: EventLog | None = None,
    method: str = "auto",
    budget: int | None = 1_000,
    seed: int = 0,
) -> Backtest:
    """Asks each question about a past of each of so many held-out users, and compares with what came.

    If the log is the one that the model was trained on, only the users that training held out are asked about. Baselines are
    learned from `background`, a log of other users: those that the model was trained on, or, of a log that is new, half of it.
    """
    held, background, notes = _held_out(model, log, background, seed)
    asked = [parse(each) if isinstance(each, str) else each for each in questions]
    for each in asked:
        if isinstance(each, Expectation | Futures):
            raise QueryError(f"{each} has no outcome that either happens or not; backtest probabilities and distributions")
    automata = [compile_questions((each,), model.vocabulary) for each in asked]
    horizons = [automaton.horizon for automaton in automata]
    forecasters = {"frequencies": frequencies(background)}
    forecasters["Markov"], order = chain(background, seed)
    notes.append(
        f"baselines from {len(background):,} other users: event frequencies, a Markov chain of order {order}, Kaplan–Meier"
    )
    reports = []
    for question, automaton, horizon in zip(asked, automata, horizons, strict=True):
        cuts = cut(held, horizon, users, seed)
        said = {MODEL: ask_many(model, [question], cuts.pasts, method=method, budget=budget, seed=seed)}
        said |= {name: ask_many(each, [question], cuts.pasts) for name, each in forecasters.items()}
        reports.append(
            _report(question, automaton, cuts, {name: [row[0] for row in rows] for name, rows in said.items()}, background, seed)
        )
    return Backtest(reports, notes)


def _held_out(model: Any, log: EventLog, background: EventLog | None, seed: int) -> tuple[EventLog, EventLog, list[str]]:
    if log.vocabulary.labels != model.vocabulary.labels:
        raise EventsError("the log and the model have different vocabularies; read the log with vocabulary=model.vocabulary")
    card = getattr(model, "card", {})
    settings = card.get("settings", {})
    if card.get("data", {}).get("fingerprint") == fingerprint(log) and settings.get("validation"):
        learned, held = log.split(settings["validation"], settings["seed"])
        return (
            held,
            background or learned,
            [f"the model was trained on this log: asked about the {len(held):,} users held out then"],
        )
    if background is not None:
        return log, background, [f"asked about users of a log of {len(log):,}"]
    rest, held = log.split(0.5, seed)
    return held, rest, [f"a log that is new to the model: asked about half of its users ({len(held):,})"]


def _report(
    question: Question, automaton: Automaton, cuts: Cuts, answers: dict[str, list[Any]], background: EventLog, seed: int
) -> QuestionReport:
    outcome, step = outcomes(automaton, cuts.futures)
    cases = [_cases(question, outcome, step, given) for given in answers.values()]
    known, came = cases[0][0], cases[0][2]
    said = dict(zip(answers, (each[1] for each in cases), strict=True))
    if not len(came):
        raise QueryError(f"what came of {question} is known for none of the users; choose a shorter horizon")
    by_horizon: list[dict[str, float]] = []
    if _times_one_set(question):
        curve = survival(automaton, background, seed)
        said["Kaplan–Meier"] = _along(curve, question, len(known))
        by_horizon = _by_horizon(said, came, question)
    scores = {name: measures.scores(each, came) for name, each in said.items()}
    verdict, better = _verdict(said, came, len(known))
    return QuestionReport(
        str(question),
        len(known),
        len(cuts.pasts) - len(known) + cuts.too_short,
        float(came.mean()),
        scores,
        measures.calibration(said[MODEL], came),
        verdict,
        better,
        measures.recalibration(said[MODEL], came),
        by_horizon,
    )


def _cases(question: Question, outcome: Any, step: Any, answers: list[Any]) -> tuple[Any, Floats, Floats]:
    """Which pasts count, and for these the probabilities said and what came: of a distribution, outcome by outcome, flat."""
    if isinstance(question, Probability):
        if question.given is not None:
            known = np.flatnonzero((outcome == GIVEN_SO) | (outcome == GIVEN_NOT))
            came = (outcome[known] == GIVEN_SO).astype(float)
        else:
            known = np.flatnonzero(outcome >= 0)
            came = (outcome[known] == YES).astype(float)
        said = np.array([answers[i].value for i in known])
        there = np.isfinite(said)
        return known[there], said[there], came[there]
    known = np.flatnonzero(outcome >= 0)
    rows = np.stack([answers[i].value for i in known]) if len(known) else np.zeros((0, 1))
    if isinstance(question, WhenDistribution):
        steps = np.arange(1, rows.shape[1] + 1)
        hit = np.where(outcome[known] == YES, step[known], rows.shape[1] + 1)
        return known, rows.cumsum(1).clip(0, 1).ravel(), (hit[:, None] <= steps).astype(float).ravel()
    return known, rows.ravel(), (outcome[known][:, None] == np.arange(rows.shape[1])).astype(float).ravel()


def _times_one_set(question: Question) -> bool:
    """Is it a question of when, or whether, one thing happens by a time?"""
    if isinstance(question, Probability):
        return question.given is None and isinstance(question.proposition, Occurs) and question.proposition.horizon is not None
    return isinstance(question, WhenDistribution)


def _along(curve: Floats, question: Question, count: int) -> Floats:
    return np.tile(curve, count) if isinstance(question, WhenDistribution) else np.full(count, curve[-1])


def _by_horizon(said: dict[str, Floats], came: Floats, question: Question) -> list[dict[str, float]]:
    """Brier scores by the number of steps looked ahead."""
    if not isinstance(question, WhenDistribution):
        return []
    steps = question.horizon
    found = []
    for k in range(steps):
        part = {f"{name} Brier": float(((each[k::steps] - came[k::steps]) ** 2).mean()) for name, each in said.items()}
        found.append(
            {"steps": float(k + 1), "came": float(came[k::steps].mean()), "said": float(said[MODEL][k::steps].mean()), **part}
        )
    return found


def _verdict(said: dict[str, Floats], came: Floats, cases: int) -> tuple[str, bool]:
    """The outcomes of one case are not independent, so they count as one."""
    surprises = {name: measures.surprise(each, came).reshape(cases, -1).mean(1) for name, each in said.items()}
    rival = min((name for name in said if name != MODEL), key=lambda name: surprises[name].mean())
    gain, half = measures.difference(surprises[MODEL], surprises[rival])
    told = f"{gain:+.4f} ± {half:.4f} nats an answer beside {rival}, the best baseline"
    if gain > half:
        return f"better than the baselines: {told}", True
    if gain < -half:
        return f"WORSE than {rival}: {told}; use the baseline for this question, or train longer", False
    return f"no better than {rival}: {told}", False
