from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand.errors import BeforehandError, HistoryError, ModelError, VocabularyError
from beforehand.models import Function, Model, State, join
from beforehand.testing import check_model, letters, random_lstm, random_markov
from tests.shared import checkpoint, needs_shared, sequences

MODELS = {
    "markov-1": random_markov(4),
    "markov-2": bh.Markov.fit([[0, 1, 2, 3, 0, 0, 1], [2, 2, 1]], letters(4), order=2),
    "lstm": random_lstm(4),
    "gru": bh.Recurrent.random(letters(4), hidden=5, layers=3, kind="gru"),
    "tanh": bh.Recurrent.random(letters(4), hidden=5, layers=2, kind="tanh"),
    "relu": bh.Recurrent.random(letters(4), hidden=5, layers=1, kind="relu", sharpness=1.0),
    "float32": bh.Recurrent.random(letters(4), hidden=5, layers=2, dtype=torch.float32),
    "tempered": bh.Tempered(random_lstm(4), 2.0),
    "function": Function(lambda pasts: [[0.1 * (past[-1] + 1), 0.2, 0.3, 0.4 - 0.1 * past[-1]] for past in pasts], letters(4)),
    "start": bh.Recurrent.random(bh.Vocabulary([*"abcd"], start="a"), hidden=5),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_keeps_the_law(model: Model) -> None:
    check_model(model)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_states_join(model: Model) -> None:
    one, other = model.start([[0], [1]]), model.start([[2]])
    both = join([one, other])
    events = torch.tensor([1, 1, 3])
    apart = torch.cat(
        [model.advance(one, torch.arange(2), events[:2]).log_probs, model.advance(other, torch.arange(1), events[2:]).log_probs]
    )
    torch.testing.assert_close(model.advance(both, torch.arange(3), events).log_probs, apart)


class Broken:
    """A model that forgets the last event of a history."""

    vocabulary = letters(3)
    inner = random_markov(3)

    def start(self, histories: list[list[int]]) -> State:
        return self.inner.start([[*history[:-1], 0] for history in histories])

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        return self.inner.advance(state, rows, events)


def test_the_law_catches_a_broken_model() -> None:
    with pytest.raises(AssertionError, match="advance after start"):
        check_model(Broken())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind,network", [("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("tanh", torch.nn.RNN), ("relu", torch.nn.RNN)]
)
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("embedded", [False, True])
def test_recurrent_equals_torch(kind: str, network: Any, layers: int, embedded: bool) -> None:
    torch.manual_seed(1)
    options = {"nonlinearity": kind} if network is torch.nn.RNN else {}
    embedding = torch.nn.Embedding(5, 4 if embedded else 5)
    if not embedded:
        embedding.weight.data = torch.eye(5)
    rnn, out = network(embedding.embedding_dim, 7, layers, batch_first=True, **options).double(), torch.nn.Linear(7, 5).double()
    embedding.double()
    parts = {"rnn": rnn, "decoder": out} | ({"embedding": embedding} if embedded else {})
    weights = {f"{name}.{key}": value.detach() for name, part in parts.items() for key, value in part.state_dict().items()}
    model = bh.Recurrent.from_state_dict(weights, letters(5), nonlinearity=kind if options else "tanh")
    events = torch.tensor([[0, 1, 2, 3], [1, 1, 4, 0]])
    wanted = out(rnn(embedding(events))[0][:, -1]).log_softmax(1)
    torch.testing.assert_close(model.start(events.tolist()).log_probs, wanted.detach())


def test_markov_probabilities_are_smoothed_counts() -> None:
    model = bh.Markov.fit([[0, 1, 0, 1, 1]], letters(2), order=1)
    lower = (np.array([2, 3]) + 2 * 0.5) / (5 + 2)
    after_a = (np.array([0, 2]) + 1 * lower) / (2 + 1)
    np.testing.assert_allclose(model.start([[0]]).log_probs[0].exp(), after_a)


