"""A real PostgreSQL server, started for the tests on loopback and stopped after them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import beforehand as bh
from beforehand.errors import EventsError

PROGRAMS = {
    name: shutil.which(name) or shutil.which(name, path="/usr/lib/postgresql/15/bin") for name in ("initdb", "postgres", "psql")
}
pytestmark = pytest.mark.skipif(None in PROGRAMS.values(), reason="PostgreSQL's initdb, postgres and psql are not installed")


def as_nobody_special(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command] if os.geteuid() == 0 else command


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="beforehand-postgresql-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"check": True, "capture_output": True, "cwd": "/"}
    made = [str(PROGRAMS["initdb"]), "-D", f"{folder}/data", "-U", "reader", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(as_nobody_special(made), **options)  # type: ignore[call-overload]
    run = [
        str(PROGRAMS["postgres"]),
        "-D",
        f"{folder}/data",
        "-p",
        str(port),
        "-k",
        str(folder),
        "-h",
        "127.0.0.1",
        "-c",
        "fsync=off",
    ]
    process = subprocess.Popen(as_nobody_special(run), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")
    url = f"postgresql://reader@127.0.0.1:{port}/postgres"
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if b"ready to accept" in line:
                break
        table = (
            "create table log (visitor bigint, happened timestamptz, what text);"
            "insert into log values (1, '2024-05-01 10:00+02', 'view'), (2, '2024-05-01 08:30+00', 'näh \"so\"'),"
            " (1, '2024-05-01 07:00+00', 'open'), (1, null, 'lost')"
        )
        subprocess.run([str(PROGRAMS["psql"]), url, "-c", table], **options)  # type: ignore[call-overload]
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def test_a_query_becomes_sequences(server: str) -> None:
    log = bh.read_events(server, query="select visitor as user_id, happened as time, what as event from log", quiet=True)
    assert sorted((str(user), log.labels(i)) for i, user in enumerate(log.users)) == [("1", ["open", "view"]), ("2", ['näh "so"'])]
    assert log.report.dropped == {"no time": 1}


def test_the_server_s_complaints_are_passed_on(server: str) -> None:
    with pytest.raises(EventsError, match="did not answer"):
        bh.read_events(server, query="select * from nothing_of_that_name", quiet=True)
    with pytest.raises(EventsError, match="did not answer"):
        bh.read_events("postgresql://reader@127.0.0.1:1/postgres", query="select 1", quiet=True)
