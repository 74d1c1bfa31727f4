"""Read labelled messages from a file or a stream: JSON Lines, a JSON list, CSV, TSV, or one message per line."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from turnloom.corpus.readers.location import open_raw, unpacked
from turnloom.errors import TurnloomError

DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS = ("jsonl", "json", "csv", "tsv", "txt")
OUT_OF_SCOPE = "out_of_scope"
"""The label of a message that fits no intent."""


def is_out_of_scope(label: str) -> bool:
    """Whether a label means that no intent fits."""
    return label.strip().lower() in (OUT_OF_SCOPE, "oos", "out-of-scope", "none")


@dataclass(frozen=True)
class LabelledMessage:
    """One message: earlier turns plus the message, its intents, and the whole row."""

    turns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    row: dict[str, Any] = field(default_factory=dict)


class Row(NamedTuple):
    """A row and its location; values of a delimited file are all text."""

    where: str
    values: dict[str, Any]
    delimited: bool


def read_messages(source: str | Path | TextIO, *, format: str | None = None) -> Iterator[LabelledMessage]:
    """Read messages one by one.

    Fields are `text` and, optionally, `label` (one or a list; in CSV separated by `|`) and `context` (the earlier turns
    as a list). A file without a header that is not JSON has one message per line.

    Args:
        source: A file, or an open stream.
        format: `jsonl`, `json`, `csv`, `tsv` or `txt`; by default detected from the file name or the first line.

    Raises:
        TurnloomError: If a row cannot be read; the message names the line.
    """
    for row in read_rows(source, format, required=("text",)):
        yield _message(_with_lists(row.values, row.where) if row.delimited else row.values, row.where)


def read_rows(source: str | Path | TextIO, format: str | None = None, *, required: Sequence[str] = ()) -> Iterator[Row]:
    """Read rows with any fields one by one, from a stream or a file, optionally compressed with gzip or zstd.

    Raises:
        TurnloomError: If a row cannot be read, or a CSV or TSV header lacks a required column; the message names the
            line.
    """
    if format is not None and format not in FORMATS:
        raise TurnloomError(f"there is no format {format!r}", f"choose one of {', '.join(FORMATS)}")
    if not isinstance(source, (str, Path)):
        yield from _read(source, "standard input", format, required)
        return
    path = Path(source)
    if not path.is_file():
        raise TurnloomError(f"{path} is not a file", "give a CSV, TSV, JSONL, JSON or text file with messages")
    endings = [suffix.lstrip(".").lower() for suffix in reversed(path.suffixes)]
    format = format or next((ending for ending in endings if ending in FORMATS), None)
    with open_raw(str(path)) as raw, io.TextIOWrapper(unpacked(str(path), raw), "utf-8-sig", newline="") as file:
        yield from _read(file, str(path), format, required)


def _read(file: Iterable[str], name: str, format: str | None, required: Sequence[str]) -> Iterator[Row]:
    lines = iter(file)
    try:
        first = next((line for line in lines if line.strip()), "")
        if not first:
            return
        lines, format = itertools.chain([first], lines), format or _recognise(first)
        if format in DELIMITERS:
            yield from _delimited(lines, DELIMITERS[format], name, required)
        elif format == "json":
            yield from _elements("".join(lines), name)
        else:
            for number, line in enumerate(lines, 1):
                where = f"{name}, line {number}"
                if line.strip():
                    values = _object(_parsed(line, where), where) if format == "jsonl" else {"text": line.strip()}
                    yield Row(where, values, delimited=False)
    except UnicodeDecodeError as error:
        raise TurnloomError(f"{name} is not UTF-8 ({error.reason})", "save it as UTF-8") from error
    except csv.Error as error:
        raise TurnloomError(f"{name}: {error}", "check the quotes, or name the format with --format") from error


def _recognise(first: str) -> str:
    start = first.lstrip()[:1]
    if start in ("{", "["):
        return "jsonl" if start == "{" else "json"
    for name, delimiter in DELIMITERS.items():
        if "text" in [column.strip().strip('"') for column in first.strip().lower().split(delimiter)]:
            return name
    return "txt"


def _elements(text: str, name: str) -> Iterator[Row]:
    elements = _parsed(text, name)
    if not isinstance(elements, list):
        raise TurnloomError(f"{name} holds no list", "give a list of JSON objects, or one object per line")
    for number, element in enumerate(elements, 1):
        values = _object({"text": element} if isinstance(element, str) else element, f"{name}, element {number}")
        yield Row(f"{name}, line {number}", values, delimited=False)


def _delimited(lines: Iterator[str], delimiter: str, name: str, required: Sequence[str]) -> Iterator[Row]:
    reader = csv.DictReader(lines, delimiter=delimiter)
    reader.fieldnames = [(column or "").strip().lower() for column in reader.fieldnames or []]
    for column in required:
        if column not in reader.fieldnames:
            raise TurnloomError(
                f"{name} has no column {column!r}", f"name one so; it has {', '.join(reader.fieldnames)}"
            )
    for row in reader:
        values = {column: value for column, value in row.items() if column and value is not None}
        yield Row(f"{name}, line {reader.line_num}", values, delimited=True)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise TurnloomError(f"{where}: {error}", "give one JSON object per line, or a list of them") from error


def _object(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TurnloomError(f"{where}: no JSON object", "give objects with 'text'")
    return row


def _with_lists(values: dict[str, Any], where: str) -> dict[str, Any]:
    """Parse CSV lists: labels separated by `|`, earlier turns as JSON or as a single turn."""
    if "|" in values.get("label", ""):
        values["label"] = [label.strip() for label in values["label"].split("|") if label.strip()]
    context = values.get("context", "").strip()
    values["context"] = _parsed(context, where) if context.startswith("[") else [context] if context else []
    return values


def _strings(value: Any, what: str, where: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TurnloomError(f"{where}: {what!r} is neither a text nor a list of texts", "write it as one of them")
    return tuple(text for text in texts if text.strip())


def _message(row: dict[str, Any], where: str) -> LabelledMessage:
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise TurnloomError(f"{where}: no text", "every message needs 'text'")
    context = _strings(row.get("context") or [], "context", where)
    labels = _strings(row.get("label") if row.get("label") is not None else [], "label", where)
    return LabelledMessage((*context, text), tuple(label.strip() for label in labels), row)
