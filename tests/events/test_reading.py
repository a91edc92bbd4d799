"""Logs in every form become the same sequences, and what is wrong with them is told."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import beforehand as bh
from beforehand.errors import EventsError
from tests.shared import SHARED

ROWS = [
    ("ann", "2024-05-01 10:00:00", "view"),
    ("bob", "2024-05-01 10:00:01", "view"),
    ("ann", "2024-05-01 10:02:00", 'buy "now"'),
    ("ann", "2024-05-01 10:01:00", "add to\ncart"),
    ("bob", "2024-05-01 10:05:00", "view"),
]
WANTED = {"ann": ["view", "add to\ncart", 'buy "now"'], "bob": ["view", "view"]}
MANY = b"user,event\n" + b"".join(b"%d,b\n" % i**3 for i in range(9_000))
TABLE = pl.DataFrame(ROWS, schema=["user_id", "timestamp", "event"], orient="row")


def sequences(log: bh.EventLog) -> dict[str, list[str]]:
    return {str(user): log.labels(i) for i, user in enumerate(log.users)}


def written(kind: str, folder: Path) -> Any:
    """The table in one of the forms."""
    path = folder / f"log.{kind}"
    if kind in ("csv", "tsv"):
        TABLE.write_csv(path, separator="," if kind == "csv" else "\t")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(TABLE.write_csv().encode()))
    elif kind == "jsonl":
        TABLE.write_ndjson(path)
    elif kind == "parquet":
        TABLE.write_parquet(path)
    elif kind == "folder":
        (folder / "part").mkdir()
        TABLE[:2].write_parquet(folder / "part" / "1.parquet")
        TABLE[2:].write_csv(folder / "2.csv")
        return folder
    elif kind == "duckdb":
        import duckdb

        with duckdb.connect(str(path)) as database:
            database.register("given", TABLE.to_arrow())
            database.execute("create table log as select * from given")
    return path


FORMS: dict[str, Callable[[Path], Any]] = {
    kind: lambda folder, kind=kind: written(kind, folder)
    for kind in ("csv", "tsv", "csv.gz", "jsonl", "parquet", "folder", "duckdb")
} | {
    "polars": lambda folder: TABLE,
    "lazy polars": lambda folder: TABLE.lazy(),
    "pandas": lambda folder: pd.DataFrame(ROWS, columns=["user_id", "timestamp", "event"]),
    "pandas with times": lambda folder: pd.DataFrame(ROWS, columns=["user_id", "timestamp", "event"]).assign(
        timestamp=lambda frame: pd.to_datetime(frame["timestamp"])
    ),
    "arrow": lambda folder: TABLE.to_arrow(),
    "lists": lambda folder: WANTED,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_sequences(form: str, tmp_path: Path) -> None:
    log = bh.read_events(FORMS[form](tmp_path), quiet=True)
    assert sequences(log) == WANTED
    assert log.vocabulary.labels == ("view", "add to\ncart", 'buy "now"', "<start>") and log.vocabulary.start == "<start>"
    assert log.ids.dtype == np.uint16 and len(log) == 2 and log.events == 5


def test_xes(tmp_path: Path) -> None:
    traces = "".join(
        f'<trace><string key="concept:name" value="{case}"/>'
        + "".join(
            f'<event><string key="concept:name" value="{name}"/>'
            f'<date key="time:timestamp" value="2024-01-01T0{hour}:00:00+0{zone}:00"/></event>'
            for name, hour, zone in events
        )
        + "</trace>"
        for case, events in {"c1": [("b", 4, 1), ("a", 4, 2)], "c2": [("a", 1, 0)]}.items()
    )
    text = f'<log xmlns="http://www.xes-standard.org/"><string key="concept:name" value="L"/>{traces}</log>'
    (tmp_path / "log.xes").write_text(text)
    (tmp_path / "log.xes.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("log.xes", "log.xes.gz"):
        log = bh.read_events(tmp_path / name, quiet=True)
        assert sequences(log) == {"c1": ["a", "b"], "c2": ["a"]}, "in the order of time, whatever the zone"
        assert "several zones" in str(log.report)
    (tmp_path / "half.xes").write_text(text[: len(text) // 2])
    with pytest.raises(EventsError, match="not whole"):
        bh.read_events(tmp_path / "half.xes")


def test_a_sequence_a_line(tmp_path: Path) -> None:
    (tmp_path / "visits.seq").write_text("% visits\n\nhome news\n\n1 2 2\n2 \n")
    with zipfile.ZipFile(tmp_path / "visits.zip", "w") as archive:
        archive.write(tmp_path / "visits.seq", "visits.seq")
    for name in ("visits.seq", "visits.zip"):
        assert [bh.read_events(tmp_path / name, quiet=True).labels(i) for i in (0, 1)] == [["home", "news", "news"], ["news"]]


def test_columns_are_found_said_and_overridden(capsys: pytest.CaptureFixture[str]) -> None:
    frame = TABLE.rename({"event": "Activity Name", "user_id": "Patient-ID", "timestamp": "Event Time"}).with_columns(
        code=pl.lit("x")
    )
    log = bh.read_events(frame, event="Activity Name")
    said = capsys.readouterr().err
    assert sequences(log) == WANTED and "user = 'Patient-ID', time = 'Event Time'" in said and "sorted by user and time" in said
    joined = bh.read_events(frame, event=["code", "Activity Name"], quiet=True)
    assert joined.labels(1) == ["x view", "x view"]
    with pytest.raises(EventsError, match=r"no column 'evnet' for the event; did you mean 'event'"):
        bh.read_events(TABLE, event="evnet")
    with pytest.raises(EventsError, match=r"which column is the user\? None of 'a', 'b'"):
        bh.read_events(pl.DataFrame({"a": ["x"], "b": ["y"]}))


def test_what_is_dropped_is_counted() -> None:
    frame = pl.DataFrame(
        [
            ("ann", "2024-05-01T10:00:00Z", "view"),
            ("ann", "2024-05-01T10:00:00+00:00", "cart"),
            ("ann", "2024-05-01 09:00", "start"),
            ("ann", "yesterday", "lost"),
            ("ann", "", "lost"),
            ("ann", None, "lost"),
            (None, "2024-05-01", "lost"),
            ("ann", "2024-05-02", " "),
            ("ann", "2024-05-03", "view"),
            ("ann", "2024-05-03", "view"),
            ("ann", "1714730000", "later"),
        ],
        schema=["user", "time", "event"],
        orient="row",
    )
    log = bh.read_events(frame, quiet=True)
    assert log.labels(0) == ["start", "view", "cart", "view", "view", "later"]
    told = str(log.report)
    for line in (
        "11 rows, 6 kept",
        "dropped 2: no time",
        "dropped 1: a time that cannot be understood",
        "dropped 1: no user",
        "dropped 1: no event",
        "2 events have the same time",
        "2 rows share user, time and event",
        "have no time zone though others do",
    ):
        assert line in told, told
    assert bh.read_events(frame, duplicates="drop", quiet=True).labels(0).count("view") == 2


def test_rare_events_are_folded_groups_kept_and_ends_added(tmp_path: Path) -> None:
    lists = [["view", "cart", "buy"], ["view", "view", "fax"], ["view"]]
    frame = pl.DataFrame([(str(i), e) for i, events in enumerate(lists) for e in events], schema=["user", "event"], orient="row")
    (tmp_path / "groups.json").write_text(json.dumps({"money": ["cart", "buy", "gift"]}))
    log = bh.read_events(frame, complete=True, groups=tmp_path / "groups.json", quiet=True)
    assert log.labels(0) == ["view", "cart", "buy", "end"] and log.vocabulary.end == "end" and log.events == 10
    assert log.vocabulary.groups == {"money": ("cart", "buy")} and "'gift' did not happen" in str(log.report)
    model = bh.Markov.fit(log, log.vocabulary, order=1)
    assert 0 < bh.ask(model, "P(money within 3)", ["view"]).value < 1
    folded = bh.read_events(frame, min_count=2, quiet=True)
    assert folded.labels(0) == ["view", "other", "other"] and "3 kinds of events seen less than 2 times" in str(folded.report)


def test_splits_are_of_users_or_of_time() -> None:
    log = bh.EventLog.from_sequences({f"u{i}": ["a"] * (i % 5 + 1) for i in range(500)})
    rest, apart = log.split(0.2, seed=1)
    assert len(rest) + len(apart) == 500 and 60 < len(apart) < 140 and not set(rest.users) & set(apart.users)
    assert log.take([3, 1]).lengths.tolist() == [4, 2]
    again = log.take(np.random.default_rng(0).permutation(500)).split(0.2, seed=1)[1]
    assert set(again.users) == set(apart.users), "who is where does not depend on the order"
    timed = bh.read_events(TABLE, quiet=True)
    assert timed.times is not None
    before, after = timed.split_at(float(np.median(timed.times)))
    assert before.events + after.events == 5 and before.times is not None and after.times is not None
    assert before.times.max() < after.times.min()
    with pytest.raises(EventsError, match="no times"):
        log.split_at(3)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"user,event\n", "no events that can be used"),
        ("half.parquet", b"PAR1 and then nothing", "cut off or of another format"),
        (
            "half.csv.gz",
            gzip.compress(MANY)[:-20_000],
            "cut off or of another format",
        ),
        ("broken.jsonl", b'{"user": 1, "event": "a"}\n{"user": 2, "ev', "cut off or of another format"),
        ("letter.docx", b"dear", "of no form that is known"),
    ],
)
def test_bad_files_are_explained(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EventsError, match=said):
        bh.read_events(tmp_path / name, quiet=True)


def test_other_bad_sources() -> None:
    for source, said in (
        ("nowhere/log.csv", "there is no file"),
        ("mysql://host/shop", "databases are read from"),
        ("postgresql://host/shop", "needs a query"),
        (7, "got int"),
    ):
        with pytest.raises(EventsError, match=said):
            bh.read_events(source, quiet=True)
    with pytest.raises(EventsError, match="min_count"):
        bh.read_events(TABLE, min_count=0)


def test_a_model_s_vocabulary_is_kept_to() -> None:
    vocabulary = bh.Vocabulary(["x", 'buy "now"', "add to\ncart", "view"])
    log = bh.read_events(TABLE, vocabulary=vocabulary, quiet=True)
    assert log.vocabulary is vocabulary and sequences(log) == WANTED
    with pytest.raises(EventsError, match=r"the model has never seen 'add to\\ncart', 'buy \"now\"' \(2 of 5 events\)"):
        bh.read_events(TABLE, vocabulary=bh.Vocabulary(["view"]), quiet=True)


@pytest.mark.skipif(not (SHARED / "data").exists(), reason="../shared, with real logs, is not here")
@pytest.mark.parametrize(
    ("path", "users", "events"),
    [
        ("helpdesk/helpdesk.xes.gz", 4_580, 21_348),
        ("bpic2012/bpic2012.xes.gz", 13_087, 262_200),
        ("mimic_demo/mimic_iv_demo_meds_events.parquet", 100, 916_066),
        ("moocs/events.csv.gz", 7_047, 411_749),
        ("msnbc/msnbc990928.zip", 989_818, 4_698_794),
        ("amazon/amazon_dev.csv", 300, 14_317),
    ],
)
def test_real_logs(path: str, users: int, events: int) -> None:
    log = bh.read_events(SHARED / "data" / path, quiet=True)
    assert (len(log), log.events) == (users, events)
    assert (log.offsets[-1], len(log.ids)) == (events, events)
