"""Saving and loading: the same answers afterwards, and nothing lost or run on the way."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import beforehand as bh
from beforehand.errors import ModelError, StorageError
from beforehand.models import Prepared
from beforehand.testing import check_model, letters, random_lstm, random_markov

MODELS: dict[str, Callable[[], Any]] = {
    "markov": lambda: random_markov(4, order=2, end=True),
    "lstm": lambda: random_lstm(4),
    "gru": lambda: bh.Recurrent.random(letters(4), kind="gru", layers=2),
    "relu": lambda: bh.Recurrent.random(letters(4), kind="relu", dtype=torch.float32, sharpness=1.0),
    "transformer": lambda: bh.Transformer.random(letters(4)),
    "tempered": lambda: bh.Tempered(random_lstm(4), 1.5),
    "prepared": lambda: bh.prepare(random_lstm(4), progress=False),
    "prepared and tempered": lambda: bh.prepare(bh.Tempered(random_lstm(4), 0.7), progress=False),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_comes_back_as_it_was(kind: str, tmp_path: Path) -> None:
    model = MODELS[kind]()
    bh.save(model, tmp_path / "m", card={"note": "hello"})
    again = bh.load(tmp_path / "m")
    assert type(again) is type(model) and again.vocabulary == model.vocabulary and again.card == {"note": "hello"}
    check_model(again, [[0, 1], [2, 0, 1], [1, 1]])
    assert torch.equal(again.start([[0, 1, 2]]).log_probs, model.start([[0, 1, 2]]).log_probs)
    ask: dict[str, Any] = {"history": [0, 1], "method": "sieve", "budget": 100}
    assert bh.ask(again, "P(a within 7)", **ask).value == bh.ask(model, "P(a within 7)", **ask).value
    assert bh.save(again, tmp_path / "n") and bh.load(tmp_path / "n").card == {"note": "hello"}, "the card goes along"


def test_labels_of_any_text_groups_start_and_end_come_back(tmp_path: Path) -> None:
    labels = ["a b", 'say "hi"', "två\nrader", "終", "<s>"]
    vocabulary = bh.Vocabulary(labels, start="<s>", end="終", groups={"g": ["a b", "終"]})
    model = bh.Markov.from_table([0.2] * 5, vocabulary)
    bh.save(model, tmp_path / "m")
    assert bh.load(tmp_path / "m").vocabulary == vocabulary
    assert bh.load(tmp_path / "m").vocabulary.groups == {"g": ("a b", "終")}


def test_a_save_replaces_what_was_there_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for seed in range(3):
        bh.save(random_lstm(4, seed=seed), tmp_path / "m")
    assert len(list((tmp_path / "m").iterdir())) == 2
    assert torch.equal(bh.load(tmp_path / "m").start([[0]]).log_probs, random_lstm(4, seed=2).start([[0]]).log_probs)


def test_what_is_not_a_model_is_neither_loaded_nor_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(StorageError, match="is not a model of beforehand; nothing was written"):
        bh.save(random_lstm(4), tmp_path / "thesis")
    for path, said in ((tmp_path / "thesis", "no model.json"), (tmp_path / "nowhere", "there is nothing")):
        with pytest.raises(StorageError, match=said):
            bh.load(path)
    with pytest.raises(StorageError, match="cannot be saved"):
        bh.save(bh.models.Function(lambda pasts: [[0.5, 0.5] for _ in pasts], letters(2)), tmp_path / "f")


def test_damage_and_the_future_are_named(tmp_path: Path) -> None:
    folder = bh.save(random_lstm(4), tmp_path / "m")
    manifest, numbers = folder / "model.json", next(folder.glob("*.safetensors"))
    whole, text = numbers.read_bytes(), manifest.read_text()
    numbers.write_bytes(whole[:-9] + b"\7" * 9)
    with pytest.raises(StorageError, match="damaged: its checksum"):
        bh.load(folder)
    numbers.unlink()
    with pytest.raises(StorageError, match="missing"):
        bh.load(folder)
    numbers.write_bytes(whole)
    said = json.loads(text)
    for change, match in (
        ({"version": 99}, "version 99"),
        ({"format": "other"}, "does not describe"),
        ({"model": {"kind": "oracle"}}, "kind that this version does not know"),
        ({"model": {}}, "damaged"),
        ({"vocabulary": {"labels": ["a"], "start": None, "end": None, "groups": {}}}, "damaged"),
    ):
        manifest.write_text(json.dumps(said | change))
        with pytest.raises(StorageError, match=match):
            bh.load(folder)
    manifest.write_text(text[: len(text) // 2])
    with pytest.raises(StorageError, match="cannot be read"):
        bh.load(folder)


def test_a_full_disk_leaves_the_model_that_was_there(tmp_path: Path) -> None:
    """The operating system refuses files of more than a few bytes, as a full disk would."""
    folder = bh.save(random_lstm(4), tmp_path / "m")
    program = f"""
import resource, signal, beforehand as bh
from beforehand.testing import random_lstm
model = random_lstm(4, seed=9)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    bh.save(model, {str(folder)!r})
except bh.errors.StorageError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "could not be written" in said and "as it was" in said
    assert torch.equal(bh.load(folder).start([[0]]).log_probs, random_lstm(4).start([[0]]).log_probs)
    assert not list(folder.glob(".*partial"))


def test_a_lookahead_of_another_model_is_refused() -> None:
    lookahead = bh.prepare(random_lstm(4), progress=False).lookahead
    with pytest.raises(ModelError, match="speaks of 4 events, the model of 5"):
        Prepared(random_lstm(5), lookahead)
    broken = dataclasses.replace(lookahead, probabilities=lookahead.probabilities * torch.nan)
    with pytest.raises(ModelError, match="not distributions"):
        Prepared(random_lstm(4), broken)
