"""Find the files to read, and detect each one's encoding, format and date order."""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from turnloom.corpus.engine import daft
from turnloom.corpus.readers import Head, Reader, ReadOptions, find_reader, reader_names
from turnloom.corpus.readers.location import (
    READ_ERRORS,
    is_archive,
    is_url,
    list_members,
    open_raw,
    size_of,
    split_member,
    stem,
    unpacked,
)
from turnloom.corpus.readers.logfile import UTF_8, as_utf8, encoding_note, find_encoding
from turnloom.corpus.readers.rows import read_mapping
from turnloom.corpus.readers.source import LogFile, read_entries
from turnloom.corpus.readers.suggestions import describe
from turnloom.corpus.readers.times import DateSurvey, TimeReader
from turnloom.errors import TurnloomError

HEAD_BYTES = 2**20
ENOUGH_DATES = 1_000
"""After this many dates with only one reading, the rest need not be checked."""
_BESIDE = re.compile(
    r"(?i)\.(?:jpe?g|png|gif|webp|heic|svg|bmp|tiff?|mp[34]|m4a|mov|avi|opus|ogg|oga|wav|aac|3gp|webm|pdf|docx?|pptx?|vcf"
    r"|ics|zip|7z|rar|tgs|css|js|ttf|woff2?|ico|db|exe|html?)$|(?:^|[/\\])\.[^/\\]*$"
)
"""What exports hold beside conversations: media, documents, hidden files."""
_NAMED = 3
_LOOKS_NUMERIC = re.compile(rb"(?<!\d)\d{1,2}(\s?[./-]\s?| )\d{1,2}\1(?:\d{2}|\d{4})(?!\d)")


@dataclass(frozen=True)
class Detection:
    """The format of a file, and the evidence for it."""

    format: str
    why: str


class UnknownFormatError(TurnloomError):
    """A file that no reader recognises, or that lacks what its reader needs; `seen` describes it to a person."""

    def __init__(self, problem: str, fix: str, seen: Sequence[str] = ()) -> None:
        super().__init__(problem, fix)
        self.seen = list(seen)


def list_files(pattern: str) -> list[str]:
    """List the files behind a path, a glob or a URL; a folder or a zip archive means all files in it."""
    if is_url(pattern):
        files = _list_remote(pattern)
    elif Path(pattern).is_file() or split_member(pattern):
        files = [pattern]
    else:
        within = f"{pattern}/**/*" if Path(pattern).is_dir() else pattern
        files = [name for name in glob.glob(within, recursive=True) if Path(name).is_file()]  # noqa: PTH207
    if not files:
        raise TurnloomError(f"{pattern} matches no file", "check the path; a glob in quotes is expanded by Turnloom")
    return sorted(one for name in files for one in (_list_archive(name) if is_archive(name) else [name]))


def _list_archive(path: str) -> list[str]:
    try:
        members = list_members(path)
    except OSError as error:
        raise TurnloomError(f"{path} cannot be read ({error})", "check the path and the file") from error
    if not members:
        raise TurnloomError(f"{path} has no files in it", "export it again")
    return members


