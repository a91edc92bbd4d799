"""How long questions over a vocabulary of 50 000 events take to compile; wanted: under 50 ms, the first five larger than usual.

python benchmarks/compiling.py
"""

from __future__ import annotations

import statistics
import time

import beforehand as bh
from beforehand.queries import compile_questions

QUESTIONS = [
    "P(count(w1) = 5000 within 10000)",
    "P(count(w1) = 100 within 200 and count(w2) = 100 within 200)",
    "P(" + " then ".join(f"w{i}" for i in range(100)) + " within 200)",
    "which(" + ", ".join(f"w{i}" for i in range(500)) + ") within 20",
    "P(matches (w1?){500} w2 within 600)",
    "P(w5 within 30)",
    "P(/7$/ before w3)",
    "P(when(w5) = 10)",
    "event(10)",
    "which(w1, w2, w3) within 30",
    "count(w3) within 1000",
    "P(count(w1) = 500 within 1000)",
    "P(count(w1) in 5..10 within 40 and count(w2) <= 7 within 60)",
    "P((count(w1) = 3 within 100) and not (w2 within 10))",
    "P(w1 then w2 then w3 immediately then w5 within 50)",
    "P(matches (w1 w2?)* w3 within 20 | count(w4) >= 2 within 9)",
]


def main() -> None:
    vocabulary = bh.Vocabulary([f"w{i}" for i in range(50_000)])
    bh.parse("next")
    for text in QUESTIONS:
        times = []
        for _ in range(5):
            compile_questions.cache_clear()
            begun = time.perf_counter()
            automaton = compile_questions((bh.parse(text),), vocabulary)
            automaton.at(1)
            times.append(1000 * (time.perf_counter() - begun))
        print(f"{statistics.median(times):6.1f} ms   {automaton.states:5} states × {automaton.class_count:5} classes   {text[:90]}")


if __name__ == "__main__":
    main()
