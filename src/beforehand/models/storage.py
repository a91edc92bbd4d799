"""Models in folders: `model.json` says what the model is, one safetensors file beside it holds its numbers.

The file of numbers is named after what it holds, and `model.json` names it; replacing `model.json` is the last step and the only
one that matters, so a save that is cut off leaves the model that was there. Nothing in a folder is ever run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from beforehand.errors import BeforehandError, StorageError
from beforehand.events import Vocabulary
from beforehand.models.language import is_language_model
from beforehand.models.markov import Markov
from beforehand.models.protocol import Model
from beforehand.models.recurrent import Recurrent
from beforehand.models.surrogate import Prepared, Surrogate
from beforehand.models.tempered import Tempered
from beforehand.models.transformer import Transformer

FORMAT, VERSION, MANIFEST = "beforehand model", 1, "model.json"
Tensors = Mapping[str, Tensor]
# What can be saved, by the name it has in a folder; each has `parts` and `from_parts`.
KINDS: dict[str, Any] = {"markov": Markov, "recurrent": Recurrent, "transformer": Transformer}


def save(model: Model, path: str | os.PathLike[str], card: Mapping[str, Any] | None = None) -> Path:
    """Writes a model, its lookahead included, to a folder; one that is there is replaced once all is written.

    `card` is any JSON about the model to keep with it: where its data came from, its losses.
    """
    folder = Path(path)
    description, tensors = _taken_apart(model)
    if folder.exists() and not (folder / MANIFEST).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StorageError(f"{folder} is there and is not a model of beforehand; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        content = safetensors.torch.save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
        digest = hashlib.sha256(content).hexdigest()
        numbers = f"weights-{digest[:16]}.safetensors"
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "vocabulary": _words(model.vocabulary),
            "model": description,
            "weights": {"file": numbers, "sha256": digest},
            "card": dict(card if card is not None else getattr(model, "card", {})),
        }
        replace(folder / numbers, content)
        replace(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise StorageError(
            f"the model could not be written to {folder}: {error.strerror or error}; what was there is as it was"
        ) from None
    for old in folder.glob("weights-*.safetensors"):
        if old.name != numbers:
            old.unlink(missing_ok=True)
    return folder


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a folder that `save` wrote; runs nothing that is in it."""
    folder = Path(path)
    manifest = _manifest(folder)
    content = _content(folder, manifest)
    try:
        vocabulary = _vocabulary(manifest["vocabulary"])
        model = _put_together(manifest["model"], safetensors.torch.load(content), vocabulary)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, safetensors.SafetensorError) as error:
        told = str(error) if isinstance(error, BeforehandError) else f"{type(error).__name__}: {error}"
        raise StorageError(f"the model in {folder} is damaged ({told}); save it again or fetch another copy") from None
    model.card = manifest.get("card", {})
    return model


def card_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Everything that a folder says of its model, without its numbers."""
    return _manifest(Path(path))


def replace(path: Path, content: bytes) -> None:
    """Writes a file in one step, as far as anybody else can see."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _taken_apart(model: Model) -> tuple[dict[str, Any], dict[str, Tensor]]:
    if isinstance(model, Prepared):
        return _around(model.model, {"kind": "prepared", "levels": list(model.lookahead.levels)}, model.lookahead.tensors())
    if isinstance(model, Tempered):
        return _around(model.model, {"kind": "tempered", "temperature": model.temperature}, {})
    for kind, known in KINDS.items():
        if type(model) is known:
            settings, tensors = model.parts()  # type: ignore[attr-defined]
            return {"kind": kind, **settings}, tensors
    raise StorageError(
        f"a {type(model).__name__} cannot be saved; models that can are {', '.join(KINDS)}, tempered and prepared ones"
    )


def _around(inner: Model, settings: dict[str, Any], own: Tensors) -> tuple[dict[str, Any], dict[str, Tensor]]:
    description, tensors = _taken_apart(inner)
    return settings | {"model": description}, {f"model.{name}": t for name, t in tensors.items()} | dict(own)


def _put_together(description: Mapping[str, Any], tensors: Tensors, vocabulary: Vocabulary) -> Any:
    kind = description["kind"]
    if kind in ("prepared", "tempered"):
        inner = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}
        model = _put_together(description["model"], inner, vocabulary)
        if kind == "tempered":
            return Tempered(model, description["temperature"])
        return Prepared(model, Surrogate.from_tensors(tensors, description["levels"]))
    if kind not in KINDS:
        raise StorageError(f"the model is of a kind that this version does not know: {kind!r}; upgrade beforehand")
    return KINDS[kind].from_parts(description, tensors, vocabulary)


def _manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        what = "there is nothing" if not folder.exists() else "there is no model.json"
        if is_language_model(folder):
            raise StorageError(f"{folder} holds a language model: load it with bh.load_language_model, or ask it with --text")
        raise StorageError(f"{folder} is not a model: {what}; a model is a folder that bh.save or `beforehand train` wrote")
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (ValueError, OSError) as error:
        raise StorageError(f"{folder / MANIFEST} cannot be read ({error}); save the model again or fetch another copy") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StorageError(f"{folder / MANIFEST} does not describe a model of beforehand")
    version = manifest.get("version")
    if version != VERSION:
        raise StorageError(
            f"the model in {folder} is of version {version}, this beforehand reads version {VERSION}; upgrade beforehand to load it"
        )
    return manifest


def _content(folder: Path, manifest: Mapping[str, Any]) -> bytes:
    try:
        name, digest = Path(str(manifest["weights"]["file"])).name, manifest["weights"]["sha256"]
        content = (folder / name).read_bytes()
    except (OSError, KeyError, TypeError) as error:
        raise StorageError(f"the numbers of the model in {folder} are missing ({error}); fetch another copy") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise StorageError(f"{folder / name} is damaged: its checksum is not what model.json says; fetch another copy")
    return content


def _words(vocabulary: Vocabulary) -> dict[str, Any]:
    groups = {name: list(members) for name, members in vocabulary.groups.items()}
    return {"labels": list(vocabulary.labels), "start": vocabulary.start, "end": vocabulary.end, "groups": groups}


def _vocabulary(words: Mapping[str, Any]) -> Vocabulary:
    return Vocabulary(words["labels"], start=words["start"], end=words["end"], groups=words["groups"])
