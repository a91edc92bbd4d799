"""A training run on disk: everything that is needed to go on as if nothing had happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from beforehand.errors import StorageError
from beforehand.models.storage import replace

FILE = "training.safetensors"


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    running: float = 0.0
    seen: int = 0
    losses: list[dict[str, float]] = field(default_factory=list)
    best: int = -1
    seconds: float = 0.0


def write(folder: Path, about: dict[str, Any], progress: Progress, network: Any, best: dict[str, Tensor], optimizer: Any) -> None:
    """One file, replaced in one step."""
    tensors = {f"network.{name}": each for name, each in network.state_dict().items()}
    tensors |= {f"best.{name}": each for name, each in best.items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": each for name, each in state.items()}
    words = {"about": json.dumps(about, sort_keys=True), "progress": json.dumps(progress.__dict__)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / FILE, safetensors.torch.save({name: each.cpu().contiguous() for name, each in tensors.items()}, words))
    except OSError as error:
        raise StorageError(
            f"the training run could not be kept in {folder}: {error.strerror or error}; "
            "make room and start it again: it goes on from what was kept before"
        ) from None


def resume(folder: Path, about: dict[str, Any], network: Any, optimizer: Any) -> tuple[Progress, dict[str, Tensor]] | None:
    """Puts a run back to where it was; None if there is none."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, "pt") as file:
            words = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        known, progress = json.loads(words["about"]), Progress(**json.loads(words["progress"]))
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"the training run in {folder} is damaged ({error}); delete the folder to begin anew") from None
    if known != about:
        off = [name for name in about if known.get(name) != about[name]]
        raise StorageError(
            f"the training run in {folder} is of another log or of other settings ({', '.join(off)}); "
            "delete the folder to begin anew, or name another"
        )
    network.load_state_dict(_under(tensors, "network."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, each in _under(tensors, "optimizer.").items():
        number, part = name.split(".", 1)
        state.setdefault(int(number), {})[part] = each
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, _under(tensors, "best.")


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}


def seed_everything(*numbers: int) -> None:
    """The random numbers of one step follow from these alone, so that a resumed run draws what it would have drawn."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 1_000_003 + number + 1) % 2**63
    torch.manual_seed(mixed)
