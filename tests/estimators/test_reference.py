"""The paper's methods on the paper's checkpoints and real histories, beside the authors' own code."""

from __future__ import annotations

import math
import statistics

import pytest

import beforehand as bh
from tests.shared import checkpoint, needs_shared, reference

CELLS = [(name, horizon) for name in ("moocs", "shakespeare") for horizon in (4, 7, 11)]


@needs_shared
@pytest.mark.parametrize("name,horizon", CELLS)
def test_beam_search_of_the_same_width_finds_the_same(name: str, horizon: int) -> None:
    model = checkpoint(name)
    apart = []
    for row in (row for row in reference(name) if row["horizon"] == horizon):
        question = bh.P(bh.when(model.vocabulary.labels[row["target"]]) == horizon)
        answer = bh.ask(model, question, row["history"][1:], method="beam", budget=row["calls"])
        apart.append(abs(answer.value - row["beam"]) / row["beam"])
        assert (
            answer.value
            <= row["truth"] * (1 + 3 * row["truth_spread"])
            <= answer.upper_bound * (1 + 6 * row["truth_spread"]) + 1e-6
        )
    assert statistics.median(apart) < 1e-3


@needs_shared
@pytest.mark.parametrize("method,theirs", [("importance", "is"), ("hybrid", "hybrid")])
def test_errors_are_of_the_order_of_the_authors(method: str, theirs: str) -> None:
    """Geometric mean over the cells of the ratio of median relative errors; single cells have 20 to 30 noisy queries."""
    ratios = []
    for name, horizon in CELLS:
        model, own, other = checkpoint(name), [], []
        for number, row in enumerate(row for row in reference(name) if row["horizon"] == horizon):
            question = bh.P(bh.when(model.vocabulary.labels[row["target"]]) == horizon)
            answer = bh.ask(model, question, row["history"][1:], method=method, budget=row["calls"], seed=number)
            own.append(abs(answer.value - row["truth"]) / row["truth"])
            other.append(abs(row[theirs] - row["truth"]) / row["truth"])
        ratios.append(statistics.median(own) / statistics.median(other))
    mean = math.exp(statistics.mean(map(math.log, ratios)))
    assert 0.6 < mean < 1.6, f"our {method} errs {mean:.2f} times as much as the authors'; per cell {[round(r, 2) for r in ratios]}"
