"""Language models of transformers: small ones, made here at random, and a real one where it is installed."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

import beforehand as bh
from beforehand.errors import HistoryError, ModelError, StorageError
from beforehand.models import HuggingFace, State
from beforehand.models.language import about
from beforehand.testing import check_model
from tests.models.tiny import gpt2, llama, mistral, tokenizer

MAKERS = {"gpt2": gpt2, "llama, with several queries to a key": llama, "mistral, with a sliding window": mistral}


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest) -> HuggingFace:
    return HuggingFace(MAKERS[request.param](), tokenizer())


def test_laws(model: HuggingFace) -> None:
    check_model(model, tolerance=1e-4)


def test_keys_are_shared_where_the_network_can(model: HuggingFace) -> None:
    assert model.shares == (type(model.model).__name__ != "MistralForCausalLM")


def test_many_steps_give_what_reading_the_whole_text_gives(model: HuggingFace) -> None:
    """Rows of two histories that fork, die and are picked again."""
    random, histories = torch.Generator().manual_seed(0), [[5, 6, 7, 8, 9, 10], [3, 4]]
    state, texts = model.start(histories), [list(each) for each in histories]
    for _ in range(6):
        rows = torch.randint(len(texts), (9,), generator=random)
        events = torch.randint(len(model.vocabulary), (9,), generator=random)
        state = model.advance(state, rows, events)
        texts = [[*texts[row], event] for row, event in zip(rows.tolist(), events.tolist(), strict=True)]
    assert torch.allclose(state.log_probs, model.start(texts).log_probs, atol=1e-4)


def test_no_rows_are_no_trouble(model: HuggingFace) -> None:
    none = torch.zeros(0, dtype=torch.long)
    state = model.advance(model.start([[5, 6]]), none, none)
    assert state.log_probs.shape == (0, len(model.vocabulary)) and len(model.advance(state, none, none).log_probs) == 0


def test_rows_that_die_leave_nothing_behind() -> None:
    model = HuggingFace(gpt2(), tokenizer())
    state, every = model.start([[5, 6]]), torch.arange(32)
    state = model.advance(state, torch.zeros(32, dtype=torch.long), every)
    for _ in range(3):
        state = model.advance(state, torch.zeros(32, dtype=torch.long), every)
    assert [len(nodes) for nodes in state.memory.steps] == [1, 1, 1, 32]
    assert len(state.memory.trunks) == 1


@pytest.mark.parametrize("method", ["exact", "beam", "importance", "hybrid", "sieve", "naive"])
def test_every_method_answers(method: str) -> None:
    model = HuggingFace(gpt2(), tokenizer())
    wanted = [i for i, piece in enumerate(model.vocabulary.pieces) if b"e" in piece]
    futures = enumerate_futures_of_two(model)
    truth = sum(chance for word, chance in futures if set(word) & set(wanted))
    assert len(futures) > 1_000
    answer = bh.ask(model, 'P(token containing "e" within 2)', [5, 6, 7], method=method, budget=400)
    assert answer.lower_bound - 1e-4 <= truth <= answer.upper_bound + 1e-4
    if method in ("exact", "sieve"):
        assert answer.value == pytest.approx(truth, rel=0.02)


def enumerate_futures_of_two(model: HuggingFace) -> list[tuple[tuple[int, ...], float]]:
    first = model.start([[5, 6, 7]])
    size, end = len(model.vocabulary), model.vocabulary.end_id
    second = model.advance(first, torch.zeros(size, dtype=torch.long), torch.arange(size)).log_probs.double().exp()
    one = first.log_probs[0].double().exp()
    found = [((a, b), float(one[a] * second[a, b])) for a in range(size) if a != end for b in range(size)]
    return [*found, ((int(end or 0),), float(one[end]))]


def test_a_batch_gives_what_each_history_gives_alone() -> None:
    model, texts = HuggingFace(llama(), tokenizer()), ["the cat", "a dog sat on the mat", "the"]
    questions = ['P(text contains "at" within 5)', 'when(token containing "t") within 4']
    together = bh.ask_many(model, questions, texts, budget=300)
    for text, row in zip(texts, together, strict=True):
        assert bh.ask(model, questions[0], text, budget=300).value == pytest.approx(row[0].value, rel=1e-3)
        assert bh.ask(model, questions[1], text, budget=300).value == pytest.approx(row[1].value, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"top_k": 2, "do_sample": True},
        {"temperature": 0.1, "do_sample": True},
        {"repetition_penalty": 9.0},
        {"bad_words_ids": [[5]]},
        {"min_p": 0.5, "do_sample": True},
    ],
)
def test_generation_settings_change_nothing(settings: dict[str, Any], tmp_path: Path) -> None:
    network = gpt2()
    plain = HuggingFace(gpt2(), tokenizer()).start([[5, 6]])
    for name, value in settings.items():
        setattr(network.generation_config, name, value)
    network.generation_config.save_pretrained(tmp_path)
    network.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    loaded = bh.load_language_model(tmp_path)
    for model in (HuggingFace(network, tokenizer()), loaded):
        assert torch.equal(model.start([[5, 6]]).log_probs, plain.log_probs)
        stepped = model.advance(model.start([[5, 6]]), torch.tensor([0]), torch.tensor([7]))
        raw = network(torch.tensor([[5, 6, 7]])).logits[0, -1].log_softmax(-1)
        assert torch.allclose(stepped.log_probs[0], raw, atol=1e-5)


def test_the_network_outside_of_our_steps_is_as_it_was() -> None:
    network, ids = gpt2(), torch.tensor([[5, 6, 7, 8]])
    before = network(ids).logits
    HuggingFace(network, tokenizer())
    assert torch.allclose(network(ids).logits, before, atol=1e-5)
    assert network.generate(ids, max_new_tokens=3, do_sample=False, pad_token_id=0).shape == (1, 7)


def test_texts_and_continuations() -> None:
    model = HuggingFace(gpt2(), tokenizer())
    history = "the cat"
    assert bh.ask(model, "next", history).value == pytest.approx(bh.ask(model, "next", model.vocabulary.encode(history)).value)
    choices = [" dog", " mat", "x"]
    every = bh.continuations(model, choices, history, budget=3_000)
    canonical = bh.continuations(model, choices, history, cut="canonical")
    assert every.labels == canonical.labels == tuple(choices) and canonical.interval_kind == "exact"
    assert (canonical.value <= every.high + 1e-9).all() and canonical.value.sum() + canonical.undecided == pytest.approx(1)
    truth = 0.0  # all ways to cut " dog", and to go on past it
    pieces, end = model.vocabulary.pieces, model.vocabulary.end_id
    inside = [i for i, piece in enumerate(pieces) if piece in b" dog" and i != end]
    for length in (1, 2, 3, 4):
        for word in itertools.product(inside, repeat=length - 1):
            begun = b"".join(pieces[i] for i in word)
            if not b" dog".startswith(begun) or begun == b" dog":
                continue
            last = model.start([[*model.vocabulary.encode(history), *word]]).log_probs[0].double().exp()
            chance = float(last[[i for i, piece in enumerate(pieces) if (begun + piece).startswith(b" dog")]].sum())
            ids = model.vocabulary.encode(history)
            for event in word:
                chance *= float(model.start([ids]).log_probs[0, event].double().exp())
                ids = [*ids, event]
            truth += chance
    exact = bh.continuations(model, choices, history, method="exact")
    assert exact[" dog"].value == pytest.approx(truth, rel=1e-4)
    assert every[" dog"].low * (1 - 1e-4) <= truth <= every[" dog"].high * (1 + 1e-4)
    for wrong in ([" a"], "ab", ["a", ""], ["ab", "a"]):
        with pytest.raises(bh.errors.QueryError):
            bh.continuations(model, wrong, history)


def test_a_folder_and_what_is_none(tmp_path: Path) -> None:
    gpt2().save_pretrained(tmp_path / "m")
    with pytest.raises(StorageError, match="no tokenizer"):
        bh.load_language_model(tmp_path / "m")
    tokenizer().save_pretrained(tmp_path / "m")
    assert isinstance(bh.load_language_model(tmp_path / "m"), HuggingFace)
    with pytest.raises(StorageError, match=r"bh\.load_language_model"):
        bh.load(tmp_path / "m")
    assert about(tmp_path / "m")["model_type"] == "gpt2"
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nothing", "nothing.gguf"):
        with pytest.raises(StorageError, match="there is neither a config"):
            bh.load_language_model(tmp_path / place)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.gguf").write_bytes(b"GGUF nothing")
    with pytest.raises(StorageError, match="cannot be loaded"):
        bh.load_language_model(tmp_path / "broken")


def test_a_tokenizer_of_another_model_is_refused() -> None:
    with pytest.raises(ModelError, match="do not belong together"):
        HuggingFace(gpt2(vocabulary=100), tokenizer())
    with pytest.raises(ModelError, match="do not belong together"):
        HuggingFace(gpt2(vocabulary=9_000), tokenizer())
    padded = HuggingFace(gpt2(vocabulary=308), tokenizer())
    assert padded.vocabulary.labels[-1] == "<unused 307>" and padded.vocabulary.pieces[-1] == b""


def test_an_encoder_is_refused() -> None:
    from transformers import BertConfig, BertLMHeadModel

    config = BertConfig(vocab_size=300, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    with pytest.raises(ModelError, match="not a causal language model"):
        HuggingFace(BertLMHeadModel(config), tokenizer())


def test_contexts_have_an_end() -> None:
    model = HuggingFace(gpt2(), tokenizer())
    with pytest.raises(HistoryError, match="at most 64"):
        bh.ask(model, "next", [5] * 65)
    with pytest.raises(HistoryError, match="looks 30 ahead; this model reads at most 64"):
        bh.ask(model, 'P(token containing "e" within 30)', [5] * 40)
    assert 0 < bh.ask(model, 'P(token containing "e" within 30)', [5] * 35, budget=100).value < 1
    with pytest.raises(HistoryError, match="at most 64"):
        bh.ask(model, 'P(token containing "q" before token containing "x")', [5] * 60, budget=3_000)


def test_half_precision_and_impossible_tokens() -> None:
    network = gpt2().to(torch.bfloat16)
    network.lm_head.register_forward_hook(lambda _, __, logits: logits.index_fill(-1, torch.tensor([3, 9]), -torch.inf))
    model = HuggingFace(network, tokenizer())
    assert model.start([[5]]).log_probs.dtype == torch.float32
    answer = bh.ask(model, "next", [5, 6])
    assert answer.value[3] == answer.value[9] == 0 and answer.value.sum() == pytest.approx(1)
    for method in ("sieve", "importance", "beam"):
        assert 0 < bh.ask(model, 'P(token containing "e" within 4)', [5, 6], method=method, budget=200).value <= 1
    network.lm_head.register_forward_hook(lambda _, __, logits: logits * torch.nan)
    with pytest.raises(ModelError, match="no distribution"):
        bh.ask(model, 'P(token containing "e" within 4)', [5, 6])


def test_an_empty_text_begins_with_the_token_that_begins_one() -> None:
    model = HuggingFace(gpt2(), tokenizer())
    begun = model.start([[]]).log_probs
    assert torch.equal(begun, model.start([[model.model.config.bos_token_id]]).log_probs)
    without = HuggingFace(gpt2(), tokenizer(bos=None))
    with pytest.raises(HistoryError, match="give it a text"):
        without.start([[]])


def test_a_sieve_on_a_language_model_is_unbiased() -> None:
    model = HuggingFace(gpt2(), tokenizer())
    truth = bh.ask(model, 'P(text contains "th" within 3)', [5, 6, 7], method="exact").value
    found = [bh.ask(model, 'P(text contains "th" within 3)', [5, 6, 7], budget=40, seed=seed).value for seed in range(200)]
    values = torch.tensor(found, dtype=torch.float64)
    assert abs(float(values.mean()) - truth) < 4 * float(values.std()) / 200**0.5


def test_shared_keys_take_a_fraction_of_the_memory() -> None:
    """Of 256 rows over a history of 60: every key once, and not once a row."""
    model = HuggingFace(gpt2(), tokenizer())
    state = model.start([[5] * 60])
    state = model.advance(state, torch.zeros(256, dtype=torch.long), torch.arange(256))
    held = _numbers(state)
    plain = 256 * 61 * 2 * 2 * 16  # rows, events, layers, keys and values, width
    assert held < plain / 30


def _numbers(state: State) -> int:
    memory = state.memory
    parts = [each for trunk in memory.trunks for each in (*trunk.keys, *trunk.values)]
    parts += [each for nodes in memory.steps for each in (*nodes.keys, *nodes.values)]
    return sum(each.numel() for each in parts)
