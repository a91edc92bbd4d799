"""The committed results are those that the commands make; loaders read the public files' forms; runs go on where they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from paper.__main__ import RESULTS, STUDIES
from paper.data import SOURCES, sampled, sequences
from paper.page import built, markdown
from paper.study import SMALL, Row, Size, Study, carry_out, fit, relative

from tests.shared import SHARED, needs_shared

SIZE = Size("small", ("moocs", "shakespeare", "amazon"), data=SHARED / "data", **SMALL)  # type: ignore[arg-type]


@needs_shared
@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("efficiency", {"subject": "moocs", "horizon": 6, "history": 3}),
        ("errors", {"subject": "moocs", "history": 2, "horizon": 3}),
        ("before", {"subject": "moocs", "history": 5}),
    ],
)
def test_the_committed_results_are_made_again(name: str, case: Row) -> None:
    file = RESULTS / "small" / f"{name}.parquet"
    kept = pl.read_parquet(file)
    for column, value in case.items():
        kept = kept.filter(pl.col(column) == value)
    made = STUDIES[name].run(case, SIZE)
    assert len(made) == len(kept) > 0
    for column in {"efficiency", "estimate", "open"} & set(kept.columns):
        assert [row[column] for row in made] == pytest.approx(kept[column].to_list(), rel=1e-3, abs=1e-6)


@needs_shared
def test_every_data_set_at_hand_is_read() -> None:
    for name, count, labels in (("moocs", 5_156, 97), ("amazon", 800, 16), ("taobao", 2_000, 17)):
        found = sequences(name, SHARED / "data")
        assert len(found) == count and len({event for events in found for event in events}) == labels
    assert len(sampled("moocs", SHARED / "data", 7, 12)) == 7


def test_files_of_the_public_forms(tmp_path: Path) -> None:
    (tmp_path / "lsapp").mkdir()
    lines = ["user_id\tsession_id\ttimestamp\tapp_name\tevent_type"]
    lines += [f"1\t9\t2018-01-01 00:00:{59 - i:02}\tapp {i % 3}\t{'Opened' if i % 2 else 'Closed'}" for i in range(40)]
    (tmp_path / "lsapp" / "lsapp.tsv").write_text("\n".join(lines) + "\n")
    (apps,) = sequences("apps", tmp_path)
    assert len(apps) == 20 and apps[0] == "app 0" and apps[-1] == "app 1", "opened ones, in the order of time"
    (tmp_path / "reviews").mkdir()
    for category in ("Books", "Software"):
        rows = [f"item{i},user{i % 2},5.0,{1_000 + i * (1 if category == 'Books' else 2)}" for i in range(20)]
        (tmp_path / "reviews" / f"{category}.csv").write_text("\n".join(rows) + "\n")
    found = sequences("reviews", tmp_path)
    assert [len(each) for each in found] == [20, 20] and set(found[0]) == {"Books", "Software"}
    with pytest.raises(SystemExit, match="which is not here"):
        sequences("moocs", tmp_path)
    assert all(source.stands_for in (None, "reviews", "apps") for source in SOURCES.values())


def test_fetching_puts_files_where_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a server on loopback, in the place of the public one."""
    import functools
    import gzip
    import http.server
    import threading

    from paper import data

    lines = "user_id\tsession_id\ttimestamp\tapp_name\tevent_type\n" + "".join(f"1\t1\t{i:02}\tmail\tOpened\n" for i in range(20))
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "lsapp.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "public")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/lsapp.tsv.gz"
        monkeypatch.setitem(data.SOURCES, "apps", replace(data.SOURCES["apps"], addresses=(address,)))
        data.fetch("apps", tmp_path / "data")
        server.shutdown()
    assert sequences("apps", tmp_path / "data") == [["mail"] * 20]
    with pytest.raises(SystemExit, match="no public address"):
        data.fetch("amazon", tmp_path)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    asked: list[int] = []

    def run(case: Row, size: Size) -> list[Row]:
        asked.append(case["number"])
        if case["number"] == 2 and len(asked) == 3:
            raise KeyboardInterrupt
        return [{"square": case["number"] ** 2}]

    import altair as alt

    study = Study(
        "squares",
        "Squares.",
        lambda size: [{"number": number} for number in range(4)],
        run,
        lambda rows: rows,
        lambda rows: alt.Chart(rows).mark_point().encode(x="number:Q", y="square:Q"),
    )
    size = replace(SIZE, data=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        carry_out(study, size, tmp_path)
    with (tmp_path / "small" / "squares.jsonl").open("a") as parts:
        parts.write('{"case": {"num')  # as a kill leaves it
    rows = carry_out(study, size, tmp_path)
    assert asked == [0, 1, 2, 2, 3] and rows["square"].to_list() == [0, 1, 4, 9]
    assert {file.suffix for file in (tmp_path / "small").iterdir()} == {".jsonl", ".parquet", ".csv", ".png", ".svg"}
    assert "| number | square |" in built({"squares": study}, tmp_path)


def test_small_sums() -> None:
    assert fit([0, 1, 2], [1, 3, 5]) == pytest.approx((2, 1))
    rows = pl.DataFrame({"estimate": [1.1], "truth": [1.0], "truth_error": [0.0], "low": [1.05], "high": [1.2]})
    assert relative(rows)["error"][0] == pytest.approx(0.1) and not relative(rows)["covered"][0]
    assert "… and 1 more rows" in markdown(pl.DataFrame({"a": [1.23456, 2.0]}), most=1) and "1.23" in markdown(
        pl.DataFrame({"a": [1.23456]})
    )


def test_the_page_is_what_its_command_makes() -> None:
    page = Path(__file__).resolve().parent.parent.parent / "paper" / "README.md"
    assert page.read_text() == built(STUDIES, RESULTS)
    assert json.loads((RESULTS / "gpt2.json").read_text())["table"]
