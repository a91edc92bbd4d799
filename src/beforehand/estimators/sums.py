"""The largest numbers and the running sums of lines [lines, places]; of very long lines by blocks, several times faster."""

from __future__ import annotations

import torch
from torch import Tensor

# Lines of so many places are looked at in blocks of so many. In float64 they never are: there, an answer is the same to the last
# bit whatever else is in the batch, but blocks come and go with the length of the longest line.
LONG, BLOCK = 500_000, 512


def room_for(places: int, dtype: torch.dtype) -> int:
    """How long to make a line for so many places: long ones are made of whole blocks."""
    return -(-places // BLOCK) * BLOCK if is_long(places, dtype) else places


def is_long(places: int, dtype: torch.dtype) -> bool:
    """Is a line looked at in blocks?"""
    return places >= LONG and dtype != torch.float64


def _blocks(line: Tensor) -> Tensor:
    return line.reshape(len(line), -1, BLOCK)


def _long(line: Tensor) -> bool:
    return is_long(line.shape[1], line.dtype) and line.shape[1] % BLOCK == 0


def total(line: Tensor) -> Tensor:
    """[lines, 1] in float64; of long lines, blocks are summed in their own precision."""
    return _blocks(line).sum(2).sum(1, keepdim=True, dtype=torch.float64) if _long(line) else line.sum(1, True, dtype=torch.float64)


def largest(line: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest numbers of each line, in descending order, and their places; a line may end in zeros of no place.

    Of a long line, the count-th largest of the blocks' largest numbers is a bound: there are as many numbers that reach it.
    """
    if not _long(line) or count > line.shape[1] // BLOCK:
        return torch.topk(line, min(count, line.shape[1]), dim=1)
    bound = torch.topk(_blocks(line).amax(2), count, dim=1)[0][:, -1:]
    which, places = (line >= bound).nonzero(as_tuple=True)
    found = torch.bincount(which, minlength=len(line))
    if int(found.max()) > line.shape[1] // 8:  # many are equal
        return torch.topk(line, count, dim=1)
    rank = torch.arange(len(which), device=line.device) - (found.cumsum(0) - found)[which]
    values = line.new_full((len(line), int(found.max())), -1)
    at = torch.zeros(values.shape, dtype=torch.long, device=line.device)
    values[which, rank], at[which, rank] = line[which, places], places
    top, chosen = torch.topk(values, count, dim=1)
    return top, at.gather(1, chosen)


class Sums:
    """Running sums, in float64: before place i stands what all places before it sum up to."""

    def __init__(self, line: Tensor) -> None:
        self.line, self.long = line, _long(line)
        each = _blocks(line).sum(2) if self.long else line
        self.before = torch.zeros(len(line), each.shape[1] + 1, dtype=torch.float64, device=line.device)
        torch.cumsum(each, 1, dtype=torch.float64, out=self.before[:, 1:])

    def at(self, places: Tensor) -> Tensor:
        """[lines, places] the sums before some places of each line."""
        if not self.long:
            return self.before.gather(1, places)
        block = (places // BLOCK).clamp(max=self.before.shape[1] - 2)
        inside = _blocks(self.line)[torch.arange(len(places), device=places.device)[:, None], block].double()
        counted = torch.arange(BLOCK, device=places.device) < (places - block * BLOCK)[:, :, None]
        whole = self.before.gather(1, block + 1)
        partly = self.before.gather(1, block) + (inside * counted).cumsum(2)[:, :, -1]
        return torch.where(places - block * BLOCK == BLOCK, whole, torch.minimum(partly, whole))

    def find(self, line: Tensor, target: Tensor) -> Tensor:
        """The first place of a line with which the running sum is above the target, which is below the whole sum."""
        place = self._find(line, target)
        if not self.long:
            return place
        inside = _blocks(self.line)[line, place].double().cumsum(1)
        left = target - self.before[line, place]
        last = (inside < inside[:, -1:]).sum(1)  # the sums of blocks are rounded otherwise
        return place * BLOCK + torch.minimum((inside <= left[:, None]).sum(1), last)

    def _find(self, line: Tensor, target: Tensor) -> Tensor:
        if len(self.before) == 1:
            return torch.searchsorted(self.before[0], target, right=True) - 1
        counts = torch.bincount(line, minlength=len(self.before))
        rank = torch.arange(len(line), device=line.device) - (counts.cumsum(0) - counts)[line]
        padded = torch.zeros(len(counts), int(counts.max()), dtype=target.dtype, device=target.device)
        padded[line, rank] = target
        return torch.searchsorted(self.before, padded, right=True)[line, rank] - 1
