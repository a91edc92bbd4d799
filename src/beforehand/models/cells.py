"""One step of each kind of recurrent unit, in place.

tanh x = 2σ(2x) − 1: the logistic function is several times faster than tanh on processors here, and with the candidate
gate's weights doubled once, all gates of an LSTM go through a single call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class Layer(NamedTuple):
    """The weights of one layer, arranged for `step`: inputs and hidden units side by side in one product."""

    product: Tensor  # [inputs + hidden (the first layer: hidden only), gates × hidden]
    bias: Tensor
    hidden_bias: Tensor  # what a GRU adds inside its reset gate; empty elsewhere


class Cell(Protocol):
    """A kind of unit: `width` numbers remembered per unit."""

    width: int

    def arrange(self, gates: Tensor) -> Tensor:
        """Gates in the last dimension, from torch's order to the one that `step` wants."""
        ...

    def input_bias(self, layer: Mapping[str, Tensor]) -> Tensor:
        """The biases that belong to the first layer's input rows."""
        ...

    def prepare(self, layer: Mapping[str, Tensor], first: bool) -> Layer:
        """Weights arranged for `step`."""
        ...

    def step(self, layer: Layer, inputs: Tensor | None, before: Tensor, hidden: Tensor, carry: Tensor | None) -> None:
        """Overwrites `hidden` and `carry`; `before` is the layer below beside `hidden`, `inputs` the first layer's rows."""
        ...


def _tanh_(x: Tensor) -> Tensor:
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)


class Lstm:
    """c ← σ(f)·c + σ(i)·tanh(g), h ← σ(o)·tanh(c); gates in the order i, f, o, 2g."""

    width = 2

    def arrange(self, gates: Tensor) -> Tensor:
        """From i, f, g, o."""
        i, f, g, o = gates.chunk(4, -1)
        return torch.cat([i, f, o, 2 * g], -1).contiguous()

    def input_bias(self, layer: Mapping[str, Tensor]) -> Tensor:
        """Both biases."""
        return layer["bias_ih"] + layer["bias_hh"]

    def prepare(self, layer: Mapping[str, Tensor], first: bool) -> Layer:
        """Input and hidden weights under each other."""
        product = layer["weight_hh"] if first else torch.cat([layer["weight_ih"], layer["weight_hh"]], 1)
        bias = self.input_bias(layer)
        return Layer(self.arrange(product.T), self.arrange(bias), bias.new_empty(0))

    def step(self, layer: Layer, inputs: Tensor | None, before: Tensor, hidden: Tensor, carry: Tensor | None) -> None:
        """One product, one logistic call, then in place."""
        assert carry is not None
        gates = inputs.addmm_(before, layer.product) if inputs is not None else torch.addmm(layer.bias, before, layer.product)
        i, f, o, g = gates.sigmoid_().chunk(4, 1)
        carry.mul_(f).addcmul_(i, g.mul_(2).sub_(1))
        torch.mul(carry, 2, out=f).sigmoid_().mul_(2).sub_(1)
        torch.mul(o, f, out=hidden)


class Gru:
    """h ← (1 − z)·n + z·h with n = tanh(W x + b + r·(U h + d))."""

    width = 1

    def arrange(self, gates: Tensor) -> Tensor:
        """r, z, n as they are."""
        return gates.contiguous()

    def input_bias(self, layer: Mapping[str, Tensor]) -> Tensor:
        """The hidden bias of n stays inside the reset gate."""
        size = layer["weight_hh"].shape[1]
        return layer["bias_ih"] + torch.cat([layer["bias_hh"][: 2 * size], layer["bias_hh"].new_zeros(size)])

    def prepare(self, layer: Mapping[str, Tensor], first: bool) -> Layer:
        """r and z in one product over both; n twice: its input part, then its hidden part."""
        size = layer["weight_hh"].shape[1]
        hidden_n, bias = layer["weight_hh"].T, self.input_bias(layer)
        hidden_bias = layer["bias_hh"][2 * size :]
        if first:
            return Layer(hidden_n.contiguous(), bias, hidden_bias)
        below = layer["weight_ih"].T
        nothing = below.new_zeros(len(below), size)
        rows_below = torch.cat([below, nothing], 1)
        rows_hidden = torch.cat([hidden_n[:, : 2 * size], hidden_n.new_zeros(size, size), hidden_n[:, 2 * size :]], 1)
        return Layer(torch.cat([rows_below, rows_hidden]).contiguous(), torch.cat([bias, bias.new_zeros(size)]), hidden_bias)

    def step(self, layer: Layer, inputs: Tensor | None, before: Tensor, hidden: Tensor, carry: Tensor | None) -> None:
        """The first layer's input part comes from its rows, a later one's from the product."""
        size = hidden.shape[1]
        if inputs is not None:
            product = before @ layer.product
            gates, inner, inward = inputs[:, : 2 * size] + product[:, : 2 * size], product[:, 2 * size :], inputs[:, 2 * size :]
        else:
            product = torch.addmm(layer.bias, before, layer.product)
            gates, inward, inner = product[:, : 2 * size], product[:, 2 * size : 3 * size], product[:, 3 * size :]
        r, z = torch.sigmoid(gates).chunk(2, 1)
        new = _tanh_(inward + r * (inner + layer.hidden_bias))
        hidden.sub_(new).mul_(z).add_(new)


class Plain:
    """h ← tanh or max(0, ·) of one product."""

    width = 1

    def __init__(self, relu: bool) -> None:
        self.relu = relu

    def arrange(self, gates: Tensor) -> Tensor:
        """There is one gate."""
        return gates.contiguous()

    def input_bias(self, layer: Mapping[str, Tensor]) -> Tensor:
        """Both biases."""
        return layer["bias_ih"] + layer["bias_hh"]

    def prepare(self, layer: Mapping[str, Tensor], first: bool) -> Layer:
        """Input and hidden weights under each other."""
        product = layer["weight_hh"] if first else torch.cat([layer["weight_ih"], layer["weight_hh"]], 1)
        bias = self.input_bias(layer)
        return Layer(product.T.contiguous(), bias, bias.new_empty(0))

    def step(self, layer: Layer, inputs: Tensor | None, before: Tensor, hidden: Tensor, carry: Tensor | None) -> None:
        """One product and its nonlinearity."""
        new = inputs.addmm_(before, layer.product) if inputs is not None else torch.addmm(layer.bias, before, layer.product)
        hidden.copy_(new.relu_() if self.relu else _tanh_(new))


CELLS: Mapping[str, Cell] = {"lstm": Lstm(), "gru": Gru(), "tanh": Plain(relu=False), "relu": Plain(relu=True)}
