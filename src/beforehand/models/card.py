"""What is kept with a model about where it came from and how good it is."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import torch

from beforehand.events import EventLog
from beforehand.models.batches import NOTHING, Windows, each_batch

BINS = 10


def fingerprint(log: EventLog) -> str:
    """The same for the same sequences of the same labels."""
    digest = hashlib.sha256("\0".join(log.vocabulary.labels).encode())
    digest.update(log.ids.astype(np.int64).tobytes())
    digest.update(log.offsets.tobytes())
    return digest.hexdigest()[:32]


def data_of(log: EventLog) -> dict[str, Any]:
    """Of the log that a model was trained on."""
    size = {"users": len(log), "events": log.events, "kinds": log.report.kinds}
    return {"source": log.report.source, **size, "fingerprint": fingerprint(log)}


class Quality:
    """Loss, accuracy, and how well the chances of single events hold, added up over batches."""

    def __init__(self) -> None:
        self.loss = self.right = self.events = 0.0
        self.said, self.came, self.count = (np.zeros(BINS) for _ in range(3))

    def add(self, log_probs: torch.Tensor, targets: torch.Tensor) -> None:
        """[places, vocabulary] and what came."""
        there = targets != NOTHING
        log_probs, targets = log_probs[there], targets[there]
        self.events += len(targets)
        self.loss -= float(log_probs.gather(1, targets[:, None]).double().sum())
        best, which = log_probs.max(1)
        right = (which == targets).double().cpu().numpy()
        self.right += right.sum()
        said = best.double().exp().cpu().numpy()
        place = np.minimum((said * BINS).astype(int), BINS - 1)
        for total, values in ((self.said, said), (self.came, right), (self.count, np.ones_like(said))):
            np.add.at(total, place, values)

    def measured(self) -> dict[str, float]:
        """Per event."""
        events = max(1.0, self.events)
        off = float(np.abs(self.said - self.came).sum())
        return {"loss": self.loss / events, "accuracy": float(self.right) / events, "calibration_error": off / events}


@torch.inference_mode()
def measure(network: Any, of: Windows, batch_events: int, device: torch.device) -> dict[str, float]:
    """The quality of a network on held-out windows."""
    quality = Quality()
    network.eval()
    for ids, targets in each_batch(of, 4 * batch_events):
        log_probs = network(ids.to(device)).log_softmax(-1)
        quality.add(log_probs.flatten(0, 1), targets.to(device).flatten())
    return quality.measured()
