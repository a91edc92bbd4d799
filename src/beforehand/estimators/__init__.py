"""Estimators: model × automaton becomes an estimate.

In: a model, an automaton, histories of ids. Out: a `Tally` per question. One engine (`engine`), one policy per method: `paths`
(naive, uniform, importance), `search` (exact, beams), `hybrid`; `dynamic` answers Markov models without any run. A new method is
one new file and one line in `methods`.
"""

from beforehand.estimators.dynamic import solve, work
from beforehand.estimators.engine import Policy, Run, run
from beforehand.estimators.methods import METHODS, Method
from beforehand.estimators.randomness import history_keys
from beforehand.estimators.search import prefixes
from beforehand.estimators.tally import Columns, Tally, averaged

__all__ = ["METHODS", "Columns", "Method", "Policy", "Run", "Tally", "averaged", "history_keys", "prefixes", "run", "solve", "work"]
