"""Parse times as people and programs write them: ISO 8601, `5/1/2024 10:00 AM`, `1 May 2024`, Unix time.

The general parser (dateutil) is slow, so it only parses dates, and each date once; the time of day is cut out first. A
column of a million times costs one slow call per day.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

DateOrder = Literal["day-first", "month-first"]

_UTC = dt.timezone.utc
_EPOCH = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]\+?\d+)?")
_COMPACT = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[0-2]\d[0-5]\d[0-5]\d)?")
"""20240501 or 20240501103000: as Unix time this would be a day in 1970 or a year past 2600."""
_CLOCK = re.compile(
    r"(?<![\d:.+-])(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:\s*([AaPp])\.?\s?[Mm](?![A-Za-z])\.?)?(?![\d:])"
)
_TRIPLE = re.compile(r"(?<!\d)(\d{1,4})(\s?[./-]\s?| )(\d{1,2})\2(\d{1,4})(?!\d)")
_NOISE = re.compile(r"\s*\([^)]*\)$|\b(?:GMT|UTC)\s?(?=[+-]\d)|\b(?:Uhr|Hrs?|hrs?)\b")
"""JavaScript writes `GMT+0200 (Central European Summer Time)`, which the general parser reads as two hours behind."""
_MISSING = frozenset(("", "-", "null", "none", "nan", "nat", "na", "n/a", "\\n"))
_LONGEST = 80
_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Numbers above the threshold have this many units per second: as seconds they would lie past the year 5138."""
_ZONES = {
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
}  # fmt: skip
_DEFAULTS = (dt.datetime(2001, 1, 1), dt.datetime(2004, 2, 2))


def _zone(name: str | None, offset: int | None) -> dt.timezone | None:
    """Return a zone by its offset or common name; unknown names are ignored, as if there were no zone."""
    if offset is None:
        offset = 3_600 * _ZONES[name] if name in _ZONES else None
    return None if offset is None else dt.timezone(dt.timedelta(seconds=offset))


def _epoch(number: float) -> dt.datetime:
    """Parse seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by size."""
    parts = next((parts for above, parts in _SCALES if abs(number) > above), 1.0)
    return dt.datetime.fromtimestamp(number / parts, _UTC)


def _numeric_date(text: str) -> re.Match[str] | None:
    """Match a numeric date with the year last: groups 1 and 3 are day and month, in either order."""
    triple = _TRIPLE.search(text)
    return triple if triple and len(triple[1]) <= 2 and len(triple[4]) in (2, 4) else None


def _iso_date(triple: re.Match[str], order: DateOrder | None) -> str:
    """Parse an ISO 8601 date."""
    first, between, second, last = triple.groups()
    if len(first) == 4 and len(last) <= 2:
        return f"{first}-{int(second):02}-{int(last):02}"
    if _numeric_date(triple[0]) is None:
        raise ValueError(triple[0])
    year = int(last) if len(last) == 4 else int(last) + (2000 if int(last) < 70 else 1900)
    month, day = (first, second) if (order or usual_order(between)) == "month-first" else (second, first)
    return f"{year:04}-{int(month):02}-{int(day):02}"


def usual_order(separator: str) -> DateOrder:
    """Return the assumed order of ambiguous dates: month first with slashes, otherwise day first."""
    return "month-first" if "/" in separator else "day-first"


@lru_cache(maxsize=8_192)
def _midnight(text: str, order: DateOrder | None) -> dt.datetime | None:
    """Return the start of a day written in any common way, with its time zone if it has one."""
    from dateutil.parser import parse

    text = _NOISE.sub("", text)
    try:
        if triple := _TRIPLE.search(text):
            date = _iso_date(triple, order)
            dt.date.fromisoformat(date)  # The general parser would swap numbers that do not fit.
            text = text[: triple.start()] + date + text[triple.end() :]
        # The parser fills missing fields from the default; if two defaults give two results, the date is incomplete.
        found, other = (parse(text, default=default, tzinfos=_zone) for default in _DEFAULTS)
    except (ValueError, OverflowError, ArithmeticError, TypeError, AttributeError, IndexError):
        return None
    return found if found == other else None


