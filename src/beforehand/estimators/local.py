"""A lookahead from the run itself: which event follows which, in the distributions that it has met so far.

Every step tells, for each row, what the model expects after the row's last event. Added up per history, these make a chain of
single events, rough but about this very history; what has not been met yet is taken from a prior. Backwards over the chain and
the automaton, as with a distilled lookahead, gives every candidate its value. Of a large vocabulary, classes of events take the
place of events.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from beforehand.estimators.engine import Run
from beforehand.estimators.frontier import Expansion, StepTables, Tables
from beforehand.estimators.rewards import is_single, rewards

# Events, and events × events × states, beyond which the events are taken together by class; and beyond which there is no chain.
MOST_ENTRIES = 4_000_000
MOST_EVENTS = 512
# How many observations the prior counts for: the average of what was met, or what a distilled lookahead says.
STRENGTH, DISTILLED_STRENGTH = 0.5, 3.0
# A question without a horizon is followed so far; the chain is looked through again each time the steps have grown by this.
FAR, AGAIN = 60, 3


def events_apart(run: Run) -> bool:
    """Is there room for every event in the chains, or only for classes of events?"""
    return _fits(len(run.automaton.classes), run)


def classes_fit(run: Run) -> bool:
    """Is there room for the classes at least?"""
    return _fits(run.automaton.class_count, run)


def _fits(kinds: int, run: Run) -> bool:
    """The same whatever else is in the batch."""
    return kinds <= MOST_EVENTS and kinds**2 * run.automaton.states <= MOST_ENTRIES


class Chains:
    """[histories, kinds, kinds]: what follows each kind of event, from what the run has met and a prior [kinds, kinds]; without
    one, from the average of all that was met."""

    def __init__(self, run: Run, prior: Tensor | None = None) -> None:
        self.run, self.histories = run, len(run.histories)
        vocabulary, classes, device = len(run.automaton.classes), run.tables.classes, run.device
        apart = events_apart(run)
        self.kind = torch.arange(vocabulary, device=device) if apart else classes
        self.class_of = classes if apart else torch.arange(run.automaton.class_count, device=device)
        self.kinds = len(self.class_of)
        precision = run.read.log_probs.dtype
        self.prior = None if prior is None else prior.to(precision)
        self.sums = torch.zeros(self.histories * (self.kinds + 1), self.kinds, dtype=precision, device=device)
        self.counts = torch.zeros(self.histories * (self.kinds + 1), dtype=precision, device=device)
        self.last = torch.tensor([self._after(history) for history in run.histories], device=device)

    def _after(self, history: Sequence[int]) -> int:
        start = self.run.model.vocabulary.start_id
        last = history[-1] if len(history) else start
        return self.kinds if last is None else int(self.kind[last])

    def observe(self, expansion: Expansion) -> None:
        """Learns from the rows."""
        owner, count = expansion.frontier.owner, self.kinds + 1
        seen = expansion.shares if self.kinds == len(self.kind) else expansion.class_masses.to(self.sums.dtype)
        place = owner * count + self.last
        self.sums.index_add_(0, place, seen)
        self.counts.index_add_(0, place, torch.ones_like(seen[:, 0]))

    def descend(self, events: Tensor) -> None:
        """The last event is all that counts."""
        self.last = self.kind[events]

    def table(self) -> tuple[Tensor, Tensor]:
        """[histories, kinds, kinds], and on average [histories, kinds]."""
        sums = self.sums.view(self.histories, self.kinds + 1, self.kinds)
        counts = self.counts.view(self.histories, self.kinds + 1, 1)
        average = sums.sum(1) / counts.sum(1).clamp(min=1)
        prior, strength = (average[:, None], STRENGTH) if self.prior is None else (self.prior, DISTILLED_STRENGTH)
        return ((sums[:, :-1] + strength * prior) / (counts[:, :-1] + strength)), average

    def by_class(self, average: Tensor) -> Tensor:
        """[histories, classes] of [histories, kinds]."""
        empty = torch.zeros(len(average), self.run.automaton.class_count, dtype=average.dtype, device=average.device)
        return empty.index_add_(1, self.class_of, average)


def backwards(chain: Tensor, class_of: Tensor, tables: Tables, reward: list[Tensor], first: int, last: int) -> list[Tensor]:
    """[batch, kinds, states] after `first` events and each later one: the reward still to come, along [batch, kinds, kinds]."""
    value = torch.zeros(len(chain), len(class_of), tables.states(last), dtype=chain.dtype, device=chain.device)
    found, moves = [value], dict[int, _Moves]()
    for step in range(last, first, -1):
        table = tables.at(step)  # the same object for all steps that are alike
        if id(table) not in moves:
            moves[id(table)] = _Moves(table, class_of, reward, chain.dtype)
        found.append(chain @ moves[id(table)].onward(found[-1]))
    return found[::-1]


class _Moves:
    """What an event of each kind does from each state, at one step: [kinds, states before]."""

    def __init__(self, table: StepTables, class_of: Tensor, reward: list[Tensor], dtype: torch.dtype) -> None:
        lands = table.next[:, class_of].T
        self.after, self.goes_on = table.after, lands >= 0
        self.place = torch.arange(len(lands), device=lands.device)[:, None] * table.after + lands.clamp(min=0)
        self.decides = torch.zeros((), dtype=dtype, device=lands.device)
        for emits, each, emitting in zip(table.emits, reward, table.emitting, strict=True):
            if emitting:
                taken = emits[:, class_of].T
                self.decides = self.decides + each[:, taken.clamp(min=0)].to(dtype) * (taken >= 0)

    def onward(self, value: Tensor) -> Tensor:
        """[batch, kinds, states before]: what the event decides, and the value of where it leads."""
        ahead = value if self.after == 1 else value.flatten(1)[:, self.place]
        return torch.addcmul(self.decides, ahead, self.goes_on.to(ahead.dtype))


class Local:
    """A guide that knows nothing but the run."""

    def __init__(self, run: Run) -> None:
        self.run, self.chains = run, Chains(run)
        self.single = is_single(run.automaton)
        self.values: list[Tensor] = []
        self.looked = 0

    def candidates(self, expansion: Expansion) -> Tensor:
        """Learns from the rows, and looks through the chains again if it is time to."""
        self.chains.observe(expansion)
        if not self.values or expansion.step >= AGAIN * self.looked:
            chain, average = self.chains.table()
            reward = rewards(self.run.tables, self.chains.by_class(average))
            last = self.run.automaton.horizon or expansion.step + FAR
            self.values = backwards(chain, self.chains.class_of, self.run.tables, reward, expansion.step, last)
            self.looked = expansion.step
        ahead = self.values[min(expansion.step - self.looked, len(self.values) - 1)]
        return by_candidate(ahead, self.chains.kind, expansion)

    def descend(self, rows: Tensor, events: Tensor) -> None:
        """One event further."""
        self.chains.descend(events)


def by_candidate(ahead: Tensor, kind: Tensor, expansion: Expansion) -> Tensor:
    """[rows, vocabulary] from [histories, kinds, states after the event]."""
    owner, moves = expansion.frontier.owner, expansion.moves
    if moves.after == 1:
        ahead = ahead[:, :, 0] if ahead.shape[1] == len(kind) else ahead[:, kind, 0]
        return ahead if len(ahead) == 1 else ahead.index_select(0, owner)
    lands = moves.next[expansion.frontier.automaton][:, expansion.tables.classes].clamp(min=0)
    return ahead.flatten(1)[owner].gather(1, kind * moves.after + lands)
