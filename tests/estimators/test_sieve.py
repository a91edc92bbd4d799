"""What must be true of the sieve beyond what is true of every method."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand.errors import MethodError
from beforehand.estimators import run, selection
from beforehand.estimators.frontier import Layout
from beforehand.estimators.islands import Grounds
from beforehand.estimators.randomness import history_keys, uniforms
from beforehand.estimators.selection import sift
from beforehand.queries import YES, compile_questions, parse
from beforehand.testing import letters, perfect_lookahead, random_lstm, random_markov, run_many


@pytest.mark.parametrize("budget", [7, 20, 300])
@pytest.mark.parametrize(
    "text", ["P(a within 6)", "P(when(a) = 6)", "P(count(a) = 2 within 6)", "P(b then a within 6)", "P(a before b)"]
)
def test_a_perfect_lookahead_makes_it_exact_for_any_number_of_rows(text: str, budget: int) -> None:
    markov = random_markov(5, order=2, seed=6)
    truth = bh.ask(markov, text, ["b", "c"]).value
    for seed in range(20):
        answer = bh.ask(perfect_lookahead(markov), text, ["b", "c"], method="sieve", budget=budget, seed=seed)
        endless = "within" not in text and "when" not in text
        if endless and budget < 300:
            continue  # too little to see such a question through
        tolerance = 2e-3 if endless else 1e-9  # a question without a horizon leaves a little undecided
        assert answer.value == pytest.approx(truth, abs=tolerance)


def test_room_for_everything_makes_it_exact() -> None:
    model, truth = random_lstm(3), bh.ask(random_lstm(3), "P(when(a) = 5)", ["b"], method="exact")
    answer = bh.ask(model, "P(when(a) = 5)", ["b"], method="sieve", budget=2_000)
    assert answer.value == pytest.approx(truth.value, abs=1e-14)
    assert answer.interval_kind == "exact" and answer.low == answer.high


def test_without_lookahead_weights_add_up_to_one_and_answers_stay_inside() -> None:
    model = random_lstm(6, seed=4)
    for seed in range(20):
        answer = bh.ask(model, "when(a) within 9", ["b"], method="sieve", budget=60, seed=seed)
        assert answer.value.sum() + answer.undecided == pytest.approx(1, abs=1e-12)
        assert ((answer.low >= 0) & (answer.high <= 1)).all()


def parted(rows: int, islands: int, copies: int = 1) -> Grounds:
    """Grounds of about as many rows each, of so many histories that are alike."""
    of_row = (torch.arange(rows) * (islands + 1) // rows).repeat(copies)
    owner = torch.arange(copies).repeat_interleave(rows)
    return Grounds(of_row + owner * (islands + 1), copies, islands, Layout(owner, copies))


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(("room", "islands"), [(1, 1), (2, 1), (2, 2), (7, 3), (9, 8), (40, 4)])
def test_sifting_keeps_to_its_room_and_to_its_chances(room: int, islands: int, long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if long:
        monkeypatch.setattr(selection, "LONG", 1)
    generator = torch.Generator().manual_seed(room)
    rows, events, seeds = 10, 6, 20_000
    score = torch.rand(rows, events, generator=generator, dtype=torch.float64) ** 6
    score[::3, 2] = 0
    random = torch.rand(seeds, 2 * islands, generator=generator, dtype=torch.float64)
    grounds = parted(rows, islands, seeds)
    lived = sift(score.repeat(seeds, 1), grounds, torch.full((seeds,), room), random)
    counts = torch.bincount(lived.row // rows, minlength=seeds)
    assert (counts == min(room, int((score > 0).sum()))).all()
    place = lived.row % rows * events + lived.event
    weight, square = (torch.zeros(60, dtype=torch.float64).index_add_(0, place, f) / seeds for f in (lived.factor, lived.factor**2))
    wanted = (score.flatten() > 0).double()
    error = ((square - wanted).clamp(min=0) / seeds).sqrt()
    often = torch.bincount(place, minlength=60) > 50  # or else its own error is not known well enough
    assert ((weight - wanted).abs() < 4.5 * error + 1e-9)[often].all(), "each candidate lives on with its weight, on average"
    assert often.sum() > 20
    before, after = grounds.of_row[lived.row] % (islands + 1), lived.ground % (islands + 1)
    assert (after[lived.certain :] > 0).all() and (after[: lived.certain] == before[: lived.certain]).all()
    assert ((after == before) | (before == 0)).all(), "an island draws from itself and the common ground"


def test_rows_go_on_as_often_as_they_are_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large vocabulary: as many places as rows that are worth the same, so one each; and alike rows take different events."""
    monkeypatch.setattr(selection, "LONG", 1)
    score, random = torch.full((50, 200), 0.5, dtype=torch.float64), torch.tensor([[0.37, 0.61]], dtype=torch.float64)
    owner = torch.zeros(50, dtype=torch.long)
    lived = sift(score, Grounds(owner + 1, 1, 1, Layout(owner, 1)), torch.tensor([50]), random)
    assert lived.row.tolist() == list(range(50))
    assert set(torch.bincount(lived.event // 20, minlength=10).tolist()) <= {4, 5, 6}, "together they are spread over all events"


def test_heavy_candidates_live_with_their_exact_weight() -> None:
    score = torch.tensor([[8.0, 0.5, 0.5, 0.5, 0.5]], dtype=torch.float64)
    random, zero = torch.tensor([[0.3, 0.3]], dtype=torch.float64), torch.zeros(1, dtype=torch.long)
    lived = sift(score, Grounds(zero, 1, 1, Layout(zero, 1)), torch.tensor([3]), random)
    assert lived.event.tolist()[0] == 0 and lived.certain == 1 and float(lived.factor[0]) == 1
    assert lived.factor[1:].tolist() == [2, 2]


def test_islands_tell_the_variance_of_a_run() -> None:
    """Over many seeds, the mean of what single runs say of their variance is the variance of their answers."""
    model = bh.prepare(random_lstm(6, seed=4), progress=False)
    for text in ("P(when(a) = 7)", "P(a before b within 8)", "when(a) within 8"):
        automaton = compile_questions((parse(text),), model.vocabulary)
        for looking in (True, False):
            tally = run_many(bh.methods.Sieve(lookahead=looking), model, automaton, [1], 3_000, 100)
            said = tally.spread(slice(YES, YES + 1))[0]  # type: ignore[misc]
            assert 0.85 < float(said.mean() / tally.mass[:, YES].var()) < 1.15


def test_random_numbers_are_uniform_and_independent_of_the_batch() -> None:
    keys = history_keys([[i] for i in range(2_000)], seed=1)
    lanes = torch.arange(50)
    numbers = uniforms(keys[:, None], 3, lanes[None])
    assert torch.equal(uniforms(keys[17:18], 3, lanes[20:21]), numbers[17, 20:21])
    counts = torch.histc(numbers, 20, 0, 1)
    assert float(((counts - 5_000) ** 2 / 5_000).sum()) < 45
    steps = torch.stack([uniforms(keys, step, torch.zeros(1, dtype=torch.long)) for step in range(5)])
    assert float(torch.corrcoef(steps).fill_diagonal_(0).abs().max()) < 0.1


@pytest.mark.parametrize("rarity", [1.0, 1e-3])
def test_intervals_cover(rarity: float) -> None:
    """A short, seeded version of benchmarks/coverage.py."""
    random = np.random.default_rng(3)
    table = random.dirichlet(np.ones(8), size=(8, 8)) + 1e-6
    table[:, :, 0] *= rarity
    markov = bh.Markov.from_table(table / table.sum(2, keepdims=True), letters(8))
    prepared = bh.models.Prepared(markov, bh.prepare(random_markov(8, seed=5), progress=False).lookahead)
    hits = []
    for text in ("P(when(a) = 6)", "P(a within 7)", "P(a before b within 8)"):
        automaton = compile_questions((parse(text),), markov.vocabulary)
        truth = bh.ask(markov, text, [3, 5]).value
        from beforehand.answers.intervals import of_columns

        found = of_columns(run_many(bh.methods.Sieve(), prepared, automaton, [3, 5], 200, 400), slice(YES, YES + 1), 0.95)
        hits.append(((found.low <= truth) & (truth <= found.high)).double().mean())
        assert (found.high > found.low).all(), "never a zero width unless exact"
    assert float(torch.stack(hits).mean()) > 0.90


def test_errors_shrink_with_the_budget() -> None:
    model = bh.prepare(random_lstm(6, seed=4), progress=False)
    truth = bh.ask(model, "P(when(a) = 6)", ["b"], method=bh.methods.Exact(10_000)).value
    automaton = compile_questions((parse("P(when(a) = 6)"),), model.vocabulary)
    errors = [
        float((run_many(bh.methods.Sieve(), model, automaton, [1], 200, budget).mass[:, YES] - truth).square().mean().sqrt())
        for budget in (30, 120, 480)
    ]
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]


def test_lookaheads_are_learned_from_labels_ids_or_nothing() -> None:
    model = random_lstm(4, seed=2)
    for sequences in (None, [["a", "b", "c"]] * 20, [[0, 1, 2]] * 20, [["a", "unheard of", "b"]] * 20):
        prepared = bh.prepare(model, sequences, progress=False)
        rows = prepared.lookahead.probabilities.sum(1)
        torch.testing.assert_close(rows, torch.ones_like(rows))
        assert bh.ask(prepared, "P(when(a) = 9)", ["b"], budget=200).method == "sieve"
    with pytest.raises(bh.errors.ModelError, match="no events"):
        bh.prepare(model, [[]], progress=False)


def test_a_distilled_lookahead_is_close_to_a_markov_model() -> None:
    markov = random_markov(4, order=2, seed=2)
    prepared = bh.prepare(markov, progress=False)
    contexts = prepared.lookahead.read([[0, 1], [3, 2, 1]], markov.vocabulary)
    near = prepared.lookahead.probabilities[contexts]
    torch.testing.assert_close(near, markov.start([[0, 1], [2, 1]]).log_probs.exp(), atol=0.02, rtol=0)


def test_shortened_lookaheads_know_less_but_stay_whole() -> None:
    lookahead = bh.prepare(random_lstm(4, seed=2), progress=False).lookahead
    for order in range(len(lookahead.levels)):
        short = lookahead.shortened(order)
        assert len(short.probabilities) == lookahead.levels[order]
        assert int(short.follow.max()) < lookahead.levels[order]


def test_large_vocabularies_are_sifted() -> None:
    size = 20_000
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, size, generator=generator) * 3

    def nexts(pasts: list[list[int]]) -> torch.Tensor:
        return torch.stack([logits[past[-1] % 3] for past in pasts]).double().softmax(1)

    model = bh.models.Function(nexts, bh.Vocabulary([f"w{i}" for i in range(size)]))
    answer = bh.ask(model, "P(/7$/ within 4)", ["w1"], method="sieve", budget=60)
    assert answer.calls <= 60 and 0.2 < answer.value < 0.6


