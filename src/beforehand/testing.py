"""Laws that any model, automaton and method must obey, and tiny models whose answers are exact: for your own tests.

    from beforehand.testing import check_model
    check_model(my_model)

Each check raises an AssertionError that shows both values and says which law was broken.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch

from beforehand.estimators import Method, Tally, history_keys, run
from beforehand.estimators.methods import Exact
from beforehand.events import Vocabulary
from beforehand.models import Markov, Model, Prepared, Recurrent, Surrogate
from beforehand.queries import Automaton, Question, compile_questions, parse

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def random_markov(events: int = 4, order: int = 1, seed: int = 0, end: bool = False) -> Markov:
    """A Markov model over the letters a, b, c, … with random probabilities; with `end`, the last label ends a sequence."""
    table = np.random.default_rng(seed).dirichlet(np.ones(events), size=(events,) * order)
    return Markov.from_table(table, letters(events, end))


def random_lstm(events: int = 4, seed: int = 0, end: bool = False) -> Recurrent:
    """A two-layer LSTM over the letters a, b, c, … with random weights, in double precision."""
    return Recurrent.random(letters(events, end), hidden=6, layers=2, seed=seed)


def perfect_lookahead(markov: Markov) -> Prepared:
    """A Markov model that looks ahead with itself: every estimate that uses it is exact."""
    everyone = torch.arange(len(markov.follow))
    return Prepared(markov, Surrogate(markov.probabilities, everyone * 0, markov.follow, everyone, (len(everyone),)))


def letters(events: int, end: bool = False) -> Vocabulary:
    """The first letters as labels; with `end`, the last label is "end"."""
    return Vocabulary([*LETTERS[: events - 1], "end"], end="end") if end else Vocabulary(LETTERS[:events])


def enumerate_futures(model: Model, history: Sequence[int], length: int) -> list[tuple[tuple[int, ...], float]]:
    """Every future of so many events with its probability: the slow truth. A future stops at the end event."""
    end, rows = model.vocabulary.end_id, torch.zeros(len(model.vocabulary), dtype=torch.long)
    found: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for _ in range(length):
        longer = []
        for word, chance in found:
            if word and word[-1] == end:
                longer.append((word, chance))
                continue
            nexts = model.start([[*history, *word]]).log_probs[0].double().exp()
            longer += [((*word, event), chance * float(nexts[event])) for event in range(len(rows))]
        found = longer
    return found


def check_model(model: Model, histories: Sequence[Sequence[int]] | None = None, tolerance: float = 1e-5) -> None:
    """Normalised, the same alone and in a batch, gathers what it is told to, repeats itself, and reads as it steps."""
    size = len(model.vocabulary)
    histories = histories or [[0], [size - 1, 0], [0, size // 2, 0, size - 1], [size // 2]]
    together = model.start(histories)
    assert together.log_probs.shape == (len(histories), size), (
        f"start gives {tuple(together.log_probs.shape)} for {len(histories)} histories"
    )
    assert together.log_probs.dtype in (torch.float32, torch.float64), (
        f"log_probs are {together.log_probs.dtype}; float32 or better"
    )
    _same(together.log_probs.double().exp().sum(1), torch.ones(len(histories)), "the probabilities of a row sum to one", tolerance)
    _same(model.start(histories).log_probs, together.log_probs, "reading the same histories twice gives the same", 0)
    for row, history in enumerate(histories):
        _same(
            model.start([history]).log_probs[0],
            together.log_probs[row],
            f"history {row} reads the same alone and in a batch",
            tolerance,
        )
    rows = torch.arange(len(histories)).flip(0).repeat(2)
    events = torch.arange(len(rows)) % size
    before = together.log_probs.clone()
    stepped = model.advance(together, rows, events)
    _same(together.log_probs, before, "advance leaves the state it starts from as it was", 0)
    longer = [[*histories[row], event] for row, event in zip(rows.tolist(), events.tolist(), strict=True)]
    _same(stepped.log_probs, model.start(longer).log_probs, "advance after start equals start on the longer history", tolerance)
    picked = model.advance(together, rows[:3], events[:3])
    _same(picked.log_probs, stepped.log_probs[:3], "advancing some rows gives what advancing all gives them", tolerance)


def _same(found: torch.Tensor, wanted: torch.Tensor, law: str, tolerance: float) -> None:
    found, wanted = found.double(), wanted.double()
    off = (found.exp() - wanted.exp()).abs().max() if (found <= 0).all() else (found - wanted).abs().max()
    assert not off > tolerance and not torch.isnan(found).any(), f"broken: {law}; off by {float(off):.3g}, allowed {tolerance:.3g}"


def check_automaton(automaton: Automaton) -> None:
    """Tables are total, point at states that exist, and by the horizon every question has taken exactly one outcome."""
    horizon = automaton.horizon or 2 * max(automaton.deadlines, default=3)
    taken = {(automaton.start, tuple(outcome >= 0 for outcome in automaton.at_start))}
    for step in range(1, horizon + 1):
        moves = automaton.at(step)
        assert moves.next.shape == (automaton.states, automaton.class_count), f"tables of step {step} have shape {moves.next.shape}"
        assert moves.next.max(initial=-1) < automaton.states, f"step {step} leads to a state that does not exist"
        after = set()
        for (state, decided), kind in itertools.product(taken, range(automaton.class_count)):
            if state < 0:
                continue
            emits = moves.emits[:, state, kind]
            for question, outcome in enumerate(emits):
                assert outcome < automaton.outcomes[question], (
                    f"question {question} takes outcome {outcome}, which it does not have"
                )
                assert not (decided[question] and outcome >= 0), f"question {question} is decided twice at step {step}"
            now = tuple(bool(known or outcome >= 0) for known, outcome in zip(decided, emits, strict=True))
            assert (moves.next[state, kind] < 0) == all(now), (
                f"state {state} at step {step} stops before all is decided, or goes on after"
            )
            after.add((int(moves.next[state, kind]), now))
        taken = after
    if automaton.horizon is not None:
        assert all(state < 0 for state, _ in taken), "something is left to decide after the horizon"


def check_method(
    method: Method,
    model: Model | None = None,
    questions: Sequence[str | Question] = (
        "P(a within 4)",
        "P(when(a) = 4)",
        "P(a before b within 5)",
        "count(a) within 4",
        "event(3)",
    ),
    history: Sequence[int] = (0, 1),
    seeds: int = 400,
    budget: int | None = None,
    unbiased: bool = True,
) -> None:
    """Against the exact answer: bounds bracket it, masses add up to at most one, the same seed repeats itself, and with
    `unbiased` the mean over many seeds is within four standard errors of it."""
    model = model or random_markov(3, order=2, seed=1)
    for question in questions:
        asked = parse(question) if isinstance(question, str) else question
        automaton = compile_questions((asked,), model.vocabulary)
        truth = run(model, automaton, [history], history_keys([history], 0), Exact().policy(None))[0].mass[0]
        tally = run_many(method, model, automaton, history, seeds, budget)
        again = run_many(method, model, automaton, history, seeds, budget)
        assert torch.equal(tally.mass, again.mass), f"{asked}: the same seeds give different answers"
        outcomes = tally.columns.outcomes
        lower, slack = tally.certain[:, :outcomes], 1 - tally.certain[:, :outcomes].sum(1, keepdim=True)
        inside = (lower <= truth[:outcomes] + 1e-9) & (truth[:outcomes] <= lower + slack + 1e-9)
        assert inside.all(), f"{asked}: {truth[:outcomes].tolist()} is outside of the certain bounds"
        if unbiased:
            error = tally.mass.std(0) / seeds**0.5
            z = (tally.mass.mean(0) - truth).abs() / error.clamp(min=1e-12)
            z = torch.where((tally.mass.mean(0) - truth).abs() < 1e-11, 0, z)
            assert float(z.max()) < 4, (
                f"{asked}: mean {tally.mass.mean(0).tolist()}, truth {truth.tolist()}, |z| up to {float(z.max()):.1f}"
            )


def run_many(
    method: Method, model: Model, automaton: Automaton, history: Sequence[int], seeds: int, budget: int | None = None
) -> Tally:
    """The same history under many seeds in one batch: each row of the tally is one of them. One question."""
    keys = torch.cat([history_keys([history], seed) for seed in range(seeds)])
    return run(model, automaton, [history] * seeds, keys, method.policy(budget))[0]
