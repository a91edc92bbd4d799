"""Any Python function as a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.protocol import Ids, State, with_start


class Function:
    """A model from a function: from a list of pasts (lists of ids) to one row of next-event probabilities each.

    >>> fair = Function(lambda pasts: [[0.5, 0.5] for _ in pasts], Vocabulary(["heads", "tails"]))
    >>> fair.start([[0]]).log_probs.exp().tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, probabilities: Callable[[list[list[int]]], ArrayLike], vocabulary: Vocabulary) -> None:
        self.probabilities, self.vocabulary = probabilities, vocabulary

    def start(self, histories: Sequence[Ids]) -> State:
        """Asks the function about every history."""
        return self._at(with_start(histories, self.vocabulary, at_least=0))

    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """Asks the function about every longer past."""
        return self._at([[*state.memory[row], event] for row, event in zip(rows.tolist(), events.tolist(), strict=True)])

    def _at(self, pasts: list[list[int]]) -> State:
        given = self.probabilities(pasts)
        try:
            rows = torch.as_tensor(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError):
            raise ModelError(f"the function must give rows of probabilities; it gave {given!r}") from None
        if rows.shape != (len(pasts), len(self.vocabulary)):
            raise ModelError(
                f"the function must give {len(pasts)} rows of {len(self.vocabulary)} probabilities; it gave {tuple(rows.shape)}"
            )
        sums = rows.sum(1)
        wrong = ~(rows >= 0).all(1) | ~((sums - 1).abs() <= 1e-4)
        if wrong.any():
            worst = int(wrong.nonzero()[0])
            raise ModelError(
                f"the function's probabilities after {pasts[worst]} are not a distribution: "
                f"they sum to {sums[worst]:.6g}, lowest {rows[worst].min():.3g}"
            )
        return State((rows / sums[:, None]).log(), pasts)
