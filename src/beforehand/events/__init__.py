"""Events: a log becomes integer sequences.

In: files, tables, databases, lists of labels. Out: an `EventLog`, its events as ids of a `Vocabulary`, the one place where labels,
ids, the start symbol, the end of a sequence and named groups are known. Nothing here knows of models or questions.
"""

from beforehand.events.log import EventLog
from beforehand.events.read import read_events
from beforehand.events.report import Report
from beforehand.events.vocabulary import Vocabulary

__all__ = ["EventLog", "Report", "Vocabulary", "read_events"]