def _seconds(clock: re.Match[str]) -> float | None:
    """Return the time of day in seconds; None if it is invalid."""
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if clock[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if clock[5] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return 3_600 * hour + 60 * minute + second + (float(f"0.{clock[4]}") if clock[4] else 0.0)


def _parse(text: str, order: DateOrder | None) -> dt.datetime | None:
    # 10.30 is half past ten, which ISO 8601 reads as 10 hours and 0.3 s.
    if text[4:5] == "-" and "." not in text[:19]:
        try:
            return dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            pass
    if _EPOCH.fullmatch(text):
        if _COMPACT.fullmatch(text):
            return dt.datetime.strptime(text, "%Y%m%d" if len(text) == 8 else "%Y%m%d%H%M%S")
        return _epoch(float(text))
    if len(text) > _LONGEST:
        return None
    clock = _CLOCK.search(text)
    if clock is None:
        return _midnight(text, order)
    seconds = _seconds(clock)
    day = None if seconds is None else _midnight(f"{text[: clock.start()]} 00:00:00 {text[clock.end() :]}", order)
    return None if day is None or seconds is None else day + dt.timedelta(seconds=seconds)


@dataclass
class TimeReader:
    """Parses the times of one file, and counts those that it cannot parse.

    `order` tells whether 1/5/2024 is the first of May; by default, dates with slashes are month first and others day
    first. With `off`, times are ignored.
    """

    order: DateOrder | None = None
    off: bool = False
    unread: int = field(default=0, repr=False, compare=False)
    example: str = field(default="", repr=False, compare=False)
    """The first unreadable time."""
    assumed: int = field(default=0, repr=False, compare=False)
    """Ambiguous dates, read while the order was unknown."""
    assumed_example: str = field(default="", repr=False, compare=False)

    def read(self, value: Any) -> dt.datetime | None:
        """Parse a point in time from a text, a number or a date; UTC without a time zone, None if unreadable."""
        if self.off or value is None:
            return None
        if isinstance(value, str):
            value = value.strip()
            if value.lower() in _MISSING:
                return None
        try:
            time = self._read(value)
            if time is not None and time.tzinfo is not _UTC:
                time = time.astimezone(_UTC) if time.tzinfo else time.replace(tzinfo=_UTC)
        except (ValueError, OverflowError, OSError):
            time = None
        if time is None:
            self.unread += 1
            self.example = self.example or str(value)[:_LONGEST]
            return None
        return time

    def _read(self, value: Any) -> dt.datetime | None:
        if isinstance(value, str):
            if self.order is None and value[4:5] != "-" and (date := _numeric_date(value)) and date[1] != date[3]:
                self.assumed += 1
                self.assumed_example = self.assumed_example or date[0]
            return _parse(value, self.order)
        if isinstance(value, dt.datetime):
            return value
        if isinstance(value, dt.date):
            return dt.datetime(value.year, value.month, value.day)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _epoch(value)
        return None


@dataclass
class DateSurvey(TimeReader):
    """Looks through the dates of a file for evidence of the order of day and month, without parsing them."""

    counts: Counter[str] = field(default_factory=Counter)
    """Counts of dates by order: `day-first`, `month-first`, `either`, or `same` if it makes no difference."""
    examples: dict[str, str] = field(default_factory=dict)
    firsts: set[int] = field(default_factory=set)
    seconds: set[int] = field(default_factory=set)

    def read(self, value: Any) -> dt.datetime | None:
        """Count the evidence of one date."""
        date = _numeric_date(value) if isinstance(value, str) else None
        if date is None:
            return None
        first, second = int(date[1]), int(date[3])
        if first > 12 or second > 12:
            order = "day-first" if second <= 12 else "month-first" if first <= 12 else "neither"
        else:
            order = "same" if first == second else "either"
        self.counts[order] += 1
        self.examples.setdefault(order, date[0])
        self.firsts.add(first)
        self.seconds.add(second)
        return None

    @property
    def decisive(self) -> int:
        """The number of dates with only one reading."""
        return self.counts["day-first"] + self.counts["month-first"]

    def add(self, other: DateSurvey) -> None:
        """Add the counts of another file."""
        self.counts += other.counts
        self.examples = other.examples | self.examples
        self.firsts |= other.firsts
        self.seconds |= other.seconds

    def result(self) -> tuple[DateOrder, str]:
        """Return the order, and why it is assumed if no date decides."""
        if self.decisive:
            return "day-first" if self.counts["day-first"] > self.counts["month-first"] else "month-first", ""
        # A log of a few days: its days change, its month does not.
        if len(self.firsts) == 1 and len(self.seconds) > 2:
            return "month-first", "assumed, because only the second number changes"
        if len(self.seconds) == 1 and len(self.firsts) > 2:
            return "day-first", "assumed, because only the first number changes"
        return usual_order("".join(self.examples.values())), "assumed, because no date tells"

    def describe(self, order: DateOrder, assumed: str) -> str:
        """Return a note for the user about the date order of a file."""
        example = next((self.examples[name] for name in (order, "either") if name in self.examples), "")
        read = TimeReader(order).read(example)
        shown = f": {example} is {read.day} {read:%B %Y}" if read else ""
        other = "month-first" if order == "day-first" else "day-first"
        known = f" ({assumed}; if that is wrong, add --map dates={other})" if assumed else ""
        return f"its dates are {order.replace('-', ' ')}{shown}{known}"