def _list_remote(pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    from daft.exceptions import DaftCoreException

    try:
        paths: list[str] = daft().from_glob_path(pattern).to_pydict()["path"]
    except (FileNotFoundError, DaftCoreException):
        return []
    return paths


def read_head(path: str, mapping: dict[str, str] | None = None) -> Head:
    """Read the first megabyte of a file, or as much of it as a broken file yields."""
    content = rest = b""
    try:
        with open_raw(path) as raw, unpacked(path, raw) as stream:
            while len(content) < HEAD_BYTES and (piece := stream.read1(HEAD_BYTES - len(content))):
                content += piece
            # The first non-ASCII letter of an English log may come late; a remote file is not read twice for it.
            while content.isascii() and rest.isascii() and not is_url(path) and (rest := stream.read1(HEAD_BYTES)):
                pass
    except READ_ERRORS as error:
        if not content:
            raise TurnloomError(f"{path} cannot be read ({error})", "check the path and the file") from error
    if not content.strip():
        raise TurnloomError(f"{path} is empty", "leave it out or export it again")
    encoding = find_encoding(content if not content.isascii() else content + rest)
    recoded = as_utf8(io.BufferedReader(io.BytesIO(content)), encoding)
    return Head(path, content if encoding == UTF_8 else b"".join(iter(recoded.read1, b"")), encoding, mapping or {})


def detect_format(head: Head) -> Detection:
    """Recognise a log file's format from its first megabyte."""
    for name in reader_names():
        why = find_reader(name).recognise(head)
        if why:
            return Detection(name, why)
    seen = describe(head)
    command = seen.command(head.path)
    raise UnknownFormatError(
        f"{head.path} looks like none of the known formats",
        f"if the fields above are right, {command}"
        if command
        else f"name its format with --format ({', '.join(reader_names())}), or its columns or JSON paths with --map",
        seen.lines,
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
        patterns: Local paths, globs, folders, zip archives or URLs.
        format: The format of all files; by default detected per file.
        source: The name of the source; by default the file's name.
        mapping: For tables, which column holds which field; for JSON of any shape, its paths. For every format, set
            ``time`` to ``none`` to ignore times, ``dates`` to ``day-first`` or ``month-first`` to skip its detection,
            and ``agent`` to the names of agents, joined by ``|``.
        language: The conversations' language.
        on_detect: Called with each file and its detected format.
        on_note: Called with other notes: a file's encoding, the order of day and month.
    """
    columns, times, agents = read_mapping(mapping or {})
    if format is not None:
        find_reader(format)  # Fails early if the format is unknown.
    shared = ReadOptions(source or "", "", columns, language, times, agents)
    logs, surveys = [], []
    for pattern, paths in _distinct_files(patterns):
        for head, detection in _recognised(pattern, paths, format, columns, on_note):
            if on_detect:
                on_detect(head.path, detection)
            if on_note and head.encoding != UTF_8:
                on_note(encoding_note(head.path, head.encoding))
            reader = find_reader(detection.format)
            spans = len(paths) > 1 and getattr(reader, "spans_files", False)
            own_source, own_stem = _names(head.path, pattern if spans else None)
            options = replace(shared, source=source or own_source, stem=own_stem)
            _check(reader, head, options)
            logs.append(LogFile(head.path, detection.format, options, encoding=head.encoding))
            surveys.append(_survey_dates(logs[-1], head))
    return _with_date_orders(logs, surveys, on_note)


def _distinct_files(patterns: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for pattern in patterns:
        paths = [path for path in list_files(pattern) if path not in seen]
        seen.update(paths)
        if paths:
            yield pattern, paths


def _recognised(
    pattern: str,
    paths: list[str],
    format: str | None,
    columns: dict[str, str],
    on_note: Callable[[str], None] | None,
) -> Iterator[tuple[Head, Detection]]:
    """Yield the files with their formats. In a folder or an archive, what holds no conversations is passed over."""
    mixed = len(paths) > 1 and (is_archive(pattern) or Path(pattern).is_dir())
    passed: list[str] = []
    problem: UnknownFormatError | None = None
    for path in paths:
        if mixed and (_BESIDE.search(path) or (is_archive(pattern) and size_of(path) == 0)):
            passed.append(path)
            continue
        try:
            head = read_head(path, columns)
            detection = Detection(format, "you said so") if format else detect_format(head)
        except UnknownFormatError as error:
            if not mixed:
                raise
            problem = problem or error
            passed.append(path)
            continue
        yield head, detection
    if len(passed) == len(paths):
        raise problem or TurnloomError(
            f"{pattern} holds only media and no conversations", "export it with its messages"
        )
    if passed and on_note:
        names = [path.removeprefix(pattern).lstrip("/\\") for path in passed[:_NAMED]]
        more = f" and {len(passed) - _NAMED:,} more" if len(passed) > _NAMED else ""
        on_note(f"! {pattern}: {len(passed):,} of {len(paths):,} files were passed over: {', '.join(names)}{more}")


def _names(path: str, export: str | None) -> tuple[str, str]:
    """Return the names of a file's source and of its dialogues without ids.

    Files of one export share a source if their conversations go on from file to file. Members of an archive share the
    archive's, and a WhatsApp archive's `_chat.txt` its name.
    """
    member = split_member(path)
    if member is None:
        return stem(re.sub(r"[/\\]?[^/\\]*[*?\[].*", "", export) or export) if export else stem(path), stem(path)
    inner = member[1].removesuffix(Path(member[1]).suffix)
    return stem(member[0]), stem(member[0]) if inner.rpartition("/")[2] == "_chat" else inner.replace("/", "-")


def _check(reader: Reader, head: Head, options: ReadOptions) -> None:
    """Let the reader check the user's settings; what is missing in a table is explained with what it has."""
    try:
        reader.check(head, options)
    except TurnloomError as error:
        if b"\x00" in head.content[:1_000]:
            raise  # Nothing of a binary file can be shown.
        seen = describe(head)
        raise UnknownFormatError(error.problem, error.fix, [*seen.lines, *seen.advice(head.path)]) from error


def _survey_dates(log: LogFile, head: Head) -> DateSurvey:
    """Check a file's dates until enough of them distinguish day and month, or to its end.

    The order is decided once, before tasks start: it must not depend on where reading starts or how it is split.
    """
    survey, times = DateSurvey(), log.options.times
    binary = log.format in ("parquet", "excel")
    if times.off or times.order or not (binary or _LOOKS_NUMERIC.search(head.content)):
        return survey
    options = replace(log.options, times=survey)
    try:
        with closing(read_entries(replace(log, options=options))) as entries:
            for number, _ in enumerate(entries):
                if survey.decisive >= ENOUGH_DATES or (number >= ENOUGH_DATES and not survey.examples):
                    break
    except READ_ERRORS:
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
