from __future__ import annotations

from collections.abc import Sequence

from beforehand.queries import Automaton


def walk(automaton: Automaton, word: Sequence[int]) -> tuple[list[int], list[int]]:
    """The outcome of each question after a word, −1 for none, and the step at which it came."""
    outcomes, steps, state = list(automaton.at_start), [0] * len(automaton.outcomes), automaton.start
    for step, event in enumerate(word, 1):
        if state < 0:
            break
        moves, kind = automaton.at(step), automaton.classes[event]
        for question in range(len(outcomes)):
            outcome = int(moves.emits[question, state, kind])
            if outcome >= 0:
                assert outcomes[question] < 0, "decided twice"
                outcomes[question], steps[question] = outcome, step
        state = int(moves.next[state, kind])
    return outcomes, steps
