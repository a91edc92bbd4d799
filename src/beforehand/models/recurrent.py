"""Recurrent networks, stepped by hand: rows of an embedding instead of one-hot products, one product a layer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.cells import CELLS, Cell
from beforehand.models.protocol import Ids, State, by_length, with_start

# Rows stepped at once: enough for the products to run at full speed, few enough to stay in the processor's cache.
ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Weights:
    """What a network is made of, in torch's own layout and names (`weight_ih` and so on, one entry a layer)."""

    inputs: Tensor  # [vocabulary, gates × hidden]: what the first layer adds for each event, its biases included
    layers: tuple[Mapping[str, Tensor], ...]
    output: Tensor  # [vocabulary, hidden]
    output_bias: Tensor


class Recurrent:
    """An LSTM, GRU or plain RNN of any number of layers, and a linear output.

    The memory of a row is one line of numbers, so that picking rows is a single gather.
    """

    def __init__(self, cell: Cell, weights: Weights, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.cell, self.weights = vocabulary, cell, weights
        self.hidden = weights.output.shape[1]
        self._out, self._out_bias = weights.output.T.contiguous(), weights.output_bias
        self._layers = [cell.prepare(layer, first=i == 0) for i, layer in enumerate(weights.layers)]
        self._inputs = cell.arrange(weights.inputs)

    @classmethod
    def from_state_dict(cls, state_dict: Mapping[str, Tensor], vocabulary: Vocabulary, nonlinearity: str = "tanh") -> Recurrent:
        """A model from the weights of a `torch.nn.LSTM`, `GRU` or `RNN` and a linear output layer, whatever they are called.

        Without an embedding among the weights, the network is taken to be fed one-hot events. `nonlinearity` is that of a
        plain RNN: `"tanh"` or `"relu"`.
        """
        layers = _layers(state_dict)
        output, bias = _output(state_dict, len(vocabulary))
        hidden = layers[0]["weight_hh"].shape[1]
        kinds = {4: "lstm", 3: "gru", 1: nonlinearity}
        gates = layers[0]["weight_hh"].shape[0] // hidden
        if gates not in kinds or kinds[gates] not in CELLS:
            raise ModelError(f"weights with {gates} gates a unit and nonlinearity {nonlinearity!r} are neither LSTM, GRU nor RNN")
        cell = CELLS[kinds[gates]]
        embedding = next((w for name, w in state_dict.items() if name.endswith("embedding.weight")), None)
        product: Tensor = layers[0]["weight_ih"].T if embedding is None else embedding @ layers[0]["weight_ih"].T
        if len(product) != len(vocabulary):
            raise ModelError(f"the weights take {len(product)} events, the vocabulary has {len(vocabulary)}")
        return cls(cell, Weights(product + cell.input_bias(layers[0]), layers, output, bias), vocabulary)

    def parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """For storage."""
        tensors = {"inputs": self.weights.inputs, "output": self.weights.output, "output_bias": self.weights.output_bias}
        for number, layer in enumerate(self.weights.layers):
            tensors |= {f"layers.{number}.{name}": tensor for name, tensor in layer.items()}
        return {"cell": next(name for name, cell in CELLS.items() if cell is self.cell)}, tensors

    @classmethod
    def from_parts(cls, settings: Mapping[str, Any], tensors: Mapping[str, Tensor], vocabulary: Vocabulary) -> Recurrent:
        """From storage."""
        found: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if match := re.fullmatch(r"layers\.(\d+)\.(\w+)", name):
                found.setdefault(int(match[1]), {})[match[2]] = tensor
        layers = tuple(found[number] for number in sorted(found))
        if len(tensors["inputs"]) != len(vocabulary) or len(tensors["output"]) != len(vocabulary):
            raise ModelError(f"the weights speak of {len(tensors['output'])} events, the vocabulary of {len(vocabulary)}")
        return cls(
            CELLS[settings["cell"]], Weights(tensors["inputs"], layers, tensors["output"], tensors["output_bias"]), vocabulary
        )

    @classmethod
    def random(
        cls,
        vocabulary: Vocabulary,
        hidden: int = 8,
        layers: int = 1,
        kind: str = "lstm",
        sharpness: float = 3.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float64,
    ) -> Recurrent:
        """A network with random weights, for tests and demonstrations; a larger sharpness makes its futures more certain."""
        nonlinearity = kind if kind in ("tanh", "relu") else "tanh"
        gates = {"lstm": 4, "gru": 3}.get(kind, 1)
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).mul(sharpness / math.sqrt(shape[-1]))

        state_dict = {"out.weight": draw(len(vocabulary), hidden), "out.bias": torch.zeros(len(vocabulary), dtype=dtype)}
        for i in range(layers):
            inputs = hidden if i else len(vocabulary)
            state_dict |= {f"rnn.weight_ih_l{i}": draw(gates * hidden, inputs), f"rnn.weight_hh_l{i}": draw(gates * hidden, hidden)}
            state_dict |= {f"rnn.bias_ih_l{i}": draw(gates * hidden), f"rnn.bias_hh_l{i}": draw(gates * hidden)}
        return cls.from_state_dict(state_dict, vocabulary, nonlinearity)

    @torch.inference_mode()
    def start(self, histories: Sequence[Ids]) -> State:
        """Reads every history from the beginning; the longest ones first, so that those still reading are the top rows."""
        padded, lengths, back = by_length(with_start(histories, self.vocabulary))
        padded = padded.to(self._inputs.device)
        memory = self._inputs.new_zeros(len(padded), self.cell.width * len(self._layers) * self.hidden)
        for step in range(padded.shape[1]):
            reading = int((lengths > step).sum())
            self._step(memory[:reading], padded[:reading, step])
        memory = memory[back.to(memory.device)]
        return State(self._next(memory), memory)

    @torch.inference_mode()
    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """Gathers and steps, a cache-sized block of rows at a time."""
        memory = torch.empty(len(rows), state.memory.shape[1], dtype=state.memory.dtype, device=state.memory.device)
        log_probs = torch.empty(len(rows), len(self.vocabulary), dtype=memory.dtype, device=memory.device)
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            block = memory[begin : begin + ROWS_AT_ONCE]
            torch.index_select(state.memory, 0, rows[begin : begin + ROWS_AT_ONCE], out=block)
            self._step(block, events[begin : begin + ROWS_AT_ONCE])
            log_probs[begin : begin + ROWS_AT_ONCE] = self._next(block)
        return State(log_probs, memory)

    def _step(self, memory: Tensor, events: Tensor) -> None:
        """One event on every row, in place. The line of a row holds h of all layers, then, for an LSTM, c of all layers."""
        size, depth = self.hidden, len(self._layers)
        for i, layer in enumerate(self._layers):
            before = memory[:, max(0, i - 1) * size : (i + 1) * size]
            carry = memory[:, (depth + i) * size : (depth + i + 1) * size] if self.cell.width == 2 else None
            inputs = self._inputs.index_select(0, events) if i == 0 else None
            self.cell.step(layer, inputs, before, memory[:, i * size : (i + 1) * size], carry)

    def _next(self, memory: Tensor) -> Tensor:
        top = memory[:, (len(self._layers) - 1) * self.hidden : len(self._layers) * self.hidden]
        logits: Tensor = torch.addmm(self._out_bias, top, self._out)
        return logits.log_softmax(1)