@pytest.mark.parametrize("method", ["sieve", "importance", "auto"])
def test_a_wanted_precision_is_reached_or_said_not_to_be(method: str) -> None:
    model = bh.prepare(random_lstm(6, seed=4), progress=False)
    easy = bh.ask(model, "P(when(a) = 9)", ["b"], method=method, precision=0.05)
    assert easy.converged and (easy.high - easy.low) / 2 <= 0.05 * easy.value
    poor = bh.ask(model, "P(when(a) = 9)", ["b"], method=method, precision=0.0005, budget=1_500)
    assert not poor.converged and poor.calls <= 1_500 and "precision not reached" in str(poor)
    both = bh.ask_many(model, ["P(when(a) = 9)"], [["b"], ["c"]], method=method, precision=0.05)
    assert both[0][0].value == pytest.approx(easy.value, rel=1e-9), "the same in any batch"


def test_bad_budgets_are_refused() -> None:
    with pytest.raises(MethodError, match="not enough"):
        bh.ask(random_lstm(4), "P(when(a) = 9)", ["b"], method="sieve", budget=3)


def test_runs_keep_to_their_history_s_keys() -> None:
    model, automaton = random_lstm(4), compile_questions((parse("P(when(a) = 7)"),), letters(4))
    keys = torch.tensor([5, 5, 6])
    mass = run(model, automaton, [[1], [1], [1]], keys, bh.methods.Sieve().policy(30))[0].mass[:, YES]
    assert mass[0] == mass[1] != mass[2]


