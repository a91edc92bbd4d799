"""The methods, as configured values: `bh.ask(model, query, history, method=bh.methods.Beam(width=100))`."""

from beforehand.estimators.methods import Beam, Coverage, Exact, Hybrid, Importance, Naive, Sieve, TailSplit, Uniform

__all__ = ["Beam", "Coverage", "Exact", "Hybrid", "Importance", "Naive", "Sieve", "TailSplit", "Uniform"]
