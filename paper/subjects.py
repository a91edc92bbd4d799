"""Who is asked: a model, and pasts of real sequences with what really came after them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

import beforehand as bh
from paper.data import SOURCES, sampled, sequences

PAST = 5
SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
MODELS = Path(__file__).resolve().parent / "models"
# Of a stand-in, a model is trained here, of a size that two cores manage.
MOST_USERS = 20_000


@dataclass(frozen=True)
class Subject:
    """A model, prepared, and sequences; `label` says what was used in whose place."""

    name: str
    label: str
    model: Any
    texts: list[list[int]]

    def past(self, number: int) -> Any:
        """The first events of a sequence."""
        return torch.tensor(self.texts[number][:PAST])

    def event(self, number: int, steps: int) -> str:
        """What really came so many steps later."""
        return str(self.model.vocabulary.labels[self.texts[number][PAST + steps - 1]])


@lru_cache(maxsize=4)
def subject(name: str, count: int, length: int, data: Path) -> Subject:
    """The released model where there is one, or one that is trained once and kept."""
    released = SHARED / "checkpoints" / f"{name}.pt"
    model = _released(name, data) if released.exists() else _trained(name, data)
    texts = [model.vocabulary.ids(text) for text in sampled(name, data, count, PAST + length)]
    whose = SOURCES[name].stands_for
    how = "released weights" if released.exists() else "trained here"
    return Subject(name, f"{name} ({how}{f', in the place of {whose}' if whose else ''})", model, texts)


def _released(name: str, data: Path) -> Any:
    kept = MODELS / name
    if (kept / "model.json").exists():
        return bh.load(kept)
    words = json.loads((SHARED / "checkpoints" / f"{name}.vocabulary.json").read_text())
    weights = torch.load(SHARED / "checkpoints" / f"{name}.pt", map_location="cpu", weights_only=True)
    plain = bh.Recurrent.from_state_dict(weights, bh.Vocabulary(words["labels"], start=words["start"]))
    model = bh.prepare(plain, sequences(name, data)[::2])
    bh.save(model, kept)
    return model


def _trained(name: str, data: Path) -> Any:
    kept = MODELS / name
    if (kept / "model.json").exists():
        return bh.load(kept)
    log = bh.EventLog.from_sequences(sequences(name, data)[:MOST_USERS])
    model = bh.train(log, checkpoint=MODELS / f"{name}.training")
    bh.save(model, kept)
    return model
