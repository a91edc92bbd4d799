"""What agrees with the paper, what does not, and why: read off the results at the small size."""

from __future__ import annotations

REMARKS: dict[str, str] = {}
