"""Whole futures in which a question comes out true, for one history."""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.engine import Run
from beforehand.estimators.frontier import Expansion, Picks
from beforehand.estimators.paths import ImportancePaths
from beforehand.estimators.randomness import draw, uniforms
from beforehand.estimators.search import Widest
from beforehand.queries import YES


def certain_yes(expansion: Expansion) -> Tensor:
    """[rows, vocabulary]: the chance that the row's next event is this one and makes the proposition true."""
    wins = expansion.moves.emits[0] == YES
    wins = wins[expansion.frontier.automaton]
    allowed = wins if expansion.tables.every_event_apart else wins[:, expansion.tables.classes]
    return expansion.probs * allowed * expansion.scale[:, None]


class LikelyFutures(Widest):
    """A beam search that remembers the likeliest complete futures it has met."""

    def __init__(self, run: Run, count: int, width: int) -> None:
        super().__init__(run, width, None)
        self.count = count
        self.history: list[tuple[Tensor, Tensor]] = []
        self.found: list[tuple[float, int, int, int]] = []

    def settle(self, expansion: Expansion) -> None:
        """Looks at every future that this step completes."""
        super().settle(expansion)
        mass = certain_yes(expansion) * expansion.weight[:, None]
        best = torch.topk(mass.flatten(), min(self.count, mass.numel()))
        for value, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            if value > 0:
                self.found.append((value, expansion.step, *divmod(place, mass.shape[1])))

    def select(self, expansion: Expansion) -> Picks:
        """As the beam does."""
        picks = super().select(expansion)
        self.history.append((picks.rows, picks.events))
        return picks

    def likeliest(self) -> list[tuple[list[int], float]]:
        """Events and probability, the likeliest first."""
        best = sorted(self.found, key=lambda each: (-each[0], each[1:]))[: self.count]
        return [([*self._trace(step, row), event], mass) for mass, step, row, event in best]

    def _trace(self, step: int, row: int) -> list[int]:
        events = []
        for rows, taken in self.history[: step - 1][::-1]:
            events.append(int(taken[row]))
            row = int(rows[row])
        return events[::-1]


class SampledFutures(ImportancePaths):
    """Importance sampling that remembers its paths, and where along each it may have come true."""

    def __init__(self, run: Run, samples: int) -> None:
        super().__init__(run, samples, None)
        self.samples = samples
        self.total = torch.zeros(samples, dtype=torch.float64)
        self.end = torch.zeros(samples, dtype=torch.long)
        self.last = torch.zeros(samples, dtype=torch.long)
        self.events: list[Tensor] = []

    def settle(self, expansion: Expansion) -> None:
        """Each path keeps one of the places where it may end, with chances in proportion to their masses."""
        super().settle(expansion)
        cumulative = certain_yes(expansion).cumsum(1)
        alive = (self.row_of >= 0).nonzero()[:, 0]
        rows = self.row_of[alive]
        gain = cumulative[rows, -1] * expansion.weight[rows]
        self.total[alive] += gain
        chance = uniforms(self.run.keys[self.owner[alive]], expansion.step, self.samples + self.lane[alive])
        here = (gain > 0) & (chance * self.total[alive] < gain)
        event = draw(
            cumulative, rows, uniforms(self.run.keys[self.owner[alive]], expansion.step, 2 * self.samples + self.lane[alive])
        )
        self.end[alive[here]], self.last[alive[here]] = expansion.step, event[here]

    def select(self, expansion: Expansion) -> Picks:
        """As importance sampling does."""
        picks = super().select(expansion)
        taken = picks.events[self.row_of.clamp(min=0)] if len(picks.events) else torch.zeros_like(self.row_of)
        self.events.append(taken)
        return picks

    def drawn(self, count: int) -> list[list[int]]:
        """Complete futures, drawn in proportion to their masses."""
        if not float(self.total.sum()) > 0:
            return []
        lanes = torch.arange(count)
        chosen = draw(self.total.cumsum(0)[None], torch.zeros_like(lanes), uniforms(self.run.keys[:1], 0, lanes))
        return [
            [int(self.events[step][path]) for step in range(int(self.end[path]) - 1)] + [int(self.last[path])]
            for path in chosen.tolist()
        ]
