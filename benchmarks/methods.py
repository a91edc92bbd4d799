"""What each method costs and how far off it is, beside the exact answer, in one run.

    python benchmarks/methods.py

Model calls, seconds as a multiple of importance sampling's, and the median relative error over histories, on a random LSTM.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import beforehand as bh
from beforehand.estimators.methods import METHODS

QUESTIONS = ["P(when(a) = 7)", "P(a before b within 7)", "P(count(a) = 2 within 7)"]


def main() -> None:
    model = bh.Recurrent.random(bh.Vocabulary("abcdefgh"), hidden=32, layers=2, seed=1)
    histories = np.random.default_rng(0).integers(0, 8, size=(20, 5)).tolist()
    for text in QUESTIONS:
        truth = [row[0].value for row in bh.ask_many(model, [text], histories, method=bh.methods.Exact(2_000_000))]
        print(text)
        names = [name for name in METHODS if name not in ("exact", "coverage")]
        measured = {name: measure(model, text, histories, truth, name) for name in names}
        for name, (calls, seconds, error) in measured.items():
            ratio = seconds / measured["importance"][1]
            print(f"  {name:12} {calls:6.0f} calls   {ratio:5.2f} × the seconds   error {error:7.2%}")


def measure(
    model: bh.Recurrent, text: str, histories: list[list[int]], truth: list[float], name: str
) -> tuple[float, float, float]:
    begun = time.perf_counter()
    answers = [bh.ask(model, text, history, method=name, budget=600) for history in histories]
    seconds = (time.perf_counter() - begun) / len(histories)
    error = statistics.median(abs(answer.value - true) / true for answer, true in zip(answers, truth, strict=True))
    return statistics.mean(answer.calls for answer in answers), seconds, error


if __name__ == "__main__":
    main()
