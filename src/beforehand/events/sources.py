"""Where tables come from: files and folders, data frames of any kind, databases. Out: a lazy table of what is needed."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl

from beforehand.errors import EventsError
from beforehand.events.xes import read_xes

TABLES = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
DUCKDB = (".duckdb", ".ddb")
LINES = (".seq",)
# The column that tells from which file of a folder a row is.
FILE = "\0file"
KNOWN = "CSV, TSV, JSON lines, Parquet, XES (these also gzipped, Parquet apart), DuckDB, a folder of them, or postgresql://…"


def is_lines(source: object) -> bool:
    """Is it a file of one sequence a line, alone or as the only one in a zip file?"""
    if not isinstance(source, str | Path) or "://" in str(source):
        return False
    path = Path(source)
    if path.suffix == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return all(name.endswith(LINES) for name in archive.namelist() if not name.startswith("__MACOSX"))
    return _ending(path) in LINES


def scan(source: Any, query: str | None) -> tuple[pl.LazyFrame, str]:
    """The table, and what to call it. Columns of text files are text."""
    if isinstance(source, str) and "://" in source:
        return _from_database(source, query).lazy(), source.split("://")[0] + " database"
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if _ending(path) in DUCKDB:
            return _from_duckdb(path, query).lazy(), str(path)
        if query is not None:
            raise EventsError("a query goes with a database; a file is read whole")
        return _from_path(path), str(path)
    return _from_frame(source), f"a {type(source).__module__.split('.')[0]} table"


@contextlib.contextmanager
def explained(name: str) -> Iterator[None]:
    """Troubles of a reader, in a sentence of our own."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise EventsError(f"{name} cannot be read, it may be cut off or of another format: {first}") from None


def _from_path(path: Path) -> pl.LazyFrame:
    if not path.exists():
        near = sorted(each.name for each in path.parent.glob("*"))[:5] if path.parent.is_dir() else []
        raise EventsError(f"there is no file {path}" + (f"; beside it are {', '.join(near)}" if near else ""))
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))
        known = [each for each in files if _ending(each) and _readable(each)]
        if not known:
            raise EventsError(f"there is nothing to read in the folder {path}; known are {KNOWN}")
        parts = [_from_file(each).with_columns(pl.lit(str(each.relative_to(path))).alias(FILE)) for each in known]
        return pl.concat(parts, how="diagonal_relaxed")
    return _from_file(path)


def _readable(path: Path) -> bool:
    ending = _ending(path)
    return ending in TABLES or ending in JSON_LINES or ending in (".parquet", ".pq", ".xes")


def _ending(path: Path) -> str:
    """The last ending that is not that of a compression."""
    endings = [each.lower() for each in path.suffixes if each.lower() not in (".gz", ".zip", ".zst")]
    return endings[-1] if endings else ""


def _from_file(path: Path) -> pl.LazyFrame:
    if path.stat().st_size == 0:
        raise EventsError(f"{path} is empty")
    ending = _ending(path)
    with explained(str(path)):
        if ending in TABLES:
            return pl.scan_csv(path, separator=TABLES[ending], infer_schema=False)
        if ending in JSON_LINES:
            return pl.scan_ndjson(path, infer_schema_length=None)
        if ending in (".parquet", ".pq"):
            return pl.scan_parquet(path)
        if ending == ".xes":
            return read_xes(path).lazy()
    raise EventsError(f"{path} is of no form that is known here; known are {KNOWN}")


def _from_frame(source: Any) -> pl.LazyFrame:
    try:
        frame: Any = nw.from_native(source)
    except TypeError:
        raise EventsError(f"events are read from a file, a data frame or a database; got {type(source).__name__}") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    made: pl.DataFrame = frame.to_polars()
    return made.lazy()


def _from_database(url: str, query: str | None) -> pl.DataFrame:
    if not url.startswith(("postgresql://", "postgres://")):
        raise EventsError(f"databases are read from postgresql://… or a .duckdb file; got {url.split('://')[0]}://…")
    if query is None:
        raise EventsError('a database needs a query: read_events("postgresql://…", query="select user_id, time, event from …")')
    try:
        return pl.read_database_uri(query, url, engine="adbc")
    except ImportError:
        raise EventsError(
            "PostgreSQL is read with the package adbc-driver-postgresql; pip install 'beforehand[postgresql]'"
        ) from None
    except Exception as error:  # the driver has errors of its own
        raise EventsError(f"the database did not answer the query: {next(iter(str(error).strip().splitlines()), '')}") from None


def _from_duckdb(path: Path, query: str | None) -> pl.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise EventsError("DuckDB files need the package duckdb: pip install 'beforehand[duckdb]'") from None
    if not path.exists():
        raise EventsError(f"there is no file {path}")
    try:
        with duckdb.connect(str(path), read_only=True) as database:
            if query is None:
                tables = [name for (name,) in database.execute("select table_name from information_schema.tables").fetchall()]
                if len(tables) != 1:
                    raise EventsError(f"{path} holds the tables {', '.join(tables)}; say which with query='select … from …'")
                query = f'select * from "{tables[0]}"'
            return pl.DataFrame(database.sql(query).to_arrow_table())
    except duckdb.Error as error:
        raise EventsError(f"{path} did not answer the query: {next(iter(str(error).strip().splitlines()), '')}") from None