def test_markov_contexts_follow_one_another() -> None:
    rng = np.random.default_rng(0)
    log = [rng.integers(0, 3, size=30).tolist() for _ in range(5)]
    model = bh.Markov.fit(log, letters(3), order=3)
    seen = {tuple(s[i - n : i]) for s in log for i in range(len(s)) for n in range(4) if i >= n}
    for history in ([0, 1, 2, 2], [2, 2, 2, 2, 2], [1]):
        longest = next(n for n in (3, 2, 1, 0) if n <= len(history) and tuple(history[len(history) - n :]) in seen)
        context = int(model.start([history]).memory[0])
        same = int(model.start([history[len(history) - longest :]]).memory[0])
        assert context == same


def test_tempering() -> None:
    model = random_markov(4)
    hot = bh.Tempered(model, 3.0).start([[1]]).log_probs[0].exp()
    wanted = model.start([[1]]).log_probs[0].exp() ** (1 / 3)
    torch.testing.assert_close(hot, wanted / wanted.sum())


@pytest.mark.parametrize(
    "wrong,words",
    [
        (lambda: bh.Markov.from_table([[0.5, 0.6], [0.5, 0.5]], letters(2)), "sum to 1.1"),
        (lambda: bh.Markov.from_table([[0.5, float("nan")], [0.5, 0.5]], letters(2)), "not a distribution"),
        (lambda: bh.Markov.from_table([[1.5, -0.5], [0.5, 0.5]], letters(2)), "not a distribution"),
        (lambda: bh.Markov.from_table([[0.5, 0.5]], letters(2)), "shape"),
        (lambda: bh.Markov.fit([[0]], letters(2), order=-1), "order"),
        (lambda: bh.Tempered(random_markov(2), 0), "above 0"),
        (lambda: bh.Recurrent.from_state_dict({"a": torch.zeros(2)}, letters(2)), "no recurrent layers"),
        (lambda: bh.Recurrent.from_state_dict(_weights(), letters(6)), "6"),
        (lambda: Function(lambda pasts: [[0.5, 0.6]] * len(pasts), letters(2)).start([[0]]), "sum to 1.1"),
        (lambda: Function(lambda pasts: [[float("nan"), 1.0]] * len(pasts), letters(2)).start([[0]]), "not a distribution"),
        (lambda: Function(lambda pasts: [[1.0]] * len(pasts), letters(2)).start([[0]]), "rows of 2"),
        (lambda: random_lstm(3).start([[]]), "no start symbol"),
        (lambda: random_lstm(3).start([[0], [3]]), "id 3"),
        (lambda: random_markov(3, order=2).start([[0]]), "at least 2"),
        (lambda: bh.Vocabulary([]), "at least one"),
        (lambda: bh.Vocabulary(["a", "a"]), "twice"),
        (lambda: bh.Vocabulary(["a"], end="z"), "not among"),
        (lambda: bh.Vocabulary(["a"], groups={"a": ["a"]}), "name of a label"),
        (lambda: bh.Vocabulary(["apple"], groups={"fruit": ["aple"]}), "did you mean"),
    ],
)
def test_bad_input_gets_a_clear_error(wrong: object, words: str) -> None:
    with pytest.raises((ModelError, HistoryError, VocabularyError, BeforehandError), match=words):
        wrong()  # type: ignore[operator]


def _weights() -> dict[str, torch.Tensor]:
    network, out = torch.nn.LSTM(5, 4), torch.nn.Linear(4, 5)
    return {
        **{f"rnn.{k}": v.detach() for k, v in network.state_dict().items()},
        **{f"out.{k}": v.detach() for k, v in out.state_dict().items()},
    }


@needs_shared
@pytest.mark.parametrize("name,loss,length", [("moocs", 1.52, 15), ("shakespeare", 1.34, 100)])
def test_released_checkpoints_have_the_expected_loss(name: str, loss: float, length: int) -> None:
    """Mean nats per event on real sequences that begin with the start symbol, over users or pieces of text alike."""
    model = checkpoint(name)
    events = torch.tensor([model.vocabulary.ids(each) for each in sequences(name, 2_000, length)])
    state, rows, total = model.start([[]] * len(events)), torch.arange(len(events)), 0.0
    for step in range(events.shape[1]):
        total -= float(state.log_probs[rows, events[:, step]].mean())
        state = model.advance(state, rows, events[:, step])
    assert abs(total / events.shape[1] - loss) < 0.06, f"{total / events.shape[1]:.3f} nats per event, expected {loss}"
