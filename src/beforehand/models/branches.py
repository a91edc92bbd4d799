"""Keys and values of rows that grow out of few histories like branches of trees: everything is kept once.

The keys and values of a history are shared by all rows that began with it. Every event that a row takes is a node, which is shared
by all rows that go on from there; a row is a path of nodes, one a step. Nodes that no living row goes through are let go.

A row looks at the history and at its own path apart, and the two looks are merged by how much weight each had: with l and o the
logarithm of the summed weights and the average of the values of each part,

    l = log(exp l₁ + exp l₂),  o = exp(l₁ − l) o₁ + exp(l₂ − l) o₂

(as in FlashAttention: Dao et al. 2022). So a history's keys meet the queries of all its rows in one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

# Weights of one look that are held at a time.
MOST_WEIGHTS = 16_000_000
# Nodes of a step are sorted out when at most this share of them is still alive.
WORTH_SORTING = 0.75


@dataclass(frozen=True)
class Trunk:
    """The keys and values of one history: per layer [heads, events, width]."""

    keys: list[Tensor]
    values: list[Tensor]

    @property
    def length(self) -> int:
        """How many events were read."""
        return int(self.keys[0].shape[1])


@dataclass(frozen=True)
class Nodes:
    """What was taken at one step: per layer [nodes, heads, width]."""

    keys: list[Tensor]
    values: list[Tensor]

    def __len__(self) -> int:
        return len(self.keys[0])

    def only(self, kept: Tensor) -> Nodes:
        """Some of them."""
        return Nodes(*([each[kept] for each in part] for part in (self.keys, self.values)))


@dataclass(frozen=True)
class Branches:
    """Rows: whose history each began with, and its node at every step since."""

    trunks: tuple[Trunk, ...]
    owner: Tensor  # [rows]
    steps: tuple[Nodes, ...]
    paths: Tensor  # [steps, rows]

    @property
    def depth(self) -> int:
        """How many events every row has taken."""
        return len(self.steps)

    @property
    def positions(self) -> Tensor:
        """[rows]: how many events came before the next."""
        lengths = torch.tensor([trunk.length for trunk in self.trunks], device=self.owner.device)
        return lengths[self.owner] + self.depth

    def take(self, rows: Tensor) -> Branches:
        """Some rows, and of the nodes only those that they go through."""
        steps, paths = [], self.paths[:, rows]
        for step, nodes in enumerate(self.steps):
            kept, place = torch.unique(paths[step], return_inverse=True)
            if len(kept) <= WORTH_SORTING * len(nodes):
                nodes, paths[step] = nodes.only(kept), place
            steps.append(nodes)
        return Branches(self.trunks, self.owner[rows], tuple(steps), paths)

    def grown(self, nodes: Nodes) -> Branches:
        """Every row one node longer."""
        own = torch.arange(len(self.owner), device=self.owner.device)[None]
        return Branches(self.trunks, self.owner, (*self.steps, nodes), torch.cat([self.paths, own]))

    def join(self, others: Sequence[Branches]) -> Branches:
        """Rows of several, as long as each other, under each other."""
        trunks: list[Trunk] = []
        owners, paths = [], []
        before = [0] * self.depth
        for each in others:
            known = [next((i for i, trunk in enumerate(trunks) if trunk is own), None) for own in each.trunks]
            for place, own in enumerate(each.trunks):
                if known[place] is None:
                    known[place] = len(trunks)
                    trunks.append(own)
            owners.append(torch.tensor(known, device=each.owner.device)[each.owner])
            paths.append(each.paths + torch.tensor(before, device=each.owner.device)[:, None])
            before = [count + len(nodes) for count, nodes in zip(before, each.steps, strict=True)]
        steps = tuple(_together([each.steps[step] for each in others]) for step in range(self.depth))
        return Branches(tuple(trunks), torch.cat(owners), steps, torch.cat(paths, 1))


def _together(parts: Sequence[Nodes]) -> Nodes:
    layers = range(len(parts[0].keys))
    return Nodes(
        [torch.cat([part.keys[layer] for part in parts]) for layer in layers],
        [torch.cat([part.values[layer] for part in parts]) for layer in layers],
    )


def look(branches: Branches, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """[rows, query heads, width]: what rows see at the event that they take, with its own key and value [rows, heads, width]."""
    rows, heads, width = key.shape
    query = (query * scale).reshape(rows, heads, -1, width)  # several query heads look at one head of keys
    keys, values = (_path(branches, layer, part, own) for part, own in (("keys", key), ("values", value)))
    weight, seen = _seen(query, keys, values)
    shared_weight, shared = _shared(branches, layer, query)
    both = torch.logaddexp(weight, shared_weight)
    merged = seen * (weight - both).exp()[..., None] + shared * (shared_weight - both).exp()[..., None]
    return merged.reshape(rows, -1, width).to(key.dtype)


def _path(branches: Branches, layer: int, part: str, own: Tensor) -> Tensor:
    """[rows, heads, steps and this one, width]."""
    found = [getattr(nodes, part)[layer].index_select(0, path) for nodes, path in zip(branches.steps, branches.paths, strict=True)]
    return torch.stack([*found, own], 2)


def _seen(query: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the summed weights [..., queries], and the average of the values [..., queries, width]."""
    weights = (query @ keys.transpose(-1, -2)).float()
    most = weights.amax(-1, keepdim=True)
    weights = weights.sub_(most).exp_()
    total = weights.sum(-1, keepdim=True)
    return (most + total.log())[..., 0], (weights.to(values.dtype) @ values).float() / total


def _shared(branches: Branches, layer: int, query: Tensor) -> tuple[Tensor, Tensor]:
    """The look at the histories: all rows of one at once, as many as may be held."""
    rows, heads, group, width = query.shape
    weight = torch.empty(rows, heads, group, device=query.device)
    seen = torch.empty(rows, heads, group, width, device=query.device)
    for number, trunk in enumerate(branches.trunks):
        own = (branches.owner == number).nonzero()[:, 0] if len(branches.trunks) > 1 else torch.arange(rows, device=query.device)
        at_once = max(1, MOST_WEIGHTS // (heads * group * trunk.length))
        for part in torch.split(own, at_once):
            asked = query[part].permute(1, 0, 2, 3).reshape(heads, len(part) * group, width)
            found_weight, found = _seen(asked, trunk.keys[layer], trunk.values[layer])
            weight[part] = found_weight.reshape(heads, len(part), group).transpose(0, 1)
            seen[part] = found.reshape(heads, len(part), group, width).transpose(0, 1)
    return weight, seen
