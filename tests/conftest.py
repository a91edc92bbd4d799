"""One thread: the batches of most tests are small, and a second one only waits where the machine is shared."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
