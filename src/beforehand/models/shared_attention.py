"""The attention that a network of transformers is given, so that its rows share what they have read.

Outside of our own steps it is the attention of transformers. Needs transformers, so only `huggingface` imports it, when it must.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from beforehand.models.branches import Branches, Nodes, look

NAME = "beforehand"

_branches: ContextVar[Branches | None] = ContextVar("_branches", default=None)


def give(model: Any) -> bool:
    """Gives a network our attention; False if it cannot be given one."""
    if not getattr(model, "_supports_attention_backend", False):
        return False
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)
    return bool(model.config._attn_implementation == NAME)


@contextmanager
def stepping(branches: Branches) -> Iterator[Keeper]:
    """Within, a network steps the rows of these branches; what it makes is in the keeper, which stands for its cache."""
    token = _branches.set(branches)
    try:
        yield Keeper()
    finally:
        _branches.reset(token)


class Keeper(Cache):  # type: ignore[misc]
    """Keeps the new keys and values, and gives back these alone."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.nodes = Nodes([], [])

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Called by every layer in turn, with [rows, heads, 1, width]."""
        if layer_idx != len(self.nodes.keys):
            raise NotImplementedError("layers that share keys")
        self.nodes.keys.append(key_states[:, :, 0])
        self.nodes.values.append(value_states[:, :, 0])
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """As if nothing had come before: positions are given, and masks not needed."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """Of a mask that nobody looks at."""
        return query_length, 0

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """Likewise."""
        return 0


def attention(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any) -> tuple[Tensor, Any]:
    """[rows, 1, heads, width] from [rows, heads, 1, width]."""
    branches = _branches.get()
    if branches is None:
        return sdpa_attention_forward(module, query, key, value, mask, **options)  # type: ignore[no-any-return]
    strange = [name for name in ("softcap", "s_aux", "sliding_window") if options.get(name) is not None]
    if strange:
        raise NotImplementedError(f"attention with {strange[0]}")
    scaling = options.get("scaling")
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    return look(branches, module.layer_idx, query[:, :, 0], key[:, :, 0], value[:, :, 0], scale)[:, None], None
