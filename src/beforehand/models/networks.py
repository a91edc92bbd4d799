"""The networks as they are trained; once trained, they become models that step."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from beforehand.events import Vocabulary
from beforehand.models import transformer
from beforehand.models.recurrent import Recurrent
from beforehand.models.settings import Settings
from beforehand.models.transformer import Transformer

HEADS = 4


class RecurrentNetwork(nn.Module):
    """An embedding, layers of an LSTM or GRU, a linear output."""

    def __init__(self, vocabulary: int, settings: Settings) -> None:
        super().__init__()
        kind = nn.LSTM if settings.cell == "lstm" else nn.GRU
        between = settings.dropout if settings.layers > 1 else 0.0
        self.embedding = nn.Embedding(vocabulary, settings.hidden)
        self.rnn = kind(settings.hidden, settings.hidden, settings.layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(settings.hidden, vocabulary)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [rows, events, vocabulary] after each event."""
        hidden, _ = self.rnn(self.dropout(self.embedding(ids)))
        return cast(Tensor, self.output(self.dropout(hidden)))

    def as_model(self, vocabulary: Vocabulary) -> Recurrent:
        """The model that steps."""
        weights = {name: tensor.detach().cpu().clone() for name, tensor in self.state_dict().items()}
        never_start(weights["output.bias"], vocabulary)
        return Recurrent.from_state_dict(weights, vocabulary)


class TransformerNetwork(nn.Module):
    """The weights of a `Transformer`, to be learned."""

    def __init__(self, vocabulary: int, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        shapes = transformer.weight_shapes(vocabulary, settings.hidden, settings.layers)
        made = {name.replace(".", "/"): nn.Parameter(_initial(name, shape)) for name, shape in shapes.items()}
        self.weights = nn.ParameterDict(made)
        self.register_buffer("slopes", transformer.slopes(HEADS).float(), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [rows, events, vocabulary] after each event."""
        weights = self._named()
        dropout = self.settings.dropout if self.training else 0.0
        hidden, _, _ = transformer.read(weights, self.settings.layers, cast(Tensor, self.slopes), ids, dropout)
        return transformer.logits(weights, hidden)

    def as_model(self, vocabulary: Vocabulary) -> Transformer:
        """The model that steps."""
        weights = {name: each.detach().cpu().clone() for name, each in self._named().items()}
        never_start(weights["output.bias"], vocabulary)
        return Transformer(weights, HEADS, vocabulary)

    def _named(self) -> dict[str, Tensor]:
        return {name.replace("/", "."): each for name, each in self.weights.items()}


def never_start(bias: Tensor, vocabulary: Vocabulary) -> None:
    """The start symbol stands before a sequence and never comes again."""
    if vocabulary.start_id is not None:
        bias[vocabulary.start_id] = -1e4


def _initial(name: str, shape: tuple[int, ...]) -> Tensor:
    """Of unit scale, and half of it for what is added to the stream."""
    if len(shape) == 1:
        return torch.ones(shape)
    scale = 0.5 if name.endswith(("down.weight", "out.weight")) else 1.0
    return torch.randn(shape) * (scale / math.sqrt(shape[-1]))


Network = RecurrentNetwork | TransformerNetwork


def network(vocabulary: int, settings: Settings) -> Network:
    """A fresh network; its weights follow from the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        made = TransformerNetwork if settings.kind == "transformer" else RecurrentNetwork
        return made(vocabulary, settings)
