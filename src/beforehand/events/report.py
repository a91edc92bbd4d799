"""What was read, what was dropped, and why."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """The tale of one reading; `str` tells it in a few lines."""

    source: str = ""
    rows: int = 0
    kept: int = 0
    users: int = 0
    kinds: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def drop(self, why: str, count: int) -> None:
        """Counts rows that were dropped, if there are any."""
        if count:
            self.dropped[why] = self.dropped.get(why, 0) + count

    def __str__(self) -> str:
        chosen = ", ".join(f"{role} = {column!r}" for role, column in self.columns.items())
        lines = [f"read {self.source}" + (f": {chosen}" if chosen else "")]
        lines.append(f"  {self.rows:,} rows, {self.kept:,} kept: {self.users:,} users, {self.kinds:,} kinds of events")
        lines += [f"  dropped {count:,}: {why}" for why, count in self.dropped.items()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])
