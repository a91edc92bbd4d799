"""How good probabilities were, once it is known what happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A prediction of 0 or 1 that turns out wrong would count infinitely much.
SURE = 1e-6
BINS = 10


@dataclass(frozen=True)
class Scores:
    """Of one forecaster; smaller Brier and log scores are better, a larger AUC is; `log` is in nats an answer."""

    brier: float
    log: float
    auc: float
    sharpness: float


@dataclass(frozen=True)
class Bin:
    """Answers of about the same size: what they said on average, how often it came true, and a 95 % interval of that."""

    said: float
    came: float
    low: float
    high: float
    count: int


def scores(said: Floats, came: Floats) -> Scores:
    """Of probabilities beside what came, 0 or 1."""
    return Scores(float(((said - came) ** 2).mean()), float(surprise(said, came).mean()), auc(said, came), float(said.std()))


def surprise(said: Floats, came: Floats) -> Floats:
    """−log of what was said of what came."""
    safe = np.clip(said, SURE, 1 - SURE)
    return np.asarray(-(came * np.log(safe) + (1 - came) * np.log(1 - safe)))


def auc(said: Floats, came: Floats) -> float:
    """The chance that one which came true was given more than one which did not; ties count half."""
    order = np.argsort(said, kind="stable")
    _, first, counts = np.unique(said[order], return_index=True, return_counts=True)
    ranks = np.empty(len(said))
    ranks[order] = np.repeat(first + (counts + 1) / 2, counts)
    yes, no = came.sum(), (1 - came).sum()
    return float((ranks[came == 1].sum() - yes * (yes + 1) / 2) / (yes * no)) if yes and no else float("nan")


def calibration(said: Floats, came: Floats) -> list[Bin]:
    """Answers in ten groups of like size; the intervals are Wilson's."""
    found = []
    for group in np.array_split(np.argsort(said, kind="stable"), min(BINS, max(1, len(said) // 5))):
        hits, count = float(came[group].sum()), len(group)
        low, high = wilson(hits, count)
        found.append(Bin(float(said[group].mean()), hits / count, low, high, count))
    return found


def wilson(hits: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share, good for few cases too."""
    share = hits / count
    middle, half = share + z**2 / (2 * count), z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return float((middle - half) / (1 + z**2 / count)), float((middle + half) / (1 + z**2 / count))


def recalibration(said: Floats, came: Floats) -> tuple[float, ...]:
    """(a, b) of p' = σ(a + b·logit p) that fits best, held a little towards the identity (Platt 1999), by Newton's method; and
    the variances of a and b and their covariance."""
    x = logit(said)
    design = np.stack([np.ones_like(x), x], 1)
    weights, held = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (p - came) + (weights - held)
        curve = (design * (p * (1 - p))[:, None]).T @ design + np.eye(2)
        step = np.linalg.solve(curve, gradient)
        weights = weights - np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    spread = np.linalg.inv(curve)
    return float(weights[0]), max(0.0, float(weights[1])), float(spread[0, 0]), float(spread[1, 1]), float(spread[0, 1])


def logit(p: Floats) -> Floats:
    """The log odds, finite."""
    safe = np.clip(p, SURE, 1 - SURE)
    return np.asarray(np.log(safe / (1 - safe)))


def difference(one: Floats, other: Floats) -> tuple[float, float]:
    """By how much the second surprises more than the first, and 1.96 standard errors of that, pair by pair."""
    off = other - one
    return float(off.mean()), float(1.96 * off.std(ddof=1) / np.sqrt(len(off))) if len(off) > 1 else float("inf")
