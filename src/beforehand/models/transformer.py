"""A small causal transformer: nearness instead of positions (ALiBi: Press, Smith and Lewis 2022), for histories of any length.

A row remembers the keys and values of all its events, so that a step looks at each of them once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from beforehand.events import Vocabulary
from beforehand.models.protocol import Ids, State, by_length, with_start


@dataclass(frozen=True)
class Cache:
    """Keys and values [rows, layers, events, width] of which row i has read `lengths[i]` events."""

    keys: Tensor
    values: Tensor
    lengths: Tensor

    def join(self, caches: Sequence[Cache]) -> Cache:
        """Caches under each other, padded to the longest."""
        longest = max(cache.keys.shape[2] for cache in caches)

        def padded(each: Tensor) -> Tensor:
            return functional.pad(each, (0, 0, 0, longest - each.shape[2]))

        keys, values = (torch.cat([padded(getattr(cache, name)) for cache in caches]) for name in ("keys", "values"))
        return Cache(keys, values, torch.cat([cache.lengths for cache in caches]))


class Transformer:
    """Blocks of attention and a feed-forward part, each after a normalisation; `weight_shapes` names the weights."""

    def __init__(self, weights: Mapping[str, Tensor], heads: int, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.heads = vocabulary, heads
        self.weights = dict(weights)
        self.layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("blocks."))
        self.slopes = slopes(heads).to(weights["output.weight"])

    @classmethod
    def random(
        cls,
        vocabulary: Vocabulary,
        width: int = 16,
        layers: int = 2,
        heads: int = 2,
        seed: int = 0,
        dtype: torch.dtype = torch.float64,
    ) -> Transformer:
        """One with random weights, for tests."""
        generator = torch.Generator().manual_seed(seed)
        shapes = weight_shapes(len(vocabulary), width, layers)
        drawn = {name: torch.randn(*shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
        scaled = {name: each / math.sqrt(each.shape[-1]) * 3 if each.dim() > 1 else each * 0.1 + 1 for name, each in drawn.items()}
        return cls({name: each.to(dtype) for name, each in scaled.items()}, heads, vocabulary)

    def parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """For storage."""
        return {"heads": self.heads}, self.weights

    @classmethod
    def from_parts(cls, settings: Mapping[str, Any], tensors: Mapping[str, Tensor], vocabulary: Vocabulary) -> Transformer:
        """From storage."""
        return cls(tensors, int(settings["heads"]), vocabulary)

    @torch.inference_mode()
    def start(self, histories: Sequence[Ids]) -> State:
        """Reads all histories at once."""
        padded, lengths, back = by_length(with_start(histories, self.vocabulary))
        device = self.slopes.device
        padded, lengths = padded.to(device), lengths.to(device)
        hidden, keys, values = read(self.weights, self.layers, self.slopes, padded)
        last = hidden[torch.arange(len(padded), device=device), lengths - 1]
        back = back.to(device)
        return State(self._next(last)[back], Cache(keys[back], values[back], lengths[back]))

    @torch.inference_mode()
    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """One event on each row: it looks at all that its row remembers, and at itself."""
        before: Cache = state.memory
        lengths = before.lengths[rows]
        needed = int(lengths.max()) + 1 if len(rows) else 1
        keys, values = (_longer(each[rows][:, :, :needed], needed) for each in (before.keys, before.values))
        number, place = torch.arange(len(rows), device=rows.device), torch.arange(needed, device=rows.device)
        away = (lengths[:, None] - place).to(self.slopes.dtype)
        bias = torch.where(away[:, None] < 0, -torch.inf, -self.slopes[:, None] * away[:, None])
        hidden = self.weights["embedding.weight"][events]
        for layer in range(self.layers):
            query, key, value = _projections(self.weights, layer, hidden)
            keys[number, layer, lengths], values[number, layer, lengths] = key, value
            hidden = hidden + self._look(layer, query, keys[:, layer], values[:, layer], bias)
            hidden = hidden + _forward(self.weights, layer, hidden)
        return State(self._next(hidden), Cache(keys, values, lengths + 1))

    def _look(self, layer: int, query: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
        rows, events, width = keys.shape
        apart = (rows, events, self.heads, width // self.heads)
        scores = torch.einsum("rhd,rehd->rhe", query.reshape(rows, *apart[2:]), keys.reshape(apart)) / math.sqrt(apart[3])
        seen = torch.einsum("rhe,rehd->rhd", (scores + bias).softmax(-1), values.reshape(apart)).reshape(rows, width)
        return functional.linear(seen, self.weights[f"blocks.{layer}.out.weight"])

    def _next(self, hidden: Tensor) -> Tensor:
        return logits(self.weights, hidden).log_softmax(-1)


def weight_shapes(vocabulary: int, width: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of all weights."""
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (vocabulary, width), "norm.weight": (width,)}
    for i in range(layers):
        shapes |= {f"blocks.{i}.norm1.weight": (width,), f"blocks.{i}.norm2.weight": (width,)}
        shapes |= {f"blocks.{i}.qkv.weight": (3 * width, width), f"blocks.{i}.out.weight": (width, width)}
        shapes |= {f"blocks.{i}.up.weight": (4 * width, width), f"blocks.{i}.down.weight": (width, 4 * width)}
    return shapes | {"output.weight": (vocabulary, width), "output.bias": (vocabulary,)}


