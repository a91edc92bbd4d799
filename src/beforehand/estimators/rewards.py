"""What a guide is asked to look ahead for: how much each outcome of a question counts, and which candidates matter for it."""

from __future__ import annotations

import torch
from torch import Tensor

from beforehand.estimators.frontier import Tables
from beforehand.queries import Automaton

# An outcome rarer than this, as far as the single events tell, counts as if it were not.
RAREST = 1e-6
# How much more a rare outcome counts: by one over its chance to this power (docs/explanation/lookahead.md).
RARE_COUNT = 0.25
LONGEST = 500


def is_single(automaton: Automaton) -> bool:
    """Is the answer one number, the chance of one outcome?"""
    return [len(each) for each in automaton.wanted] == [1] and not automaton.timed[0]


def matters(value: Tensor, single: bool) -> Tensor:
    """The standard deviation of what may still be decided, sqrt(V (1 − V)); of several outcomes, the root of their sum."""
    return torch.addcmul(value, value, value, value=-1).clamp_(min=0).sqrt_() if single else value.clamp(min=0).sqrt_()


def rewards(tables: Tables, kinds: Tensor) -> list[Tensor]:
    """[batch, outcomes] per question: one for a single wanted outcome; of several, the rarer ones count more, by
    their rough chance. `kinds` are the chances of each class of event on average, [batch, classes]."""
    automaton = tables.automaton
    rough = None if is_single(automaton) else _rough_chances(tables, kinds)
    found = []
    kinds = kinds.double()
    for question, outcomes in enumerate(automaton.outcomes):
        reward = torch.zeros(len(kinds), outcomes, dtype=torch.float64, device=kinds.device)
        wanted = torch.tensor(automaton.wanted[question], device=kinds.device)
        plain = rough is None or automaton.timed[question]
        reward[:, wanted] = 1.0 if plain else rough[question][:, wanted].clamp(min=RAREST) ** -RARE_COUNT  # type: ignore[index]
        found.append(reward)
    return found


def _rough_chances(tables: Tables, kinds: Tensor) -> list[Tensor]:
    """The outcomes' chances if events came independently, each as often as on average."""
    automaton, batch = tables.automaton, len(kinds)
    found = [torch.zeros(batch, outcomes + 1, dtype=torch.float64, device=kinds.device) for outcomes in automaton.outcomes]
    mass = torch.zeros(batch, tables.states(0), dtype=torch.float64, device=kinds.device)
    mass[:, tables.start] = 1
    for step in range(1, (automaton.horizon or LONGEST) + 1):
        moves = tables.at(step)
        moving = (mass[:, :, None] * kinds[:, None, :]).flatten(1)
        for chances, emits in zip(found, moves.emits, strict=True):
            chances.index_add_(1, torch.where(emits < 0, chances.shape[1] - 1, emits).flatten(), moving)
        onward = torch.where(moves.next < 0, moves.after, moves.next).flatten()
        grown = torch.zeros(batch, moves.after + 1, dtype=torch.float64, device=kinds.device)
        mass = grown.index_add_(1, onward, moving)[:, :-1]
    return [chances[:, :-1] for chances in found]
