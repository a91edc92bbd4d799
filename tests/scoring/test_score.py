"""Scoring: whatever the number of workers, however often it is stopped, the same answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import beforehand as bh
from beforehand import shop
from beforehand.errors import EventsError, StorageError

QUESTIONS = ["P(purchase within 4)", "when(cart) within 3"]


@pytest.fixture(scope="module")
def log() -> bh.EventLog:
    return bh.read_events(shop.events(700, seed=3).filter(pl.col("event") != "left"), quiet=True)


@pytest.fixture(scope="module")
def model(log: bh.EventLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "shop.model"
    bh.save(bh.train(log, "markov", progress=False), path)
    return path


def in_memory(model: Path, log: bh.EventLog) -> pl.DataFrame:
    table = bh.score(bh.load(model), log, QUESTIONS, progress=False)
    assert isinstance(table, pl.DataFrame)
    return table


def test_workers_make_no_difference_to_a_byte(model: Path, log: bh.EventLog, tmp_path: Path) -> None:
    files = [
        bh.score(model, log, QUESTIONS, out=tmp_path / f"{workers}.parquet", workers=workers, progress=False) for workers in (1, 2)
    ]
    one, two = (Path(str(each)).read_bytes() for each in files)
    assert one == two
    table = pl.read_parquet(tmp_path / "1.parquet")
    assert table.height == 700 * 4 and table["user"].n_unique() == 700
    assert table.equals(in_memory(model, log))


def test_a_full_disk_is_a_sentence_and_what_is_finished_is_kept(model: Path, log: bh.EventLog, tmp_path: Path) -> None:
    """The operating system refuses large files, as a full disk would, after the first part."""
    source, out = tmp_path / "log.parquet", tmp_path / "answers.parquet"
    shop.events(700, seed=3).filter(pl.col("event") != "left").write_parquet(source)
    program = f"""
import resource, signal, beforehand as bh, beforehand.scoring.local as local
answered = local._answered
def full_after_one(task, asked):
    done = answered(task, asked)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    return done
local._answered = full_after_one
log = bh.read_events({str(source)!r}, quiet=True)
try:
    bh.score({str(model)!r}, log, {QUESTIONS!r}, out={str(out)!r}, workers=1, progress=False)
except bh.errors.StorageError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "could not be written" in said and "what is finished is kept" in said
    assert [each.name for each in Path(f"{out}.parts").glob("*.p*")] == ["000000.parquet"], "and nothing that is half written"
    done = bh.score(model, log, QUESTIONS, out=out, progress=False)
    assert pl.read_parquet(str(done)).equals(in_memory(model, log))


def test_what_cannot_be_scored_is_said(model: Path, log: bh.EventLog, tmp_path: Path) -> None:
    other = bh.EventLog.from_sequences([["a", "b"]])
    with pytest.raises(EventsError, match="different vocabularies"):
        bh.score(model, other, QUESTIONS, progress=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        bh.score(model, log, QUESTIONS, out=tmp_path / "file" / "answers.parquet", progress=False)
