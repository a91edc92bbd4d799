"""Backtesting: are the answers right about what really happened?

In: a model, a log that it has not learned from, questions. Out: a `Backtest`: for each question how often it came true, how well
the model said so, beside baselines that need no network, and a correction that can be kept with the model.
"""

from beforehand.backtesting.backtest import Backtest, QuestionReport, backtest

__all__ = ["Backtest", "QuestionReport", "backtest"]