def slopes(heads: int) -> Tensor:
    """How fast each head forgets."""
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def read(
    weights: Mapping[str, Tensor], layers: int, slope: Tensor, ids: Tensor, dropout: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Whole sequences [rows, events]: the hidden state after each event, and the keys and values of every layer."""
    rows, events = ids.shape
    heads = len(slope)
    place = torch.arange(events, device=ids.device)
    away = (place[:, None] - place).to(slope.dtype)
    bias = torch.where(away < 0, -torch.inf, -slope[:, None, None] * away)
    hidden = functional.dropout(weights["embedding.weight"][ids], dropout, dropout > 0)
    keys, values = [], []
    for layer in range(layers):
        query, key, value = _projections(weights, layer, hidden)
        keys.append(key)
        values.append(value)
        q, k, v = (each.reshape(rows, events, heads, -1).transpose(1, 2) for each in (query, key, value))
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype)).transpose(1, 2).flatten(2)
        seen = functional.linear(seen, weights[f"blocks.{layer}.out.weight"])
        hidden = hidden + functional.dropout(seen, dropout, dropout > 0)
        hidden = hidden + functional.dropout(_forward(weights, layer, hidden), dropout, dropout > 0)
    return hidden, torch.stack(keys, 1), torch.stack(values, 1)


def logits(weights: Mapping[str, Tensor], hidden: Tensor) -> Tensor:
    """What comes next, not yet normalised."""
    return functional.linear(_normed(hidden, weights["norm.weight"]), weights["output.weight"], weights["output.bias"])


def _projections(weights: Mapping[str, Tensor], layer: int, hidden: Tensor) -> tuple[Tensor, ...]:
    normed = _normed(hidden, weights[f"blocks.{layer}.norm1.weight"])
    return functional.linear(normed, weights[f"blocks.{layer}.qkv.weight"]).chunk(3, -1)


def _forward(weights: Mapping[str, Tensor], layer: int, hidden: Tensor) -> Tensor:
    normed = _normed(hidden, weights[f"blocks.{layer}.norm2.weight"])
    return functional.linear(
        functional.gelu(functional.linear(normed, weights[f"blocks.{layer}.up.weight"])), weights[f"blocks.{layer}.down.weight"]
    )


def _normed(hidden: Tensor, scale: Tensor) -> Tensor:
    return functional.rms_norm(hidden, (hidden.shape[-1],), scale, eps=1e-6)


def _longer(each: Tensor, events: int) -> Tensor:
    return functional.pad(each, (0, 0, 0, max(0, events - each.shape[2])))
