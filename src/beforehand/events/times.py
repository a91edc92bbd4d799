"""Times in whatever form they come, as seconds."""

from __future__ import annotations

import polars as pl

from beforehand.events.report import Report

WITH_ZONE = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z", "%d %b %Y %H:%M:%S %#z")
WITHOUT_ZONE = (
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S%.f",
    "%d.%m.%Y %H:%M:%S%.f",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S%.f",
    "%d-%m-%Y %H:%M:%S%.f",
)
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d")


def seconds(times: pl.Series, report: Report) -> pl.Series:
    """Float seconds; null where there is no time or none that can be understood. Times without a zone are taken as UTC."""
    if times.dtype.is_numeric() or times.dtype == pl.Duration:
        number = times.dt.total_microseconds() / 1e6 if times.dtype == pl.Duration else times.cast(pl.Float64)
        return number.set(number.is_nan() | number.is_infinite(), None) if number.dtype.is_float() else number
    if times.dtype == pl.Date:
        times = times.cast(pl.Datetime("us"))
    if isinstance(times.dtype, pl.Datetime):
        return times.dt.timestamp("us") / 1e6
    return _parsed(times.cast(pl.String), report)


def _parsed(texts: pl.Series, report: Report) -> pl.Series:
    """Every text by the first form that fits it; numbers as they are."""
    stripped = texts.str.strip_chars()
    frame = pl.DataFrame({"text": stripped.str.replace("Z$", "+00:00")})
    zoned = frame.select(pl.coalesce(_parse(form, zone=True) for form in WITH_ZONE)).to_series()
    naive = frame.select(pl.coalesce([*(_parse(form) for form in WITHOUT_ZONE), *(_as_date(form) for form in DATES)])).to_series()
    number = stripped.cast(pl.Float64, strict=False)
    mixed = int((naive.is_not_null() & zoned.is_null()).sum())
    if mixed and int(zoned.is_not_null().sum()):
        report.notes.append(f"{mixed:,} times have no time zone though others do; they were taken as UTC")
    elif int(zoned.is_not_null().sum()) and stripped.str.extract(r"([+-]\d\d:?\d\d)$").n_unique() > 1:
        report.notes.append("times of several zones were brought to UTC before sorting")
    return pl.DataFrame({"a": zoned, "b": naive, "c": number}).select(pl.coalesce("a", "b", "c")).to_series()


def _parse(form: str, zone: bool = False) -> pl.Expr:
    text = pl.col("text")
    parsed = text.str.to_datetime(form, time_unit="us", strict=False, time_zone="UTC" if zone else None)
    return parsed.dt.timestamp("us") / 1e6


def _as_date(form: str) -> pl.Expr:
    return pl.col("text").str.to_date(form, strict=False).cast(pl.Datetime("us")).dt.timestamp("us") / 1e6
