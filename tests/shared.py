"""Real data and checkpoints, where they are at hand: the folder ../shared beside the project."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import torch

import beforehand as bh

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"

needs_shared = pytest.mark.skipif(
    not (SHARED / "checkpoints").exists(), reason="../shared, with the released checkpoints, is not here"
)


def checkpoint(name: str) -> bh.Recurrent:
    """One of the paper's released models."""
    words = json.loads((SHARED / "checkpoints" / f"{name}.vocabulary.json").read_text())
    weights = torch.load(SHARED / "checkpoints" / f"{name}.pt", map_location="cpu", weights_only=True)
    return bh.Recurrent.from_state_dict(weights, bh.Vocabulary(words["labels"], start=words["start"]))


def reference(name: str) -> list[dict[str, Any]]:
    """The authors' own code's answers."""
    rows: list[dict[str, Any]] = json.loads((SHARED / "reference" / f"authors_{name}.json").read_text())
    return rows


def sequences(name: str, count: int, length: int) -> list[list[str]]:
    """Real sequences: of the course data those with at least 15 events, of Shakespeare pieces of text."""
    if name == "shakespeare":
        text = (SHARED / "data" / "shakespeare" / "shakespeare.txt").read_text()
        return [list(text[i : i + length]) for i in range(0, count * length, length)]
    users: dict[int, list[str]] = {}
    with gzip.open(SHARED / "data" / "moocs" / "events.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            users.setdefault(int(row["user_id"]), []).append(row["item_id"])
    return [events[:length] for events in users.values() if len(events) >= 15][:count]
