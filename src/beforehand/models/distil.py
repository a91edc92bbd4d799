"""`prepare`: distilling a surrogate from a model, once, so that questions can look ahead.

The model's full next-event distributions, not only the events that came, are added up by context: each place of a sequence
tells as much as many samples would. Sequences come from the user, or from the model's own futures where there are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor

from beforehand.errors import ModelError
from beforehand.events import Vocabulary
from beforehand.models.ngrams import Contexts, grow
from beforehand.models.protocol import Model, by_length, with_start
from beforehand.models.surrogate import Prepared, Surrogate

# The size of a surrogate's table, and how long contexts may be: beyond, the dynamic programme takes longer than it helps.
MOST_ENTRIES = 4_000_000
LARGEST_VOCABULARY = 1_500
LONGEST_CONTEXT = 4
# A context that the log shows less often says little that its shorter one does not.
RARELY = 4
# How many observations the shorter context counts for; chosen in docs/explanation/lookahead.md.
STRENGTH = 3.0
ROWS_AT_ONCE = 2_048
OWN_FUTURES, OWN_LENGTH = 2_000, 40


def prepare(model: Model, sequences: Iterable[Iterable[Any]] | None = None, *, seed: int = 0, progress: bool = True) -> Prepared:
    """The model with its lookahead, from sequences of labels or ids, or from its own futures where there are none.

    >>> from beforehand import Markov, Vocabulary, ask
    >>> model = Markov.from_table([[0.5, 0.5], [0.9, 0.1]], Vocabulary(["calm", "storm"]))
    >>> prepare(model, [["calm", "storm", "calm", "calm"]] * 10, progress=False).lookahead.probabilities.shape[1]
    2
    """
    if isinstance(model, Prepared):
        model = model.model
    read = own_futures(model, seed) if sequences is None else _ids(sequences, model.vocabulary)
    read = [history for history in with_start(read, model.vocabulary, at_least=0) if len(history) >= _needed(model)]
    if not read:
        raise ModelError(
            "there are no events to learn a lookahead from; give at least one sequence, or none at all for the model's own futures"
        )
    tree = _contexts(read, len(model.vocabulary))
    follow, shorter = (torch.from_numpy(table) for table in tree.follow())
    sums, counts = _observe(model, read, follow, shorter, progress)
    levels = torch.tensor([len(level) for level in tree.levels]).cumsum(0).tolist()
    return Prepared(model, Surrogate(_smooth(tree, sums, counts), torch.from_numpy(tree.parent), follow, shorter, tuple(levels)))


def own_futures(model: Model, seed: int) -> list[list[int]]:
    """Sequences drawn from the model itself, each after a first event of its own."""
    generator = torch.Generator().manual_seed(seed)
    size, end = len(model.vocabulary), model.vocabulary.end_id
    rows = torch.arange(OWN_FUTURES)
    lead = _needed(model) - (model.vocabulary.start_id is not None)
    first = torch.randint(0, size, (OWN_FUTURES, lead), generator=generator).tolist()
    state, drawn = model.start(first), []
    for _ in range(OWN_LENGTH):
        drawn.append(torch.multinomial(state.log_probs.exp().double().cpu(), 1, generator=generator)[:, 0])
        state = model.advance(state, rows.to(state.log_probs.device), drawn[-1].to(state.log_probs.device))
    futures = [begin + future for begin, future in zip(first, torch.stack(drawn, 1).tolist(), strict=True)]
    return futures if end is None else [future[: future.index(end) + 1] if end in future else future for future in futures]


def _needed(model: Model) -> int:
    """How many events, its start symbol included, a model must have read before it can say anything: one, if it does not say."""
    return max(1, int(getattr(model, "needs", 1)))


def _ids(sequences: Iterable[Iterable[Any]], vocabulary: Vocabulary) -> list[list[int]]:
    """Ids of labels that the model knows; others are left out, because a lookahead may be rough."""
    index = vocabulary.index
    return [
        [index[event] if isinstance(event, str) else int(event) for event in each if not isinstance(event, str) or event in index]
        for each in sequences
    ]


def _contexts(read: list[list[int]], vocabulary: int) -> Contexts:
    """As long and as many as the table has room for; of a large vocabulary, the single events that are met most often."""
    order = LONGEST_CONTEXT if vocabulary <= LARGEST_VOCABULARY else 1
    return grow(read, vocabulary, order, rarely=RARELY, most=max(1, MOST_ENTRIES // vocabulary))


def _observe(model: Model, read: list[list[int]], follow: Tensor, shorter: Tensor, progress: bool) -> tuple[Tensor, Tensor]:
    """[contexts, vocabulary] sums of the model's distributions at every place, by the longest known context, and their number."""
    sums = torch.zeros(len(shorter), follow.shape[1], dtype=torch.float64)
    counts = torch.zeros(len(shorter), dtype=torch.float64)
    read = sorted(read, key=len, reverse=True)
    begun, needed = int(model.vocabulary.start_id is not None), _needed(model)
    with _bar(progress) as bar:
        task = bar.add_task("learning to look ahead", total=sum(map(len, read)))
        for first in range(0, len(read), ROWS_AT_ONCE):
            chunk = read[first : first + ROWS_AT_ONCE]
            padded, lengths, _ = by_length(chunk)
            state = model.start([history[begun:needed] for history in chunk])
            contexts = torch.zeros(len(chunk), dtype=torch.long)
            for step in range(padded.shape[1]):
                reading = int((lengths > step).sum())
                events = padded[:reading, step]
                contexts = follow[shorter[contexts[:reading]], events]
                if step < needed - 1:
                    continue
                if step >= needed:
                    device = state.log_probs.device
                    state = model.advance(state, torch.arange(reading, device=device), events.to(device))
                sums.index_add_(0, contexts, state.log_probs.exp().double().cpu())
                counts.index_add_(0, contexts, torch.ones(reading, dtype=torch.float64))
                bar.advance(task, reading)
    return sums, counts


def _smooth(tree: Contexts, sums: Tensor, counts: Tensor) -> Tensor:
    """Each context leans on its shorter one, the empty one on all events alike."""
    parent, levels = torch.from_numpy(tree.parent), [torch.from_numpy(level) for level in tree.levels]
    for level in levels[:0:-1]:
        sums.index_add_(0, parent[level], sums[level])
        counts.index_add_(0, parent[level], counts[level])
    sums[0] = (sums[0] + 1 / sums.shape[1]) / (counts[0] + 1)
    for level in levels[1:]:
        sums[level] = (sums[level] + STRENGTH * sums[parent[level]]) / (counts[level] + STRENGTH)[:, None]
    return sums


def _bar(shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("events"))
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), transient=True, disable=not shown)
