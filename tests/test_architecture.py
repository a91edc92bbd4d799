"""The house: one-way imports, a sorted public face, rooms that say what they are for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import beforehand

SOURCE = Path(beforehand.__file__).parent

# Left to right as in ARCHITECTURE.md: a room may import from its left alone.
LEFT_OF: dict[str, set[str]] = {
    "errors": set(),
    "events": {"errors"},
    "models": {"errors", "events"},
    "queries": {"errors", "events"},
    "estimators": {"errors", "events", "models", "queries"},
    "answers": {"errors", "events", "models", "queries", "estimators"},
    "backtesting": {"errors", "events", "models", "queries", "estimators", "answers"},
    "scoring": {"errors", "events", "models", "queries", "estimators", "answers"},
    "shop": {"events"},
    "report": set(),
    "__main__": {"cli"},
    "cli": {"errors", "events", "models", "queries", "estimators", "answers", "backtesting", "scoring", "demo", "shop", ""},
    "methods": {"estimators"},
    "testing": {"errors", "events", "models", "queries", "estimators"},
    "demo": {"errors", "events", "models", "queries", "estimators", "answers", "backtesting", "report", "shop", ""},
}


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        for name in names:
            if name.split(".")[0] == "beforehand":
                rooms.add(([*name.split("."), ""])[1])
    return rooms


def test_imports_go_one_way() -> None:
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        assert room in LEFT_OF, f"{path.name}: say in this test where the room {room!r} stands"
        assert imported_rooms(path) <= LEFT_OF[room] | {room}, f"{path.relative_to(SOURCE)} imports from its right"


def test_every_room_says_what_it_is_for() -> None:
    for path in SOURCE.rglob("__init__.py"):
        first = ast.get_docstring(ast.parse(path.read_text()))
        assert first, f"{path.relative_to(SOURCE)} has no docstring"
        assert path.parent == SOURCE or ("In:" in first and "Out:" in first), (
            f"{path.relative_to(SOURCE)}: what comes in, what goes out?"
        )


def test_the_public_face_is_sorted_and_complete() -> None:
    names = beforehand.__all__
    assert names == sorted(names) and set(names) == {*beforehand._HOME, *beforehand._ROOMS}
    for name in names:
        assert getattr(beforehand, name) is not None
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(names) <= typed, "what is imported late must be known to type checkers too"


def test_torch_is_imported_only_when_it_is_needed() -> None:
    program = "import sys, beforehand.cli; print('torch' in sys.modules, 'polars' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False"]


def test_files_stay_small() -> None:
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 350, f"{path.relative_to(SOURCE)} has outgrown its room"
