"""What the engine holds at one step: weighted prefixes, and what the model says comes next after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.models import State
from beforehand.queries import Automaton, Ints, Moves


@dataclass(frozen=True)
class StepTables:
    """The automaton's tables of one step, where the model's numbers are."""

    next: Tensor  # [states before, classes]
    emits: Tensor  # [questions, states before, classes]
    emitting: tuple[bool, ...]  # per question: does it take any outcome at this step?
    after: int  # how many states there are after it
    _takes: dict[int, Tensor] = field(default_factory=dict)

    @property
    def single(self) -> bool:
        """Are all rows in the same state, before and after?"""
        return len(self.next) == self.after == 1

    def takes(self, question: int, outcomes: int) -> Tensor:
        """[classes, outcomes]: 1 where a class of event decides the question so, from the only state there is."""
        if question not in self._takes:
            hit = torch.nn.functional.one_hot(self.emits[question, 0] + 1, outcomes + 1)
            self._takes[question] = hit[:, 1:].double()
        return self._takes[question]

    @cached_property
    def running(self) -> Tensor:
        """[states, classes]: is something left to decide after this move?"""
        return self.next >= 0

    @cached_property
    def all_running(self) -> bool:
        """Does no event decide everything?"""
        return bool(self.running.all())


class Tables:
    """An automaton ready for the engine: tables per step, made once for all steps that are alike.

    Where deadlines leave only one state that an undecided row can be in, the tables of that step know no other.
    """

    def __init__(self, automaton: Automaton, device: torch.device) -> None:
        self.automaton, self.device = automaton, device
        self.classes = torch.from_numpy(automaton.classes).to(device)
        self.every_event_apart = bool((automaton.classes == np.arange(len(automaton.classes))).all())
        self._moves: dict[tuple[int, ...], Moves] = {}
        self._known: dict[tuple[int | None, ...], StepTables] = {}
        self._at_step: dict[int, StepTables] = {}
        self._membership: dict[torch.dtype, Tensor] = {}
        self._reached = [np.arange(automaton.states) == automaton.start]

    def membership(self, dtype: torch.dtype = torch.float64) -> Tensor:
        """[vocabulary, classes]: 1 where an event is in a class."""
        if dtype not in self._membership:
            self._membership[dtype] = torch.nn.functional.one_hot(self.classes, self.automaton.class_count).to(dtype)
        return self._membership[dtype]

    @property
    def start(self) -> int:
        """The state before the first event."""
        return self.automaton.start if self._only(0) is None else 0

    def states(self, step: int) -> int:
        """How many states there are after a step."""
        return self.automaton.states if self._only(step) is None else 1

    def at(self, step: int) -> StepTables:
        """The tables of one step."""
        if step not in self._at_step:
            self._at_step[step] = self._made(step)
        return self._at_step[step]

    def _made(self, step: int) -> StepTables:
        before, after = self._only(step - 1), self._only(step)
        key = (*self.automaton.phase(step), before, after)
        if key not in self._known:
            moves = self._moves_at(step)
            rows = slice(None) if before is None else slice(before, before + 1)
            onward, emits = moves.next[rows], moves.emits[:, rows]
            if after is not None:
                onward = np.minimum(onward, 0)
            emitting = tuple(bool(each.any()) for each in emits >= 0)
            self._known[key] = StepTables(self._tensor(onward), self._tensor(emits), emitting, self.states(step))
        return self._known[key]

    def _tensor(self, table: Ints) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(table)).to(self.device)

    def _moves_at(self, step: int) -> Moves:
        phase = self.automaton.phase(step)
        if phase not in self._moves:
            self._moves[phase] = self.automaton.at(step)
        return self._moves[phase]

    def _only(self, step: int) -> int | None:
        """The one state in which anything can be undecided after a step; None if there are several, or no horizon."""
        if self.automaton.horizon is None or self.automaton.states == 1:
            return None
        while len(self._reached) <= step:
            lands = self._moves_at(len(self._reached)).next[self._reached[-1]]
            reached = np.zeros(self.automaton.states, dtype=bool)
            reached[lands[lands >= 0]] = True
            self._reached.append(reached)
        states = np.flatnonzero(self._reached[step])
        return int(states[0]) if len(states) == 1 else None


@lru_cache(maxsize=64)
def tables_of(automaton: Automaton, device: torch.device) -> Tables:
    """The tables of the last few dozen automata are kept."""
    return Tables(automaton, device)


@dataclass(frozen=True)
class Frontier:
    """Rows that are still undecided: whose history each belongs to, where its automaton is, and the logarithm of its weight."""

    owner: Tensor
    automaton: Tensor
    log_weight: Tensor
    state: State

    def __len__(self) -> int:
        return len(self.owner)


@dataclass(frozen=True)
class Picks:
    """Candidates that live on: row `rows[i]` takes the event `events[i]` and carries `log_weight[i]`."""

    rows: Tensor
    events: Tensor
    log_weight: Tensor


class Expansion:
    """One step ahead of every row: all next events at once, summed by class where only the class matters."""

    def __init__(self, step: int, frontier: Frontier, tables: Tables, histories: int) -> None:
        self.step, self.frontier, self.histories = step, frontier, histories
        self.tables, self.moves = tables, tables.at(step)
        found, wanted = tuple(frontier.state.log_probs.shape), (len(frontier), len(tables.classes))
        if found != wanted:
            raise ModelError(f"the model gave log_probs of shape {found}; wanted are {wanted[0]} rows of {wanted[1]} events")
        self.closed: Tensor | None = None  # histories about which nothing more needs to be known

    @cached_property
    def shares(self) -> Tensor:
        """[rows, vocabulary] in the model's own precision, and normalised up to its rounding."""
        return self.frontier.state.log_probs.exp()

    @cached_property
    def probs(self) -> Tensor:
        """The same in float64."""
        return self.shares.double()

    @cached_property
    def class_masses(self) -> Tensor:
        """[rows, classes] float64, normalised."""
        return self._class_sums * self.scale[:, None]

    @cached_property
    def weight(self) -> Tensor:
        """[rows] float64."""
        return self.frontier.log_weight.exp()

    @cached_property
    def _class_sums(self) -> Tensor:
        if self.tables.every_event_apart:
            return self.probs
        return (self.shares @ self.tables.membership(self.shares.dtype)).double()

    @cached_property
    def scale(self) -> Tensor:
        """[rows]: what makes the row's probabilities sum to one exactly; a model that gives no distribution is caught here."""
        total = self._class_sums.sum(1)
        off = float((total - 1).abs().max()) if len(total) else 0.0
        if not off < 1e-3:
            worst = float(total[(total - 1).abs().nan_to_num(torch.inf).argmax()])
            raise ModelError(
                f"the model gave no distribution at step {self.step}: the probabilities of one row sum to {worst:.6g}, not 1"
            )
        return 1 / total

    @cached_property
    def running_classes(self) -> Tensor:
        """[rows or 1, classes]: does the question stay open after an event of the class?"""
        running = self.moves.running
        if self.closed is not None:
            return running[self.frontier.automaton] & ~self.closed[self.frontier.owner][:, None]
        return running if len(running) == 1 else running[self.frontier.automaton]

    @cached_property
    def running(self) -> Tensor:
        """[rows or 1, vocabulary]: the same for every event."""
        return self.running_classes if self.tables.every_event_apart else self.running_classes[:, self.tables.classes]

    @cached_property
    def running_mass(self) -> Tensor:
        """[rows]: the chance that the next event decides nothing."""
        return (self.class_masses * self.running_classes).sum(1)

    def decided(self, question: int) -> Tensor:
        """[rows, outcomes]: the chance that the next event decides the question so."""
        outcomes = self.tables.automaton.outcomes[question]
        if len(self.moves.next) == 1 and not self.tables.every_event_apart:
            return self.class_masses @ self.moves.takes(question, outcomes)
        emits = self.moves.emits[question][self.frontier.automaton]
        found = torch.zeros(len(emits), outcomes + 1, dtype=torch.float64, device=emits.device)
        found.scatter_add_(1, torch.where(emits < 0, outcomes, emits), self.class_masses)
        return found[:, :outcomes]

    def lands(self, rows: Tensor, events: Tensor) -> Tensor:
        """The automaton's state after an event on a row; −1 when all is decided."""
        return self.moves.next[self.frontier.automaton[rows], self.tables.classes[events]]

    def take(self, picks: Picks, state: State) -> Frontier:
        """The next frontier."""
        owner = self.frontier.owner[picks.rows]
        return Frontier(owner, self.lands(picks.rows, picks.events), picks.log_weight, state)


