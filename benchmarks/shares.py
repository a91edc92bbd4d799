"""Where the time of many answers goes: the model's own operations, and the engine's, largest first.

python benchmarks/shares.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.shared import SHARED, checkpoint, sequences

import beforehand as bh
from beforehand.estimators import engine, sieve
from beforehand.models import Recurrent

PARTS = {
    "the model's steps": (Recurrent, "advance"),
    "reading the histories": (Recurrent, "start"),
    "scoring the candidates": (sieve.SievePolicy, "_score"),
    "picking who lives": (sieve, "sift"),
    "settling what is decided": (sieve.SievePolicy, "settle"),
    "all": (engine, "follow"),
}


def main() -> None:
    if not SHARED.exists():
        print("../shared is not here: no course checkpoint to ask")
        return
    torch.set_num_threads(1)
    model = bh.prepare(checkpoint("moocs"), sequences("moocs", 1_000, 50), progress=False)
    histories = sequences("moocs", 100, 5)
    for name, (home, function) in PARTS.items():
        setattr(home, function, named(name, getattr(home, function)))
    ask: dict[str, Any] = {"method": "sieve", "budget": 1_000}
    bh.ask_many(model, ['P(when("30") = 10)'], histories[:5], **ask)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        bh.ask_many(model, ['P(when("30") = 10)'], histories, **ask)
    found = {each.key: each for each in profiled.key_averages()}
    whole = found["all"].cpu_time_total + found["reading the histories"].cpu_time_total
    for name in PARTS:
        if name != "all":
            print(f"{found[name].cpu_time_total / whole:6.1%}  {name}")
    operations = sorted((e for e in profiled.key_averages() if e.key.startswith("aten::")), key=lambda e: -e.self_cpu_time_total)
    print("operations: " + ", ".join(f"{e.key[6:]} {e.self_cpu_time_total / whole:.0%}" for e in operations[:10]))


def named(name: str, function):  # type: ignore[no-untyped-def]
    def recorded(*arguments, **options):  # type: ignore[no-untyped-def]
        with record_function(name):
            return function(*arguments, **options)

    return recorded


if __name__ == "__main__":
    main()
