"""Any causal language model of Hugging Face's transformers, by its raw logits: its generation settings change nothing.

A history is read once and its keys and values are shared by all rows (`branches`), by an attention of our own that transformers
lets a model be given (`shared_attention`). A model that cannot be given one, or looks at a sliding window only, reads every row
anew at each step: slow, but right.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from beforehand.errors import HistoryError, ModelError
from beforehand.events.tokens import Tokens
from beforehand.models.branches import Branches, Nodes, Trunk
from beforehand.models.protocol import Ids, State, with_start
from beforehand.models.tokenizer import tokens_of

# Rows that go through the network at once: as many as its products like, as few as their activations fit into the cache.
ROWS_AT_ONCE = 256
# How far two ways to the same logits may differ by rounding, and the same way in another row, against the spread of the logits.
ROUNDING, EXACT = 0.02, 1e-3


class HuggingFace:
    """A causal language model and the tokenizer that belongs to it.

    Its events are tokens: a history is a text, or ids. The tokenizer's end of text is the end of a sequence.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model.eval()
        self.vocabulary: Tokens = tokens_of(tokenizer, _outputs(model))
        self.longest = _context(model)
        self.device = next(model.parameters()).device
        accepted = inspect.signature(model.forward).parameters
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        bos = getattr(tokenizer, "bos_token_id", None)
        self._first = [] if bos is None else [int(bos)]
        self._check_order()
        self.bytes_per_call = 0  # what a step of a row leaves behind
        self.shares = self._can_share()

    @torch.inference_mode()
    def start(self, histories: Sequence[Ids]) -> State:
        """Reads every history; those of the same length together."""
        read = [history or self._first for history in with_start(histories, self.vocabulary, at_least=0)]
        for number, history in enumerate(read):
            if not history:
                raise HistoryError(
                    f"history {number} is empty, and this model has no token that a text begins with; give it a text"
                )
            self._check_length(len(history), f"history {number} has")
        return self._shared_start(read) if self.shares else self._anew(read)

    @torch.inference_mode()
    def advance(self, state: State, rows: Tensor, events: Tensor) -> State:
        """One token on each row."""
        if not self.shares:
            memory: list[list[int]] = state.memory
            return self._anew([[*memory[row], event] for row, event in zip(rows.tolist(), events.tolist(), strict=True)])
        branches = state.memory.take(rows)
        if not len(rows):
            empty = [each.new_empty(0, len(each), each.shape[2]) for each in branches.trunks[0].keys]
            return State(state.log_probs[:0], branches.grown(Nodes(empty, empty)))
        found = torch.empty(len(rows), len(self.vocabulary), device=self.device)
        made: list[Nodes] = []
        for part in torch.split(torch.arange(len(rows), device=self.device), ROWS_AT_ONCE):
            some = Branches(branches.trunks, branches.owner[part], branches.steps, branches.paths[:, part])
            found[part], nodes = self._through(some, events[part])
            made.append(nodes)
        layers = range(len(branches.trunks[0].keys))
        keys, values = ([torch.cat([getattr(each, name)[i] for each in made]) for i in layers] for name in ("keys", "values"))
        return State(found, branches.grown(Nodes(keys, values)))

    def _through(self, branches: Branches, events: Tensor) -> tuple[Tensor, Nodes]:
        """One step of the network for a few rows."""
        positions = branches.positions
        self._check_length(int(positions.max()) + 1 if len(positions) else 0, "a history and what comes after it have")
        from beforehand.models.shared_attention import stepping

        ids = events[:, None].to(self.device)
        with stepping(branches) as keeper:
            logits = self.model(input_ids=ids, position_ids=positions[:, None], past_key_values=keeper, use_cache=True).logits
        return self._next(logits[:, -1]), keeper.nodes

    def _shared_start(self, read: list[list[int]]) -> State:
        found = torch.empty(len(read), len(self.vocabulary), device=self.device)
        trunks: list[Trunk] = [Trunk([], [])] * len(read)
        for numbers in _alike(read, ROWS_AT_ONCE):
            output = self.model(input_ids=self._ids(read, numbers), use_cache=True, **self._last_only)
            found[numbers] = self._next(output.logits[:, -1])
            layers = output.past_key_values.layers
            for place, number in enumerate(numbers):
                trunks[number] = Trunk([layer.keys[place] for layer in layers], [layer.values[place] for layer in layers])
        owner = torch.arange(len(read), device=self.device)
        return State(found, Branches(tuple(trunks), owner, (), owner.new_empty(0, len(read))))

    def _anew(self, read: list[list[int]]) -> State:
        """Without any memory but the tokens."""
        found = torch.empty(len(read), len(self.vocabulary), device=self.device)
        self._check_length(max(map(len, read), default=0), "a history and what comes after it have")
        for numbers in _alike(read, ROWS_AT_ONCE // 8):
            found[numbers] = self._next(self.model(input_ids=self._ids(read, numbers), **self._last_only).logits[:, -1])
        return State(found, read)

    def _ids(self, read: list[list[int]], numbers: list[int]) -> Tensor:
        return torch.tensor([read[number] for number in numbers], device=self.device)

    def _next(self, logits: Tensor) -> Tensor:
        """Normalised in float32, whatever the network's precision."""
        return logits.float().log_softmax(-1)

    def _check_length(self, length: int, what: str) -> None:
        if self.longest is not None and length > self.longest:
            raise HistoryError(
                f"{what} {length:,} tokens; this model reads at most {self.longest:,}: shorten the text or the horizon"
            )

    @torch.inference_mode()
    def _check_order(self) -> None:
        """What comes next must not depend on what comes after."""
        size = len(self.vocabulary)
        first = self.model(input_ids=torch.tensor([[0, 1 % size], [0, size - 1]], device=self.device)).logits[:, 0].float()
        if bool((first[0] - first[1]).abs().max() > EXACT * first[0].std()):
            raise ModelError(
                f"{type(self.model).__name__} is not a causal language model: what it says of a token depends on the tokens after "
                "it; load one with AutoModelForCausalLM"
            )

    @torch.inference_mode()
    def _can_share(self) -> bool:
        """Tried out: stepping on shared keys must give what reading the whole text gives."""
        from beforehand.models.shared_attention import give

        if _windowed(self.model.config) or not give(self.model):
            return False
        size = len(self.vocabulary)
        text = [number % size for number in (5, 3, 8, 1)]
        try:
            begun = self._shared_start([text[:2], text[:1]])
            rows = torch.tensor([0, 0, 1], device=self.device)
            events = torch.tensor([text[2], text[3], text[1]], device=self.device)
            nodes = self._through(begun.memory.take(rows), events)
            grown = begun.memory.take(rows).grown(nodes[1])
            self.bytes_per_call = sum(each[0].nbytes for each in (*nodes[1].keys, *nodes[1].values))
            stepped, _ = self._through(grown, torch.full((3,), text[3], device=self.device))
            whole = [[*text[:3], text[3]], [*text[:2], text[3], text[3]], [text[0], text[1], text[3]]]
            off = (stepped - self._anew(whole).log_probs).abs().max()
        except (AttributeError, TypeError, ValueError, KeyError, RuntimeError, NotImplementedError):
            return False
        return bool(off < ROUNDING * stepped.std())


def _alike(read: list[list[int]], most: int) -> list[list[int]]:
    """The numbers of histories of the same length, at most so many together."""
    lengths: dict[int, list[int]] = {}
    for number, history in enumerate(read):
        lengths.setdefault(len(history), []).append(number)
    return [numbers[first : first + most] for numbers in lengths.values() for first in range(0, len(numbers), most)]


def _outputs(model: Any) -> int:
    output = model.get_output_embeddings()
    if output is None or not hasattr(output, "weight"):
        raise ModelError(f"{type(model).__name__} does not predict tokens; load a causal language model with AutoModelForCausalLM")
    return int(output.weight.shape[0])


def _context(model: Any) -> int | None:
    config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
    longest = getattr(config, "max_position_embeddings", None)
    return int(longest) if longest else None


def _windowed(config: Any) -> bool:
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    kinds = getattr(config, "layer_types", None)
    if kinds is not None:
        return any(kind != "full_attention" for kind in kinds)
    return bool(getattr(config, "sliding_window", None)) and getattr(config, "use_sliding_window", True)
