"""Language models from folders, by transformers."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import torch

from beforehand.errors import StorageError
from beforehand.models.huggingface import HuggingFace
from beforehand.models.tokenizer import NEEDED

# Files of which a tokenizer has at least one.
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "merges.txt")


def is_language_model(path: str | os.PathLike[str]) -> bool:
    """Is this a GGUF file, or a folder as transformers writes them or with a GGUF file in it?"""
    place = Path(path)
    return place.suffix == ".gguf" or (place / "config.json").is_file() or bool(_gguf(place))


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a folder says of its language model, which is not loaded for that."""
    place = Path(path)
    config = place / "config.json"
    if not config.is_file():
        files = [place] if place.is_file() else _gguf(place)
        return {"file": files[0].name, "megabytes": round(files[0].stat().st_size / 1e6)}
    told = json.loads(config.read_text())
    wanted = ("model_type", "vocab_size", "num_hidden_layers", "n_layer", "hidden_size", "n_embd", "max_position_embeddings")
    return {name: told[name] for name in wanted if name in told}


def load_language_model(
    name_or_folder: str | os.PathLike[str], *, dtype: torch.dtype = torch.float32, device: str | None = None
) -> HuggingFace:
    """A causal language model with its tokenizer: from a folder that transformers wrote, a GGUF file or a folder with one in it, or
    by its name on the Hugging Face hub. Nothing in a folder is ever run.

    `dtype` is the precision of its numbers, `device` where it is put: a GPU, if there is one.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise StorageError(NEEDED) from None
    folder, options = _place(name_or_folder)
    options |= {"trust_remote_code": False}
    try:
        with _quiet_unless_watched():
            tokenizer = AutoTokenizer.from_pretrained(folder, **options)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options)
    except ImportError as error:
        raise StorageError(f"{name_or_folder} cannot be loaded: {_first_line(error)}; {NEEDED}") from None
    except Exception as error:  # whatever a foreign file makes a foreign reader say
        raise StorageError(f"{name_or_folder} cannot be loaded as a causal language model: {_first_line(error)}") from None
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return HuggingFace(model.to(where), tokenizer)


def _place(name_or_folder: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """What transformers is to be told."""
    place = Path(name_or_folder)
    files = [place] if place.suffix == ".gguf" else _gguf(place)
    if place.is_dir() and (place / "config.json").is_file():
        if not any(list(place.glob(name)) for name in TOKENIZERS):
            raise StorageError(f"{place} holds a model and no tokenizer: save the tokenizer that belongs to it to the same folder")
        return str(place), {}
    if len(files) == 1 and files[0].is_file():
        return str(files[0].parent), {"gguf_file": files[0].name}
    if len(files) > 1:
        raise StorageError(f"{place} holds {len(files)} GGUF files; name one: {', '.join(each.name for each in files[:5])}")
    if place.exists() or place.suffix == ".gguf" or str(name_or_folder).count("/") > 1 or str(name_or_folder).startswith("."):
        raise StorageError(f"{place} holds no language model: there is neither a config.json nor a GGUF file")
    return str(name_or_folder), {}


def _gguf(place: Path) -> list[Path]:
    return sorted(place.glob("*.gguf")) if place.is_dir() else []


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def _quiet_unless_watched() -> Iterator[None]:
    """The bars of transformers are for people; errors are raised, and not lost with them."""
    if sys.stderr.isatty():
        yield
        return
    with redirect_stderr(io.StringIO()):
        yield
