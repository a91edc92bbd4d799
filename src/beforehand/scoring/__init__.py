"""Scoring: a table of histories becomes a table of answers.

In: a model's folder, a log, questions. Out: a Parquet file with a row for every user and question. `local` runs parts of the log in
several processes; a part that is finished is a file, so a run that was stopped goes on where it was.
"""

from beforehand.scoring.score import score

__all__ = ["score"]
