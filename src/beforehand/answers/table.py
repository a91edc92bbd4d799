"""Answers as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beforehand.answers.answer import Answer, Distribution, Result

if TYPE_CHECKING:
    import polars

_NUMBERS = ("value", "low", "high", "lower_bound", "upper_bound", "standard_error")
_COMMON = ("confidence", "interval_kind", "undecided", "calls", "seconds", "method", "converged")


def table(rows: list[tuple[Result, ...]]) -> polars.DataFrame:
    """One row per history and question. A single number is a distribution of one: `labels` is then empty."""
    import polars

    records = [
        _record(number, answer) for number, row in enumerate(rows) for answer in row if isinstance(answer, Answer | Distribution)
    ]
    single = all(not record["labels"] for record in records)
    if single:
        for record in records:
            del record["labels"]
            record.update({name: record[name][0] for name in _NUMBERS})
    return polars.DataFrame(records)


def long_table(rows: list[tuple[Result, ...]], users: list[str]) -> polars.DataFrame:
    """One row per user, question and outcome, always of the same columns; a single number has no label."""
    import polars

    texts = {"user": polars.String, "question": polars.String, "label": polars.String}
    numbers = dict.fromkeys(_NUMBERS, polars.Float64)
    rest = {"confidence": polars.Float64, "interval_kind": polars.String, "undecided": polars.Float64, "calls": polars.Int64}
    schema = texts | numbers | rest | {"method": polars.String, "converged": polars.Boolean}
    found = []
    for user, row in zip(users, rows, strict=True):
        for answer in row:
            outcomes = answer if isinstance(answer, Distribution) else [(None, answer)]
            for label, each in outcomes:
                values = [getattr(each, name) for name in schema if name not in texts]
                found.append((user, answer.question, label, *values))
    return polars.DataFrame(found, schema=schema, orient="row")


def _record(number: int, answer: Answer | Distribution) -> dict[str, Any]:
    record: dict[str, Any] = {"history": number, "question": answer.question}
    if isinstance(answer, Distribution):
        record |= {"labels": list(answer.labels)} | {name: getattr(answer, name).tolist() for name in _NUMBERS}
    else:
        record |= {"labels": []} | {name: [getattr(answer, name)] for name in _NUMBERS}
    return record | {name: getattr(answer, name) for name in _COMMON}
