"""Training learns what there is to learn, stops, goes on after a kill, and repeats itself."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import beforehand as bh
from beforehand import shop
from beforehand.errors import ModelError, StorageError
from beforehand.models import Settings
from beforehand.models.batches import NOTHING, batches, tensors, windows
from beforehand.testing import check_model, random_markov

QUICK: dict[str, Any] = {"hidden": 16, "epochs": 3, "batch_events": 512, "window": 16, "learning_rate": 0.02}


def a_log(users: int = 200, seed: int = 0) -> bh.EventLog:
    """Drawn from a Markov model, so that the least possible loss is known."""
    random, table = np.random.default_rng(seed), random_markov(4, order=1, seed=3).probabilities.numpy()
    sequences = []
    for _ in range(users):
        events = [int(random.integers(4))]
        for _ in range(int(random.integers(3, 60))):
            events.append(int(random.choice(4, p=table[events[-1]])))
        sequences.append(["abcd"[event] for event in events])
    return bh.EventLog.from_sequences(sequences)


@pytest.mark.parametrize(
    ("kind", "cell"), [("recurrent", "lstm"), ("recurrent", "gru"), ("transformer", "lstm"), ("markov", "lstm")]
)
def test_every_kind_learns_and_can_be_asked_saved_and_loaded(kind: Any, cell: Any, tmp_path: Path) -> None:
    settings = Settings(kind=kind, cell=cell, layers=2 if kind == "transformer" else 1, **QUICK | {"epochs": 12})
    log = a_log()
    model = bh.train(log, kind, settings=settings, progress=False)
    truth = random_markov(4, order=1, seed=3).probabilities
    least = float(-(truth * truth.log()).sum(1).mean())
    assert model.card["best"]["loss"] < least + 0.12, f"the least possible is about {least:.3f}"
    assert model.card["data"]["events"] == log.events and model.card["settings"]["kind"] == kind
    check_model(model)
    bh.save(model, tmp_path / "m")
    again = bh.load(tmp_path / "m")
    asked = ("P(a within 6)", ["b"])
    assert bh.ask(again, *asked).value == pytest.approx(bh.ask(model, *asked).value, rel=1e-12) and again.card == model.card


def test_the_same_seed_gives_the_same_model() -> None:
    log, settings = a_log(80), Settings(**QUICK, dropout=0.3)
    one, same, other = (
        bh.train(log, settings=settings, seed=seed, progress=False, lookahead=False).start([[0, 1]]).log_probs for seed in (5, 5, 6)
    )
    assert torch.equal(one, same) and not torch.equal(one, other)


KILLED = """
import beforehand as bh, sys, torch
torch.set_num_threads(1)
from tests.models.test_training import a_log, QUICK
from beforehand.models import Settings, train as _
import beforehand.models.train as training
training.SECONDS_BETWEEN = 0.0
settings = Settings(**QUICK | {"epochs": 40, "patience": 40})
bh.train(a_log(120), settings=settings, checkpoint=sys.argv[1], progress=False, lookahead=False)
"""


def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    log, settings = a_log(120), Settings(**QUICK | {"epochs": 40, "patience": 40})
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], cwd=Path(__file__).parent.parent.parent)
    while not (folder / "training.safetensors").exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.4)
    process.kill()
    process.wait()
    resumed = bh.train(log, settings=settings, checkpoint=folder, progress=False, lookahead=False)
    straight = bh.train(log, settings=settings, progress=False, lookahead=False)
    assert torch.equal(resumed.start([[0, 1]]).log_probs, straight.start([[0, 1]]).log_probs)
    assert [each["loss"] for each in resumed.card["losses"]] == [each["loss"] for each in straight.card["losses"]]
    with pytest.raises(StorageError, match=r"of another log or of other settings \(data\)"):
        bh.train(a_log(60), settings=settings, checkpoint=folder, progress=False)
    (folder / "training.safetensors").write_bytes(b"half")
    with pytest.raises(StorageError, match="damaged"):
        bh.train(log, settings=settings, checkpoint=folder, progress=False)


FULL = """
import resource, signal, sys, torch
torch.set_num_threads(1)
import beforehand as bh
from tests.models.test_training import a_log, QUICK
from beforehand.models import Settings
import beforehand.models.checkpoints as checkpoints
write = checkpoints.write
def full_after_one(*everything):
    write(*everything)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