def _layers(state_dict: Mapping[str, Tensor]) -> tuple[Mapping[str, Tensor], ...]:
    if not isinstance(state_dict, Mapping) or not all(isinstance(each, Tensor) for each in state_dict.values()):
        raise ModelError(
            f"the weights are a mapping from names to tensors, as torch's state_dict(); got {type(state_dict).__name__}"
        )
    if backward := next((name for name in state_dict if name.endswith("_reverse")), None):
        raise ModelError(f"the weights hold {backward}: a network that also reads backwards cannot tell what comes next")
    found: dict[int, dict[str, Tensor]] = {}
    for name, tensor in state_dict.items():
        if match := re.search(r"(weight_ih|weight_hh|bias_ih|bias_hh)_l(\d+)$", name):
            found.setdefault(int(match[2]), {})[match[1]] = tensor
    layers = [found[i] for i in sorted(found)]
    if not layers or any(not {"weight_ih", "weight_hh"} <= layer.keys() for layer in layers):
        raise ModelError(f"no recurrent layers (weight_ih_l0, weight_hh_l0, …) among the weights {sorted(state_dict)}")
    with_bias = {bias for layer in layers for bias in ("bias_ih", "bias_hh") if bias in layer}
    for number, layer in enumerate(layers):
        if with_bias and not with_bias <= layer.keys():
            raise ModelError(
                f"layer {number} has no {min(with_bias - layer.keys())}, which other layers have; are the weights whole?"
            )
        for bias in ("bias_ih", "bias_hh"):
            layer.setdefault(bias, layer["weight_hh"].new_zeros(len(layer["weight_hh"])))
    return tuple(layers)


def _output(state_dict: Mapping[str, Tensor], vocabulary: int) -> tuple[Tensor, Tensor]:
    for name, weight in state_dict.items():
        own = not re.search(r"_l\d+$", name) and not name.endswith("embedding.weight")
        if own and name.endswith("weight") and weight.ndim == 2:
            if len(weight) != vocabulary:
                raise ModelError(f"the output layer {name} speaks of {len(weight)} events, the vocabulary of {vocabulary}")
            bias = state_dict.get(name.removesuffix("weight") + "bias")
            return weight, weight.new_zeros(vocabulary) if bias is None else bias
    raise ModelError(f"no output layer among the weights {sorted(state_dict)}")
