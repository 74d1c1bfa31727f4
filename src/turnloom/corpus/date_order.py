"""Whether 1/5/2024 is the first of May: found out from all dates of a file before it is read.

A date that can be read in one way only decides for the file. So that the answer does not depend on where reading starts
or how it is divided, it is settled once, before the tasks start.
"""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from turnloom.corpus.encoding import as_utf8
from turnloom.corpus.logfile import open_raw, unpacked
from turnloom.corpus.readers import Head, find_reader
from turnloom.corpus.source import LogFile
from turnloom.corpus.times import DateOrder, TimeReader, numeric_date, usual_order

__all__ = ["DateSurvey", "settle_orders", "survey_dates"]

ENOUGH = 1_000
"""Dates that can be read in one way only, after which the rest need not be looked at."""
_LOOKS_NUMERIC = re.compile(rb"(?<!\d)\d{1,2}(\s?[./-]\s?| )\d{1,2}\1(?:\d{2}|\d{4})(?!\d)")


@dataclass
class DateSurvey(TimeReader):
    """Looks through the times of a file for what tells the day from the month; it reads none of them."""

    counts: Counter[str] = field(default_factory=Counter)
    """Dates by the order that they are in: `day-first`, `month-first`, `either` or, where it is all one, `same`."""
    examples: dict[str, str] = field(default_factory=dict)
    firsts: set[int] = field(default_factory=set)
    seconds: set[int] = field(default_factory=set)

    def read(self, value: Any) -> dt.datetime | None:
        """Count what a date says about the order of its numbers."""
        date = numeric_date(value) if isinstance(value, str) else None
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
        """How many dates can be read in one way only."""
        return self.counts["day-first"] + self.counts["month-first"]

    def add(self, other: DateSurvey) -> None:
        """Take in what was counted in another file."""
        self.counts += other.counts
        self.examples = other.examples | self.examples
        self.firsts |= other.firsts
        self.seconds |= other.seconds

    def result(self) -> tuple[DateOrder, str]:
        """The order, and why it is assumed if no date tells."""
        if self.decisive:
            return "day-first" if self.counts["day-first"] > self.counts["month-first"] else "month-first", ""
        # A log of a few days: its days change, its month does not.
        if len(self.firsts) == 1 and len(self.seconds) > 2:
            return "month-first", "assumed, because only the second number changes"
        if len(self.seconds) == 1 and len(self.firsts) > 2:
            return "day-first", "assumed, because only the first number changes"
        return usual_order("".join(self.examples.values())), "assumed, because no date tells"


def survey_dates(log: LogFile, head: Head) -> DateSurvey:
    """Look through a file's dates until enough of them tell the day from the month, or to its end."""
    survey = DateSurvey()
    packed = log.format == "parquet"
    if log.options.times.off or log.options.times.order or not (packed or _LOOKS_NUMERIC.search(head.content)):
        return survey
    options = replace(log.options, times=survey)
    try:
        with open_raw(log.path) as raw, unpacked(log.path, raw) as packed:
            stream = as_utf8(packed, log.encoding)
            for number, _ in enumerate(find_reader(log.format).read(stream, log.path, options)):
                if survey.decisive >= ENOUGH or (number >= ENOUGH and not survey.examples):
                    break
    except (OSError, EOFError, zlib.error):
        pass  # A file that breaks off is reported when it is read.
    return survey


def settle_orders(logs: list[LogFile], surveys: list[DateSurvey]) -> tuple[list[LogFile], list[str]]:
    """The files with the order of their dates, and a sentence on each order.

    A file whose own dates do not tell goes by those of the others: exports of one program are written alike.
    """
    together = DateSurvey()
    for survey in surveys:
        together.add(survey)
    settled, notes = [], []
    for log, survey in zip(logs, surveys, strict=True):
        if survey.examples:
            order, assumed = (survey if survey.decisive else together).result()
            log = replace(log, options=replace(log.options, times=TimeReader(order)))
            notes.append(_note(log.path, survey, order, assumed))
        settled.append(log)
    return settled, notes


def _note(path: str, survey: DateSurvey, order: DateOrder, assumed: str) -> str:
    example = next((survey.examples[name] for name in (order, "either") if name in survey.examples), "")
    read = TimeReader(order).read(example)
    shown = f": {example} is {read.day} {read:%B %Y}" if read else ""
    other = "month-first" if order == "day-first" else "day-first"
    known = f" ({assumed}; if that is wrong, add --map dates={other})" if assumed else ""
    return f"{path}: its dates are {order.replace('-', ' ')}{shown}{known}"