checkpoints.write = full_after_one
try:
    bh.train(a_log(120), settings=Settings(**QUICK), checkpoint=sys.argv[1], progress=False, lookahead=False)
except bh.errors.StorageError as error:
    print(error)
"""


def test_a_full_disk_is_a_sentence_and_the_run_goes_on_later(tmp_path: Path) -> None:
    """The operating system refuses large files, as a full disk would, after the first pass."""
    folder, root = tmp_path / "run", Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", FULL, str(folder)], cwd=root, capture_output=True, text=True, check=True)
    assert "could not be kept" in done.stdout and "make room" in done.stdout
    assert [each.name for each in folder.iterdir()] == ["training.safetensors"]
    settings = Settings(**QUICK)
    resumed = bh.train(a_log(120), settings=settings, checkpoint=folder, progress=False, lookahead=False)
    straight = bh.train(a_log(120), settings=settings, progress=False, lookahead=False)
    assert torch.equal(resumed.start([[0, 1]]).log_probs, straight.start([[0, 1]]).log_probs)


def test_a_user_of_ten_thousand_events_is_learned_and_asked() -> None:
    random = np.random.default_rng(5)
    log = bh.EventLog.from_sequences([list(random.choice(list("abcd"), 10_000)), *[["a", "b", "c"]] * 9])
    for kind in ("recurrent", "transformer"):
        model = bh.train(log, kind, settings=Settings(**QUICK | {"kind": kind}), progress=False)
        answer = bh.ask(model, "P(a within 3)", log[0])
        assert 0.2 < answer.value < 0.9, kind


def test_every_event_is_predicted_once_a_pass() -> None:
    log = a_log(50)
    of = windows(log, 16)
    for seed in (None, 1):
        seen = np.zeros(len(of.ids), dtype=int)
        for chosen in batches(of, 200, seed):
            ids, targets = tensors(of, chosen)
            assert ids.shape == targets.shape and ids.numel() <= 400
            there = targets != NOTHING
            assert int(there.sum()) == int(of.lengths[chosen].sum())
            for number in chosen:
                seen[of.begins[number] + 1 : of.begins[number] + 1 + of.lengths[number]] += 1
        assert (seen[of.ids != log.vocabulary.start_id] == 1).all() and (seen[of.ids == log.vocabulary.start_id] == 0).all()


def test_bad_wishes_are_refused() -> None:
    log = a_log(20)
    for wrong, said in (
        ({"kind": "oracle"}, "a model is one of"),
        ({"settings": "best"}, "settings are 'paper'"),
        ({"epochs": 0}, "epochs is a whole number"),
    ):
        with pytest.raises(ModelError, match=said):
            bh.train(log, **wrong)
    with pytest.raises(ModelError, match="takes an event log"):
        bh.train([["a", "b"]])  # type: ignore[arg-type]
    for few in ([["a", "b", "a"]], [["a"]]):
        with pytest.raises(ModelError, match="too little to learn from"):
            bh.train(bh.EventLog.from_sequences(few))
    with pytest.raises(ModelError, match="lower learning_rate"):
        bh.train(log, settings=Settings(**QUICK | {"learning_rate": 1e38, "epochs": 30, "patience": 30}), progress=False)


def test_one_kind_of_event_can_be_learned() -> None:
    model = bh.train(bh.EventLog.from_sequences([["a"] * 9] * 12), settings=Settings(**QUICK), progress=False)
    assert bh.ask(model, "P(a within 3)", ["a"]).value > 0.9


def test_the_shop_repeats_itself_and_has_rare_events() -> None:
    one, same = shop.events(50, seed=2), shop.events(50, seed=2)
    assert one.equals(same) and not one.equals(shop.events(50, seed=3))
    log = bh.read_events(shop.events(400), quiet=True)
    shares = np.bincount(log.ids) / log.events
    assert 0.0005 < shares[log.vocabulary.id("refund")] < 0.05 and all(log.labels(i)[-1] == "left" for i in range(len(log)))
