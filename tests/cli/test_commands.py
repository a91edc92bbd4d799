"""The commands as a user types them, on a small shop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import torch

import beforehand as bh
from beforehand import shop
from tests.shared import SHARED, needs_shared

PROGRAM = [sys.executable, "-m", "beforehand"]


def beforehand(*words: object, code: int = 0, stdin: str | None = None) -> str:
    """What a command prints; errors too."""
    done = subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, input=stdin)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log and a model trained on it."""
    folder = tmp_path_factory.mktemp("shop")
    shop.events(300).write_csv(folder / "log.csv")
    said = beforehand("train", folder / "log.csv", folder / "shop.model", "--epochs", 2, "--quiet")
    assert "accuracy" in said and not (folder / "shop.model.training").exists()
    return folder


def test_help_shows_an_example_of_every_command_and_is_quick() -> None:
    begun = time.perf_counter()
    said = beforehand("--help")
    assert time.perf_counter() - begun < 2, "wanted: half a second; allowed here, on a machine that is shared: two"
    for command in ("train", "ask", "score", "backtest", "inspect", "import", "demo"):
        assert command in said
        assert "Example" in beforehand(command, "--help")
    assert "Usage" in beforehand(code=2)


def test_ask(folder: Path) -> None:
    model = folder / "shop.model"
    said = beforehand("ask", model, "P(purchase within 20)", "visit", "search")
    assert "95%" in said and "sieve" in said and "model calls" in said
    found = json.loads(beforehand("ask", model, "when(purchase) within 5", "visit", "--json"))
    assert len(found["value"]) == 5 and found["labels"][0] == "1"
    plot = folder / "plot.svg"
    said = beforehand(
        "ask", model, "P(purchase within 20)", "--user", "v00003", "--log", folder / "log.csv", "--why", "--plot", plot
    )
    assert "the likeliest found" in said and plot.read_text().startswith("<svg")


def test_bad_questions_and_places_are_a_sentence(folder: Path) -> None:
    model = folder / "shop.model"
    assert "did you mean 'purchase'" in beforehand("ask", model, "P(purchse within 20)", code=1)
    assert "'buy'" in beforehand("ask", model, "next", "buy", code=1)
    assert "is not a model" in beforehand("ask", folder / "nothing", "next", code=1)
    assert "there is no file" in beforehand("train", folder / "nothing.csv", folder / "m", code=1)
    assert "--why shows futures" in beforehand("ask", model, "next", "--why", code=1)
    assert "name another folder" in " ".join(beforehand("train", folder / "log.csv", folder, code=2).replace("│", " ").split())
    (folder / "other.csv").write_text("user,event\nann,zebra\n")
    assert "never seen 'zebra'" in beforehand("score", model, folder / "other.csv", "next", code=1)


def test_inspect(folder: Path) -> None:
    assert "300 users" in beforehand("inspect", folder / "log.csv")
    said = beforehand("inspect", folder / "shop.model")
    assert "recurrent model of" in said and "held out: " in said
    assert json.loads(beforehand("inspect", folder / "shop.model", "--json"))["format"] == "beforehand model"


def test_backtest(folder: Path) -> None:
    arguments = (folder / "shop.model", folder / "log.csv", "P(cart within 5)", "--users", 30, "--quiet")
    assert "Brier" in beforehand("backtest", *arguments, "--keep", "--plot", folder / "calibration.html")
    assert "vega" in (folder / "calibration.html").read_text()
    assert "recalibrated" in beforehand("ask", folder / "shop.model", "P(cart within 5)", "visit", "--recalibrated")
    assert json.loads(beforehand("backtest", *arguments, "--json"))["questions"][0]["cases"] > 9


def test_score_streams_and_goes_on_after_a_kill(folder: Path) -> None:
    shop.events(4_000, seed=4).filter(pl.col("event") != "left").write_parquet(folder / "many.parquet")
    words = (
        "score",
        folder / "shop.model",
        folder / "many.parquet",
        "P(purchase within 8)",
        "when(cart) within 4",
        "--budget",
        100,
    )
    out = folder / "answers.parquet"
    command = [*PROGRAM, *map(str, words), "--out", str(out), "--quiet", "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = folder / "answers.parquet.parts"
    while process.poll() is None and len(list(parts.glob("*.parquet"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists() and len(list(parts.glob("*.parquet"))) >= 2, "the finished parts are kept"
    assert "another run" in beforehand(*words[:3], "next", "--out", out, "--quiet", code=1)
    beforehand(*words, "--out", out, "--quiet", "--workers", 2)
    table = pl.read_parquet(out)
    assert not parts.exists() and table["user"].n_unique() == 4_000 and table.height == 4_000 * 5
    torch.set_num_threads(1)
    log = bh.read_events(folder / "many.parquet", vocabulary=bh.load(folder / "shop.model").vocabulary, quiet=True)
    for place in (0, 17, 2_500):
        user = str(log.users[place])
        alone = bh.ask(bh.load(folder / "shop.model"), "P(purchase within 8)", log[place], budget=100)
        row = table.filter((pl.col("user") == user) & pl.col("label").is_null())
        assert row["value"][0] == pytest.approx(alone.value, rel=1e-3), "the same as asked alone, up to the model's rounding"


def test_training_that_is_interrupted_goes_on(folder: Path) -> None:
    words = [*PROGRAM, "train", str(folder / "log.csv"), str(folder / "other.model"), "--epochs", "60", "--quiet"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None and not (folder / "other.model.training" / "training.safetensors").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    if process.returncode != 0:
        assert process.returncode == 130 and "Traceback" not in said
        assert (folder / "other.model.training" / "training.safetensors").exists() and not (folder / "other.model").exists()
    assert "accuracy" in beforehand(*words[3:])
    assert (folder / "other.model" / "model.json").exists() and not (folder / "other.model.training").exists()


@needs_shared
def test_import_of_the_released_weights(tmp_path: Path) -> None:
    weights, words = SHARED / "checkpoints" / "moocs.pt", SHARED / "checkpoints" / "moocs.vocabulary.json"
    assert "98 events" in beforehand("import", weights, words, tmp_path / "m", "--quiet")
    assert "95%" in beforehand("ask", tmp_path / "m", 'P("30" within 10)', "1", "2", "--budget", 300)
    bad = tmp_path / "bad.pt"
    bad.write_bytes(b"cos\nsystem\n(S'touch /tmp/run-by-a-pickle'\ntR.")
    assert "cannot be read as numbers alone" in beforehand("import", bad, words, tmp_path / "n", "--quiet", code=1)
    assert not Path("/tmp/run-by-a-pickle").exists()


def test_the_demo_writes_a_report_that_needs_no_network(tmp_path: Path) -> None:
    said = beforehand("demo", "--out", tmp_path / "d", "--visitors", 300)
    report = (tmp_path / "d" / "report.html").read_text()
    assert ("the report:" in said and "better than" in said) or "no better" in said or "WORSE" in said
    assert "http://" not in report.split("<script")[0] and "src=" not in report.split("<script")[0]
