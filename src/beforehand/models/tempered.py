"""A model at another temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.protocol import Ids, Model, State


class Tempered:
    """p(v | past)^(1/T), normalised: above 1 the future is less certain, below 1 more."""

    def __init__(self, model: Model, temperature: float) -> None:
        if not isinstance(temperature, int | float) or not 0 < temperature < math.inf:
            raise ModelError(f"a temperature is a number above 0; got {temperature!r}")
        self.model, self.temperature = model, float(temperature)

    @property
    def vocabulary(self) -> Vocabulary:
        """The inner model's."""
        return self.model.vocabulary

    def start(self, histories: Sequence[Ids]) -> State:
        """The inner model's rows, tempered."""
        return self._temper(self.model.start(histories))

    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """The inner model's step, tempered."""
        return self._temper(self.model.advance(state.memory, rows, events))

    def _temper(self, inner: State) -> State:
        return State(torch.log_softmax(inner.log_probs / self.temperature, dim=-1), inner)
