"""Long lines, looked at in blocks, tell the same as whole ones."""

from __future__ import annotations

import pytest
import torch

from beforehand.estimators import sums
from beforehand.estimators.selection import sift
from beforehand.estimators.sums import BLOCK, Sums, largest, room_for, total


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    monkeypatch.setattr(sums, "LONG", 1_000)
    random = torch.Generator().manual_seed(0)
    line = torch.rand(3, 20 * BLOCK, generator=random) ** 8
    line[1, 4_000:] = 0  # a shorter line, filled up
    line[2, ::2] = 0
    line[2, 7 * BLOCK : 9 * BLOCK] = 0  # blocks of nothing
    return line


def test_sums_before_places(line: torch.Tensor) -> None:
    places = torch.tensor([[0, 1, 511, 512, 513, 5_000, 20 * BLOCK]] * 3)
    whole = torch.nn.functional.pad(line.double().cumsum(1), (1, 0)).gather(1, places)
    assert torch.allclose(Sums(line).at(places), whole, rtol=1e-5)


def test_what_is_found_has_the_target_in_it(line: torch.Tensor) -> None:
    run = Sums(line)
    random = torch.Generator().manual_seed(1)
    which = torch.arange(3).repeat_interleave(200)
    target = torch.rand(600, generator=random, dtype=torch.float64) * run.before[which, -1] * (1 - 2**-50)
    place = run.find(which, target)
    assert bool((line[which, place] > 0).all()), "nothing without a score is ever drawn"
    whole = line.double().cumsum(1)
    assert bool((whole[which, place] > target - 1e-3).all())
    assert bool((whole[which, place] - line[which, place] < target + 1e-3).all())


@pytest.mark.parametrize("count", [1, 7, 20])
def test_the_largest(line: torch.Tensor, count: int) -> None:
    top, place = largest(line, count)
    assert torch.equal(top, torch.topk(line, count, dim=1)[0]) and torch.equal(line.gather(1, place), top)


def test_equal_numbers_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "LONG", 1_000)
    assert torch.equal(largest(torch.ones(2, 8 * BLOCK), 5)[0], torch.ones(2, 5))
    assert torch.equal(largest(torch.zeros(2, 8 * BLOCK), 5)[0], torch.zeros(2, 5))


def test_totals_and_room(line: torch.Tensor) -> None:
    assert torch.allclose(total(line), line.double().sum(1, keepdim=True), rtol=1e-6)
    assert room_for(1_001, torch.float32) == 2 * BLOCK and room_for(1_001, torch.float64) == 1_001


def test_long_lines_are_sifted_without_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expected weight of every candidate is its score, as in short lines."""
    monkeypatch.setattr(sums, "LONG", 1_000)
    random = torch.Generator().manual_seed(2)
    places, seeds, room = 4 * BLOCK, 3_000, 25
    score = torch.rand(1, places, generator=random) ** 12
    edges = torch.tensor([[0, 300, 1_000, 1_700, places]])
    start = torch.rand(seeds, 3, generator=random, dtype=torch.float64)
    found = torch.zeros(places, dtype=torch.float64)
    for first in range(0, seeds, 100):
        some = start[first : first + 100]
        many = score.repeat(len(some), 1)
        lived = sift(many, edges.expand(len(some), -1), torch.full((len(some),), room), some)
        assert int(torch.bincount(lived.history).max()) <= room
        found.index_add_(0, lived.place, score[0, lived.place].double() * lived.factor / seeds)
    groups = found.reshape(32, -1).sum(1), score[0].double().reshape(32, -1).sum(1)
    assert torch.allclose(*groups, rtol=0.25), "bunches of neighbours have their share"
    assert float(found.sum()) == pytest.approx(float(score.double().sum()), rel=0.01)
