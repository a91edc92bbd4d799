"""The one loop that every method runs in.

At each step the model has said what comes next after every row. What that decides is settled exactly; the policy then picks
which of the candidates that decide nothing yet live on, and the model advances only those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from beforehand.estimators.frontier import Expansion, Frontier, Picks, Tables, tables_of
from beforehand.estimators.tally import Tally, all_at_start, settled_at_start
from beforehand.models import Model, State
from beforehand.queries import Automaton

# A question without a horizon is followed until less than this is undecided, or for so many steps.
TOLERANCE = 1e-3
LONGEST = 2_000


@dataclass(frozen=True)
class Run:
    """What a policy may know when it starts."""

    model: Model
    tables: Tables
    histories: Sequence[Sequence[int]]
    keys: Tensor  # one per history, for `uniforms`
    read: State  # the model after reading the histories

    @property
    def device(self) -> torch.device:
        """Where the model's numbers are."""
        return self.read.log_probs.device

    @property
    def automaton(self) -> Automaton:
        """The questions."""
        return self.tables.automaton

    @property
    def steps(self) -> int:
        """At most so many events are looked at."""
        return self.automaton.horizon or LONGEST


class Policy(Protocol):
    """A method at work on one batch: the third of the four contracts."""

    def open_mass(self, expansion: Expansion) -> Tensor:
        """[histories]: how much is undecided before this step."""
        ...

    def settle(self, expansion: Expansion) -> None:
        """Takes in what the next event decides."""
        ...

    def select(self, expansion: Expansion) -> Picks:
        """Says who lives on."""
        ...

    def advance(self, model: Model, expansion: Expansion, picks: Picks) -> Frontier:
        """Steps the model; `plain_advance`, unless the policy knows some of the rows already."""
        ...

    def tallies(self) -> list[Tally]:
        """What was found, per question."""
        ...


def run(
    model: Model, automaton: Automaton, histories: Sequence[Sequence[int]], keys: Tensor, make: Callable[[Run], Policy]
) -> list[Tally]:
    """Answers the questions of an automaton for a batch of histories: one tally per question.

    `keys` holds one number per history, the root of all its randomness; see `history_keys`.
    """
    if automaton.start < 0:
        return all_at_start(automaton, len(histories))
    state = model.start(histories)
    device = state.log_probs.device
    prepared = Run(model, tables_of(automaton, device), histories, keys.to(device), state)
    policy = make(prepared)
    follow(prepared, policy, begin(prepared))
    return settled_at_start(automaton, policy.tallies())


def begin(run: Run) -> Frontier:
    """One row a history, with weight one."""
    count = len(run.histories)
    owner = torch.arange(count, device=run.device)
    weight = torch.zeros(count, dtype=torch.float64, device=run.device)
    return Frontier(owner, torch.full_like(owner, run.tables.start), weight, run.read)


def follow(run: Run, policy: Policy, frontier: Frontier) -> None:
    """The loop."""
    endless = run.automaton.horizon is None
    for step in range(1, run.steps + 1):
        expansion = Expansion(step, frontier, run.tables, len(run.histories))
        if endless:
            expansion.closed = policy.open_mass(expansion) < TOLERANCE
        policy.settle(expansion)
        if step == run.steps:
            return
        picks = policy.select(expansion)
        if not len(picks.rows):
            return
        frontier = policy.advance(run.model, expansion, picks)


def plain_advance(model: Model, expansion: Expansion, picks: Picks) -> Frontier:
    """Every pick costs a call."""
    return expansion.take(picks, model.advance(expansion.frontier.state, picks.rows, picks.events))