def by_history(values: Tensor, owner: Tensor, histories: int) -> Tensor:
    """Sums rows of the same history: [rows, …] to [histories, …]."""
    return torch.zeros(histories, *values.shape[1:], dtype=values.dtype, device=values.device).index_add_(0, owner, values)


class Layout:
    """Rows of each history side by side: [rows, …] padded to [histories, most rows of one, …]; owners must be sorted."""

    def __init__(self, owner: Tensor, histories: int) -> None:
        self.histories, self.owner = histories, owner
        if histories == 1:
            self.width, self.full, self.begins = len(owner), True, torch.zeros(1, dtype=torch.long, device=owner.device)
            return
        counts = torch.bincount(owner, minlength=histories)
        self.width = int(counts.max()) if len(counts) else 0
        self.full = len(owner) == histories * self.width
        self.begins = torch.cumsum(counts, 0) - counts

    @cached_property
    def _place(self) -> Tensor:
        return self.owner * self.width + torch.arange(len(self.owner), device=self.owner.device) - self.begins[self.owner]

    def pad(self, values: Tensor, fill: float) -> Tensor:
        """Rows to their places."""
        if self.full:
            return values.reshape(self.histories, self.width, *values.shape[1:])
        shape = (self.histories * self.width, *values.shape[1:])
        padded = torch.full(shape, fill, dtype=values.dtype, device=values.device)
        padded[self._place] = values
        return padded.reshape(self.histories, self.width, *values.shape[1:])

    def rows(self, histories: Tensor, slots: Tensor) -> Tensor:
        """The row in a slot of a history."""
        return self.begins[histories] + slots