def test_a_small_memory_splits_one_history_into_independent_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beforehand.answers.work.LEAST_MEMORY", 1)
    model = bh.prepare(random_lstm(6, seed=4), progress=False)
    truth = bh.ask(model, "P(when(a) = 7)", ["b"], method=bh.methods.Exact(100_000)).value
    asked = [bh.ask(model, "P(when(a) = 7)", ["b"], method="sieve", budget=2_000, memory=20_000, seed=s) for s in range(40)]
    assert all(1_500 < each.calls <= 2_000 for each in asked)
    assert sum(each.low <= truth <= each.high for each in asked) >= 34
    assert sum(each.value for each in asked) / 40 == pytest.approx(truth, rel=0.05)


def test_a_question_that_tells_every_event_of_a_large_vocabulary_apart() -> None:
    table = torch.randn(3, 3_000, generator=torch.Generator().manual_seed(0)).double().softmax(1)
    labels = bh.Vocabulary([f"w{i}" for i in range(3_000)])
    model = bh.models.Function(lambda pasts: torch.stack([table[past[-1] % 3] for past in pasts]), labels)
    answer = bh.ask(model, "event(3)", ["w1"], method="sieve", budget=100)
    assert answer.value.sum() == pytest.approx(1) and len(answer) == 3_000
