"""Long rows, looked at in blocks, tell the same as whole ones."""

from __future__ import annotations

import pytest
import torch

from beforehand.estimators import sums
from beforehand.estimators.sums import BLOCK, find, largest, running_sums, totals


@pytest.fixture(params=[20 * BLOCK, 20 * BLOCK + 77])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    monkeypatch.setattr(sums, "LONG", 1_000)
    rows = torch.rand(4, request.param, generator=torch.Generator().manual_seed(0)) ** 8
    rows[1, 4_000:] = 0
    rows[2, ::2] = 0
    rows[2, 7 * BLOCK : 9 * BLOCK] = 0  # blocks of nothing
    rows[3, : 20 * BLOCK - 1] = 0
    return rows


def test_what_is_found_has_the_target_in_it(rows: torch.Tensor) -> None:
    which = torch.arange(4).repeat_interleave(200)
    target = torch.rand(800, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * (1 - 2**-50) * totals(rows)[which]
    place = find(rows, which, target)
    assert bool((rows[which, place] > 0).all()), "nothing without a score is ever drawn"
    whole = rows.double().cumsum(1)
    assert bool((whole[which, place] > target - 1e-3).all())
    assert bool((whole[which, place] - rows[which, place] < target + 1e-3).all())


@pytest.mark.parametrize("count", [1, 7, 20])
def test_the_largest(rows: torch.Tensor, count: int) -> None:
    top, place = largest(rows, count)
    assert torch.equal(top, torch.topk(rows, count, dim=1)[0]) and torch.equal(rows.gather(1, place), top)


def test_equal_numbers_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "LONG", 1_000)
    assert torch.equal(largest(torch.ones(2, 8 * BLOCK), 5)[0], torch.ones(2, 5))
    assert torch.equal(largest(torch.zeros(2, 8 * BLOCK), 5)[0], torch.zeros(2, 5))


def test_totals_and_running_sums(rows: torch.Tensor) -> None:
    assert torch.allclose(totals(rows), rows.double().sum(1), rtol=1e-6)
    assert torch.equal(running_sums(rows)[:, 1:], rows.double().cumsum(1)) and bool((running_sums(rows)[:, 0] == 0).all())
