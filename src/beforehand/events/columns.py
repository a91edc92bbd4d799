"""Which column is the user, which the time, which the event: by the names in common use."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand.errors import EventsError, did_you_mean

# The likeliest first: XES, MEDS, then the spellings of event logs at large. Compared without case, spaces and underscores.
# fmt: off
KNOWN = {
    "user": (
        "case:concept:name", "subject_id", "patient_id", "user_id", "visitor_id", "customer_id", "client_id", "person_id",
        "account_id", "member_id", "player_id", "user", "username", "visitor", "customer", "client", "patient", "person",
        "case_id", "case", "trace_id", "session_id", "session", "sequence_id", "sequence", "seq", "device_id", "uid", "id",
    ),
    "time": (
        "time:timestamp", "timestamp", "event_timestamp", "event_time", "datetime", "date_time", "time", "occurred_at",
        "created_at", "start_time", "starttime", "ts", "unix_time", "date", "seconds_since_user_first", "time_since_start",
    ),
    "event": (
        "concept:name", "code", "event", "event_name", "event_type", "type_event", "activity", "activity_name", "action",
        "app_name", "page", "page_category", "category", "item_id", "item", "label", "type", "name",
    ),
}
# fmt: on


def choose(columns: Sequence[str], **wanted: str | Sequence[str] | None) -> dict[str, list[str]]:
    """The columns of each role: as wanted, or by their names. Only the time may be missing."""
    chosen: dict[str, list[str]] = {}
    for role, given in wanted.items():
        if given is not None:
            chosen[role] = [given] if isinstance(given, str) else list(given)
            for column in chosen[role]:
                if column not in columns:
                    raise EventsError(f"there is no column {column!r} for the {role}{did_you_mean(column, columns)}")
    taken = {column for each in chosen.values() for column in each}
    for role, given in wanted.items():
        if given is None:
            found = _detected(role, [column for column in columns if column not in taken])
            if found is None and role != "time":
                raise EventsError(
                    f"which column is the {role}? None of {', '.join(map(repr, columns))} has a usual name; say {role}=…"
                )
            chosen[role] = [] if found is None else [found]
            taken |= set(chosen[role])
    return chosen


def _detected(role: str, columns: Sequence[str]) -> str | None:
    plain = {_plain(column): column for column in reversed(columns)}
    return next((plain[_plain(name)] for name in KNOWN[role] if _plain(name) in plain), None)


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "").replace("-", "")
