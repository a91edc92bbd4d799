"""What is decided before it begins, ends early, or is handed in wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand.errors import BeforehandError, HistoryError, MethodError, ModelError
from beforehand.models import State
from beforehand.testing import letters, random_lstm, random_markov

ENDING = bh.Markov.from_table([[0.3, 0.5, 0.2], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4]], bh.Vocabulary(["a", "b", "end"], end="end"))


@pytest.mark.parametrize("method", ["exact", "naive", "importance", "hybrid", "beam", "sieve"])
def test_what_is_decided_at_the_start_stays_so_in_company(method: str) -> None:
    texts = ["P(matches a* within 3)", "P(a within 4)", "P(when(a) >= 1)", "P(count(a) >= 0 within 3)"]
    for model in (ENDING, random_lstm(3, end=True)):
        found = bh.ask_many(model, texts, [["a"]], method=method, budget=50)[0]
        assert [found[i].value for i in (0, 2, 3)] == [1, 1, 1]
        assert found[1].value < 1


def test_the_end_counts_like_any_event_and_nothing_comes_after_it() -> None:
    once = bh.ask(ENDING, "P(end within 2)", ["a"]).value
    assert once == pytest.approx(0.36)
    for text in ("P(count(end) = 1 within 2)", "P(count(end) >= 1 within 2)", "P(/end/ within 2)"):
        assert bh.ask(ENDING, text, ["a"]).value == pytest.approx(once)
    for text in ("P(end then a within 2)", "P(matches end a within 2)", "P(matches a end end within 3)"):
        assert bh.ask(ENDING, text, ["a"]).value == 0
    assert bh.ask(ENDING, "P(/./ then b within 2)", ["a"]).value == bh.ask(ENDING, "P(any then b within 2)", ["a"]).value


def test_histories_that_have_ended_have_no_future() -> None:
    with pytest.raises(HistoryError, match="nothing happens after it"):
        bh.ask(ENDING, "P(a within 1)", ["a", "end"])


@pytest.mark.parametrize("method,least", [("naive", 0.9), ("importance", 0.9), ("hybrid", 0.9), ("sieve", 0.9)])
@pytest.mark.parametrize("text", ["P(c within 3 | a then b then c within 4)", "P(a before b | never b within 2)"])
def test_conditional_intervals_hold_the_truth(method: str, least: float, text: str) -> None:
    """At small budgets, where few draws meet the condition; also with a part that stays undecided."""
    markov = random_markov(4, seed=11)
    truth = bh.ask(markov, text, ["a"]).value
    held = []
    for seed in range(100):
        answer = bh.ask(markov, text, ["a"], method=method, budget=60 if "within 4" in text else 400, seed=seed)
        held.append(answer.low - 1e-9 <= truth <= answer.high + 1e-9)
        assert answer.low < answer.high or answer.interval_kind == "exact"
        assert answer.lower_bound - 1e-9 <= truth <= answer.upper_bound + 1e-9
    assert np.mean(held) >= least


class Wide:
    """Says more than its vocabulary has."""

    vocabulary = letters(3)

    def start(self, histories: list[list[int]]) -> State:
        return State(torch.zeros(len(histories), 5).log_softmax(1), None)

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        return self.start([[]] * len(rows))


def test_wrong_things_get_a_sentence() -> None:
    model, text = random_lstm(3), "P(a within 2)"
    weights = {"weight_hh_l0": torch.zeros(4, 1), "weight_ih_l0": torch.zeros(4, 3), "out.weight": torch.zeros(3, 1)}
    wrong: list[tuple[type[BeforehandError], Any]] = [
        (HistoryError, lambda: bh.ask(model, text, None)),  # type: ignore[arg-type]
        (HistoryError, lambda: bh.ask(model, text, 5)),  # type: ignore[arg-type]
        (HistoryError, lambda: bh.ask(model, text, b"ab")),
        (HistoryError, lambda: bh.ask(model, text, {"a": 1})),
        (HistoryError, lambda: bh.ask_many(model, [text], [0, 1])),  # type: ignore[list-item]
        (HistoryError, lambda: bh.ask_many(model, [text], None)),  # type: ignore[arg-type]
        (ModelError, lambda: bh.ask(None, text, ["a"])),  # type: ignore[arg-type]
        (ModelError, lambda: bh.ask(bh.Markov, text, ["a"])),  # type: ignore[arg-type]
        (ModelError, lambda: bh.ask(Wide(), text, ["a"])),  # type: ignore[arg-type]
        (ModelError, lambda: bh.ask(bh.models.Function(lambda pasts: None, letters(3)), text, ["a"])),  # type: ignore[arg-type, return-value]
        (ModelError, lambda: bh.Markov.from_table([[0.5, 0.5], [1.0]], letters(2))),
        (ModelError, lambda: bh.Markov.from_table([[1.0]], ["a"])),  # type: ignore[arg-type]
        (ModelError, lambda: bh.Markov([[1.0]], [[7]], letters(1))),
        (ModelError, lambda: bh.Recurrent.from_state_dict(None, letters(3))),  # type: ignore[arg-type]
        (ModelError, lambda: bh.Recurrent.from_state_dict(weights | {"weight_hh_l0_reverse": torch.zeros(4, 1)}, letters(3))),
        (ModelError, lambda: bh.Recurrent.from_state_dict(weights | {"bias_ih_l0": torch.zeros(4)} | _second_layer(), letters(3))),
        (HistoryError, lambda: bh.Markov.fit([["a", "b"]], letters(2))),
        (MethodError, lambda: bh.ask(model, text, ["a"], precision="x")),  # type: ignore[arg-type]
        (MethodError, lambda: bh.ask(model, text, ["a"], confidence=None)),  # type: ignore[arg-type]
        (MethodError, lambda: bh.ask(model, text, ["a"], memory="1GB")),  # type: ignore[arg-type]
        (MethodError, lambda: bh.ask(model, text, ["a"], seed=10**100)),
        (MethodError, lambda: bh.ask(model, text, ["a"], budget=10**18)),
        (MethodError, lambda: bh.ask(model, text, ["a"], method=bh.methods.Beam)),  # type: ignore[arg-type]
        (MethodError, lambda: bh.methods.Beam(1.5)),  # type: ignore[arg-type]
        (MethodError, lambda: bh.methods.Importance(10**12)),
        (MethodError, lambda: bh.ask(model, "P(a within 900000)", ["a"], budget=2_000)),
    ]
    for number, (kind, act) in enumerate(wrong):
        with pytest.raises(kind):
            act()
            pytest.fail(f"nothing was said about number {number}")


def _second_layer() -> dict[str, torch.Tensor]:
    return {"weight_hh_l1": torch.zeros(4, 1), "weight_ih_l1": torch.zeros(4, 1)}


def test_numbers_of_numpy_are_numbers() -> None:
    answer = bh.ask(random_lstm(3), "P(a within 9)", np.array([0, 1]), budget=np.int64(100), seed=np.int32(1))  # type: ignore[arg-type]
    assert answer.calls <= 100
