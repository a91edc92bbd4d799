"""The largest numbers and the running sums of many rows; of long rows by blocks, which is several times faster."""

from __future__ import annotations

import torch
from torch import Tensor

# Rows of so many places are looked at in blocks of so many. In float64 they never are: there, an answer is the same to the last bit
# whatever else is in the batch, and the length of a line comes from the batch.
LONG, BLOCK = 8_192, 512


def _by_block(rows: Tensor) -> bool:
    return rows.shape[1] >= LONG and rows.dtype != torch.float64


def _blocks(rows: Tensor) -> tuple[Tensor, Tensor]:
    """[rows, blocks, BLOCK], and what is left at the end [rows, rest]; views."""
    whole = rows.shape[1] // BLOCK * BLOCK
    return torch.unflatten(rows[:, :whole], 1, (-1, BLOCK)), rows[:, whole:]


def _block_sums(rows: Tensor) -> Tensor:
    whole, rest = _blocks(rows)
    return torch.cat([whole.sum(2), rest.sum(1, keepdim=True)], 1).double()


def totals(rows: Tensor) -> Tensor:
    """[rows] in float64; of long rows, blocks are summed in their own precision."""
    return _block_sums(rows).sum(1) if _by_block(rows) else rows.sum(1, dtype=torch.float64)


def ranks(group: Tensor, sizes: Tensor) -> Tensor:
    """The how manieth of its group each is, where those of a group stand together."""
    return torch.arange(len(group), device=group.device) - (sizes.cumsum(0) - sizes)[group]


def running_sums(lines: Tensor) -> Tensor:
    """[lines, places + 1] in float64, from nothing on."""
    sums = torch.zeros(len(lines), lines.shape[1] + 1, dtype=torch.float64, device=lines.device)
    torch.cumsum(lines, 1, dtype=torch.float64, out=sums[:, 1:])
    return sums


def largest(lines: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest numbers of each line, in descending order, and their places.

    Of a long line, the count-th largest of the blocks' largest numbers is a bound: there are as many numbers that reach it.
    """
    count = min(count, lines.shape[1])
    if not _by_block(lines) or count > lines.shape[1] // BLOCK:
        return torch.topk(lines, count, dim=1)
    bound = torch.topk(_blocks(lines)[0].amax(2), count, dim=1)[0][:, -1:]
    which, places = (lines >= bound).nonzero(as_tuple=True)
    found = torch.bincount(which, minlength=len(lines))
    if int(found.max()) > lines.shape[1] // 8:  # many are equal
        return torch.topk(lines, count, dim=1)
    rank = ranks(which, found)
    values = lines.new_full((len(lines), int(found.max())), -1)
    at = torch.zeros(values.shape, dtype=torch.long, device=lines.device)
    values[which, rank], at[which, rank] = lines[which, places], places
    top, chosen = torch.topk(values, count, dim=1)
    return top, at.gather(1, chosen)


def find(rows: Tensor, which: Tensor, target: Tensor) -> Tensor:
    """The first place of row `which[i]` with which its running sum is above `target[i]`; never one that holds nothing."""
    if not _by_block(rows):
        return _above(rows[which].cumsum(1, dtype=torch.float64), target)
    before = _block_sums(rows).cumsum(1)[which]
    block = _above(before, target)
    left = target - torch.where(block > 0, before.gather(1, (block - 1).clamp(min=0)[:, None])[:, 0], 0)
    place = block[:, None] * BLOCK + torch.arange(BLOCK, device=rows.device)
    inside = torch.where(place < rows.shape[1], rows[which[:, None], place.clamp(max=rows.shape[1] - 1)], 0)
    return block * BLOCK + _above(inside.cumsum(1, dtype=torch.float64), left)


def _above(sums: Tensor, target: Tensor) -> Tensor:
    """Sums are rounded, so that the target may be above the last: that is the last place where anything is."""
    place = torch.searchsorted(sums, target[:, None], right=True)[:, 0]
    return place.minimum(torch.searchsorted(sums, sums[:, -1:].contiguous())[:, 0])
