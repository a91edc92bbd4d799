"""beforehand import: the paper's released checkpoints, or any LSTM, GRU or RNN of torch, become a model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from beforehand.cli import options as o

NAME = "import"
EXAMPLE = "Example:  beforehand import moocs.pt moocs.vocabulary.json moocs.model --log events.csv.gz"


def command(
    weights: Annotated[Path, typer.Argument(help="Weights as torch or safetensors wrote them.", show_default=False)],
    vocabulary: Annotated[Path, typer.Argument(help='JSON: {"labels": […], "start": …, "end": …}.', show_default=False)],
    model: Annotated[Path, typer.Argument(help="Where to write the model, a folder.", show_default=False)],
    log: Annotated[Optional[str], typer.Option(help="Sequences to learn the lookahead from; else its own futures.")] = None,  # noqa: UP045
    user: o.User = None,
    time: o.Time = None,
    event: o.Event = None,
    quiet: o.Quiet = False,
) -> None:
    """Make a model of weights from elsewhere. Only numbers are read from them, nothing is run."""
    import json

    from beforehand.errors import StorageError
    from beforehand.events import Vocabulary
    from beforehand.models import Recurrent, prepare, save

    try:
        words = json.loads(vocabulary.read_text())
        known = Vocabulary(words["labels"], start=words.get("start"), end=words.get("end"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"the vocabulary in {vocabulary} cannot be read: {error}") from None
    made = Recurrent.from_state_dict(_weights(weights), known)
    sequences = None if log is None else o.read(log, user, time, event, None, quiet, vocabulary=known)
    few = None if sequences is None else sequences[:4_000]
    prepared = prepare(made, few, progress=not quiet)
    save(prepared, model, card={"data": {"source": str(weights), "users": 0, "events": 0, "fingerprint": ""}})
    typer.echo(f"{model}: {len(known)} events, ready to be asked")


def _weights(path: Path) -> dict[str, Any]:
    import pickle

    import safetensors
    import safetensors.torch
    import torch

    from beforehand.errors import StorageError

    try:
        if path.suffix == ".safetensors":
            return dict(safetensors.torch.load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, pickle.UnpicklingError, RuntimeError, ValueError, EOFError, safetensors.SafetensorError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise StorageError(f"the weights in {path} cannot be read as numbers alone: {first}") from None
    return dict(found)
