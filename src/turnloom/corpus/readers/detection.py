"""Find the files to read, and detect each one's encoding, format and date order."""

from __future__ import annotations

import glob
import io
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from turnloom.corpus.engine import daft
from turnloom.corpus.readers import Head, ReadOptions, find_reader, reader_names
from turnloom.corpus.readers.logfile import (
    UTF_8,
    as_utf8,
    encoding_note,
    find_encoding,
    is_url,
    open_raw,
    stem,
    unpacked,
)
from turnloom.corpus.readers.rows import read_mapping
from turnloom.corpus.readers.source import LogFile
from turnloom.corpus.readers.times import DateSurvey, TimeReader
from turnloom.errors import TurnloomError

HEAD_BYTES = 2**20
ENOUGH_DATES = 1_000
"""After this many dates with only one reading, the rest need not be checked."""
_LOOKS_NUMERIC = re.compile(rb"(?<!\d)\d{1,2}(\s?[./-]\s?| )\d{1,2}\1(?:\d{2}|\d{4})(?!\d)")


@dataclass(frozen=True)
class Detection:
    """The format of a file, and the evidence for it."""

    format: str
    why: str


def list_files(pattern: str) -> list[str]:
    """List the files behind a path, a glob or a URL; a folder means all files in it."""
    if is_url(pattern):
        files = _list_remote(pattern)
    elif Path(pattern).is_file():
        files = [pattern]
    else:
        within = f"{pattern}/**/*" if Path(pattern).is_dir() else pattern
        files = [name for name in glob.glob(within, recursive=True) if Path(name).is_file()]  # noqa: PTH207
    if not files:
        raise TurnloomError(f"{pattern} matches no file", "check the path; a glob in quotes is expanded by Turnloom")
    return sorted(files)


def _list_remote(pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    from daft.exceptions import DaftCoreException

    try:
        paths: list[str] = daft().from_glob_path(pattern).to_pydict()["path"]
    except (FileNotFoundError, DaftCoreException):
        return []
    return paths


def read_head(path: str) -> Head:
    """Read the first megabyte of a file, or as much of it as a broken file yields."""
    content = rest = b""
    try:
        with open_raw(path) as raw, unpacked(path, raw) as stream:
            while len(content) < HEAD_BYTES and (piece := stream.read1(HEAD_BYTES - len(content))):
                content += piece
            # The first non-ASCII letter of an English log may come late; a remote file is not read twice for it.
            while content.isascii() and rest.isascii() and not is_url(path) and (rest := stream.read1(HEAD_BYTES)):
                pass
    except (OSError, EOFError, zlib.error) as error:
        if not content:
            raise TurnloomError(f"{path} cannot be read ({error})", "check the path and the file") from error
    if not content.strip():
        raise TurnloomError(f"{path} is empty", "leave it out or export it again")
    encoding = find_encoding(content if not content.isascii() else content + rest)
    recoded = as_utf8(io.BufferedReader(io.BytesIO(content)), encoding)
    return Head(path, content if encoding == UTF_8 else b"".join(iter(recoded.read1, b"")), encoding)


def detect_format(head: Head) -> Detection:
    """Recognise a log file's format from its first megabyte."""
    for name in reader_names():
        why = find_reader(name).recognise(head)
        if why:
            return Detection(name, why)
    raise TurnloomError(
        f"{head.path} looks like none of the known formats ({', '.join(reader_names())})",
        "name it with --format, and the columns of a table with --map dialogue_id=…,text=…",
    )


def find_logs(
    patterns: Iterable[str],
    *,
    format: str | None = None,
    source: str | None = None,
    mapping: dict[str, str] | None = None,
    language: str | None = None,
    on_detect: Callable[[str, Detection], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> list[LogFile]:
    """Find the log files behind paths, globs and URLs, each with its format.

    Args:
        patterns: Local paths, globs, folders or URLs.
        format: The format of all files; by default detected per file.
        source: The name of the source; by default the file's name.
        mapping: For tables, which column holds which field. For every format, set ``time`` to ``none`` to ignore times,
            and ``dates`` to ``day-first`` or ``month-first`` to skip its detection.
        language: The conversations' language.
        on_detect: Called with each file and its detected format.
        on_note: Called with other notes: a file's encoding, the order of day and month.
    """
    columns, times = read_mapping(mapping or {})
    if format is not None:
        find_reader(format)  # Fails early if the format is unknown.
    logs, surveys = [], []
    for path in dict.fromkeys(path for pattern in patterns for path in list_files(pattern)):
        head = read_head(path)
        detection = Detection(format, "you said so") if format else detect_format(head)
        if on_detect:
            on_detect(path, detection)
        if on_note and head.encoding != UTF_8:
            on_note(encoding_note(path, head.encoding))
        options = ReadOptions(source or stem(path), stem(path), columns, language, times)
        find_reader(detection.format).check(head, options)
        logs.append(LogFile(path, detection.format, options, encoding=head.encoding))
        surveys.append(_survey_dates(logs[-1], head))
    return _with_date_orders(logs, surveys, on_note)


def _survey_dates(log: LogFile, head: Head) -> DateSurvey:
    """Check a file's dates until enough of them distinguish day and month, or to its end.

    The order is decided once, before tasks start: it must not depend on where reading starts or how it is split.
    """
    survey, times = DateSurvey(), log.options.times
    if times.off or times.order or not (log.format == "parquet" or _LOOKS_NUMERIC.search(head.content)):
        return survey
    options = replace(log.options, times=survey)
    try:
        with open_raw(log.path) as raw, unpacked(log.path, raw) as packed:
            stream = as_utf8(packed, log.encoding)
            for number, _ in enumerate(find_reader(log.format).read(stream, log.path, options)):
                if survey.decisive >= ENOUGH_DATES or (number >= ENOUGH_DATES and not survey.examples):
                    break
    except (OSError, EOFError, zlib.error):
        pass  # A truncated file is reported when it is read.
    return survey


def _with_date_orders(
    logs: list[LogFile], surveys: list[DateSurvey], on_note: Callable[[str], None] | None
) -> list[LogFile]:
    """Add the date order to each file.

    A file with only ambiguous dates follows the other files, because exports of one program share a format.
    """
    together = DateSurvey()
    for survey in surveys:
        together.add(survey)
    settled = []
    for log, survey in zip(logs, surveys, strict=True):
        if survey.examples:
            order, assumed = (survey if survey.decisive else together).result()
            log = replace(log, options=replace(log.options, times=TimeReader(order)))
            if on_note:
                on_note(f"{log.path}: {survey.describe(order, assumed)}")
        settled.append(log)
    return settled
