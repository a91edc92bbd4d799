"""`train`: from a log to a model that can be asked, its lookahead included."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor
from torch.nn import functional

from beforehand.errors import ModelError
from beforehand.events import EventLog
from beforehand.models import checkpoints
from beforehand.models.batches import NOTHING, batches, tensors, windows
from beforehand.models.card import Quality, data_of, measure
from beforehand.models.checkpoints import seed_everything
from beforehand.models.distil import prepare
from beforehand.models.markov import Markov
from beforehand.models.networks import Network, network
from beforehand.models.settings import KINDS, Settings, settings_for

# A checkpoint is written after this many seconds, and after every pass.
SECONDS_BETWEEN = 20.0
# The lookahead is learned from at most so many users: more do not make it better.
USERS_FOR_LOOKAHEAD, EVENTS_FOR_LOOKAHEAD = 4_000, 300_000
ORDERS = range(4)


def train(
    log: EventLog,
    kind: str = "recurrent",
    *,
    settings: Settings | str | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    lookahead: bool = True,
    device: str | None = None,
    progress: bool = True,
) -> Any:
    """A model of a log: `"recurrent"` (an LSTM), `"transformer"`, or `"markov"` of the order that suits the log best.

    `settings` are those that suit the log's size, `"paper"`, or a `bh.models.Settings`. A tenth of the users is held out; training
    stops when it does not help them any more. With `checkpoint`, a folder, a run that was killed goes on from there. The model's
    `card` tells its data, settings, losses and calibration. The same seed gives the same model, on the same machine.
    """
    if not isinstance(log, EventLog):
        raise ModelError(f"train takes an event log, as bh.read_events gives; got {type(log).__name__}")
    if kind not in KINDS:
        raise ModelError(f"a model is one of {', '.join(KINDS)}; got {kind!r}")
    chosen = settings_for(log.events, settings, kind, epochs=epochs, seed=seed)
    if log.events < 2 or len(log) < 2:
        raise ModelError(
            f"there is too little to learn from: {len(log)} user(s), {log.events} event(s); at least two users are needed"
        )
    learn, held = log.split(chosen.validation, chosen.seed) if chosen.validation else (log, log)
    if chosen.kind == "markov":
        return _with_card(*_markov(learn, held, chosen), log, chosen)
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    run = _Run(learn, held, chosen, where, None if checkpoint is None else Path(checkpoint), progress)
    model = run.finished().as_model(log.vocabulary)
    state = run.progress
    card = {"losses": state.losses, "best": state.losses[state.best], "seconds": round(state.seconds, 1)}
    return _with_card(prepare(model, _a_part(learn), progress=progress) if lookahead else model, card, log, chosen)


def _a_part(learn: EventLog) -> EventLog:
    """As much of a log as a lookahead needs."""
    enough = 1 + int(np.searchsorted(learn.offsets, EVENTS_FOR_LOOKAHEAD))
    return learn.take(np.arange(min(len(learn), USERS_FOR_LOOKAHEAD, enough)))


def _with_card(model: Any, found: dict[str, Any], log: EventLog, settings: Settings) -> Any:
    versions = {name: importlib.metadata.version(name) for name in ("beforehand", "torch")}
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    model.card = {"made": made, "versions": versions, "data": data_of(log), "settings": settings.described(), **found}
    return model


def _markov(learn: EventLog, held: EventLog, settings: Settings) -> tuple[Markov, dict[str, Any]]:
    """The order that predicts held-out users best."""
    begun, found = time.perf_counter(), markov_by_order(learn, held, ORDERS)
    losses = [{"order": order, **quality} for order, (_, quality) in zip(ORDERS, found, strict=False)]
    best = min(range(len(losses)), key=lambda i: losses[i]["loss"])
    return found[best][0], {"losses": losses, "best": losses[best], "seconds": round(time.perf_counter() - begun, 1)}


def markov_by_order(learn: EventLog, held: EventLog, orders: Sequence[int]) -> list[tuple[Markov, dict[str, float]]]:
    """A model of each order and how well it predicts held-out users, up to the first that has too many contexts for a table."""
    found = []
    for order in orders:
        try:
            model = Markov.fit(learn, learn.vocabulary, order)
        except ModelError:
            break
        found.append((model, markov_quality(model, held)))
    return found


def markov_quality(model: Markov, held: EventLog) -> dict[str, float]:
    """Loss, accuracy and calibration on held-out users."""
    quality, of = Quality(), windows(held, max(1, int(held.lengths.max(initial=1))))
    for chosen in batches(of, 100_000, None):
        ids, targets = tensors(of, chosen)
        context = torch.zeros(len(ids), dtype=torch.long)
        for place in range(ids.shape[1]):
            context = model.follow[context, ids[:, place]]
            there = targets[:, place] != NOTHING
            quality.add(model.probabilities[context[there]].log(), targets[there, place])
    return quality.measured()


class _Run:
    """One training run."""

    def __init__(
        self, learn: EventLog, held: EventLog, settings: Settings, device: torch.device, folder: Path | None, shown: bool
    ) -> None:
        self.settings, self.device, self.folder, self.shown = settings, device, folder, shown
        self.learn, self.held = windows(learn, settings.window), windows(held, settings.window)
        self.network: Network = network(len(learn.vocabulary), settings).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self.progress, self.best = checkpoints.Progress(), dict[str, Tensor]()
        self.about = {"data": data_of(learn)["fingerprint"], "settings": settings.described()}
        self.batches_a_pass = len(batches(self.learn, settings.batch_events, 0))
        if folder is not None and (found := checkpoints.resume(folder, self.about, self.network, self.optimizer)):
            self.progress, self.best = found
        self.written = time.perf_counter()

    def finished(self) -> Network:
        """Trains until it does not help any more; the best network that was met."""
        with _bar(self.shown) as bar:
            task = bar.add_task("", total=self.settings.epochs * self.batches_a_pass, loss="", speed="")
            try:
                while not self._enough():
                    self._pass(bar, task)
            except KeyboardInterrupt:
                self._write()
                raise
        self.network.load_state_dict(self.best)
        return self.network

    def _enough(self) -> bool:
        stale = len(self.progress.losses) - 1 - self.progress.best >= self.settings.patience
        return self.progress.epoch >= self.settings.epochs or (bool(self.progress.losses) and stale)

    def _pass(self, bar: Progress, task: TaskID) -> None:
        state, begun = self.progress, time.perf_counter()
        order = batches(self.learn, self.settings.batch_events, self.settings.seed * 1_000 + state.epoch)
        self.network.train()
        while state.batch < len(order):
            seconds = time.perf_counter()
            events = self._step(order[state.batch])
            speed = f"{events / (time.perf_counter() - seconds):,.0f} events/s"
            last = f", held out {state.losses[-1]['loss']:.3f}" if state.losses else ""
            shown = f"loss {state.running / max(1, state.seen):.3f}{last}"
            bar.update(task, completed=state.step, description=f"pass {state.epoch + 1}", loss=shown, speed=speed)
            if self.folder is not None and time.perf_counter() - self.written > SECONDS_BETWEEN:
                state.seconds += time.perf_counter() - begun
                begun = time.perf_counter()
                self._write()
        self._judge()
        state.seconds += time.perf_counter() - begun
        self._write()

    def _step(self, chosen: Any) -> int:
        """One batch; what is random about it follows from the seed and its number."""
        settings, state = self.settings, self.progress
        seed_everything(settings.seed, state.step)
        ids, targets = (each.to(self.device) for each in tensors(self.learn, chosen))
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * self._rate()
        logits = self.network(ids).flatten(0, 1)
        loss = functional.cross_entropy(logits, targets.flatten(), ignore_index=NOTHING)
        if not bool(torch.isfinite(loss)):
            raise ModelError(f"the loss is {float(loss.detach())} after {state.step} steps; train with a lower learning_rate")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        events = int((targets != NOTHING).sum())
        state.running, state.seen = state.running + float(loss.detach()) * events, state.seen + events
        state.batch, state.step = state.batch + 1, state.step + 1
        return events

    def _rate(self) -> float:
        """The learning rate's share at this step: up in the warm-up, then level or down to a twentieth."""
        done = self.progress.step / max(1, self.settings.epochs * self.batches_a_pass)
        if done < self.settings.warm_up:
            return (done + 1e-3) / self.settings.warm_up
        return max(0.05, 1 - done) if self.settings.decay else 1.0

    def _judge(self) -> None:
        """What the pass has brought, and whether this is the best so far."""
        state = self.progress
        found = measure(self.network, self.held, self.settings.batch_events, self.device)
        state.losses.append({"train": state.running / max(1, state.seen), **found})
        if state.best < 0 or self._worth(found) > self._worth(state.losses[state.best]):
            state.best = len(state.losses) - 1
            self.best = {name: each.detach().clone() for name, each in self.network.state_dict().items()}
        state.epoch, state.batch, state.running, state.seen = state.epoch + 1, 0, 0.0, 0

    def _worth(self, found: dict[str, float]) -> float:
        return found["accuracy"] if self.settings.keep == "accuracy" else -found["loss"]

    def _write(self) -> None:
        if self.folder is not None:
            checkpoints.write(self.folder, self.about, self.progress, self.network, self.best, self.optimizer)
        self.written = time.perf_counter()


def _bar(shown: bool) -> Progress:
    columns = (TextColumn("training, {task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"))
    return Progress(*columns, TextColumn("{task.fields[speed]}"), TimeElapsedColumn(), TimeRemainingColumn(), disable=not shown)
