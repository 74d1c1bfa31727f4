"""Messages from a file or a stream: JSON lines, a JSON list, CSV, TSV, or one message a line."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from turnloom.errors import TurnloomError
from turnloom.intents.examples import Turns

__all__ = ["LabelledMessage", "read_messages"]

DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS = ("jsonl", "json", "csv", "tsv", "txt")


@dataclass(frozen=True)
class LabelledMessage:
    """One message as it was read.

    Attributes:
        turns: The earlier turns if there were any, the message last.
        labels: Its intents; none if it has no label.
        row: All that stood there.
    """

    turns: Turns
    labels: tuple[str, ...] = ()
    row: dict[str, Any] = field(default_factory=dict)


def read_messages(source: str | Path | TextIO, *, format: str | None = None) -> Iterator[LabelledMessage]:
    """Messages one after another, as they come.

    JSON objects and columns are `text`, and perhaps `label` (one, or a list; in CSV separated by `|`) and `context`
    (the earlier turns as a list). What has no header and is no JSON is one message a line.

    Args:
        source: A file, or an open stream.
        format: `jsonl`, `json`, `csv`, `tsv` or `txt`; by the name's ending or the first line if not given.

    Raises:
        TurnloomError: If a row cannot be read; it names the line.
    """
    if format is not None and format not in FORMATS:
        raise TurnloomError(f"there is no format {format!r}", f"choose one of {', '.join(FORMATS)}")
    if not isinstance(source, (str, Path)):
        yield from _read(source, "standard input", format)
        return
    path = Path(source)
    if not path.is_file():
        raise TurnloomError(f"{path} is no file", "give a CSV, TSV, JSONL, JSON or text file with messages")
    ending = path.suffix.lstrip(".").lower()
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from _read(file, str(path), format or (ending if ending in FORMATS else None))


def _read(file: Iterable[str], name: str, format: str | None) -> Iterator[LabelledMessage]:
    lines = iter(file)
    try:
        first = next((line for line in lines if line.strip()), "")
        if not first:
            return
        lines = itertools.chain([first], lines)
        for number, row in _rows(lines, format or _recognise(first), name):
            yield _message(row, f"{name}, line {number}")
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


def _rows(lines: Iterator[str], format: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if format == "txt":
        yield from ((number, {"text": line.strip()}) for number, line in enumerate(lines, 1) if line.strip())
    elif format == "jsonl":
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _object(_parsed(line, f"{name}, line {number}"), f"{name}, line {number}")
    elif format == "json":
        found = _parsed("".join(lines), name)
        if not isinstance(found, list):
            raise TurnloomError(f"{name} holds no list", "give a list of JSON objects, or one object a line")
        for number, row in enumerate(found, 1):
            yield number, _object({"text": row} if isinstance(row, str) else row, f"{name}, element {number}")
    else:
        reader = csv.DictReader(lines, delimiter=DELIMITERS[format])
        reader.fieldnames = [(column or "").strip().lower() for column in reader.fieldnames or []]
        if "text" not in reader.fieldnames:
            raise TurnloomError(f"{name} has no column 'text'", f"name one so; it has {', '.join(reader.fieldnames)}")
        for row in reader:
            yield reader.line_num, _from_columns(row, f"{name}, line {reader.line_num}")


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise TurnloomError(f"{place}: {error}", "give one JSON object a line, or a list of them") from error


def _object(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TurnloomError(f"{place}: no JSON object", "give objects with 'text'")
    return row


def _from_columns(row: dict[str, Any], place: str) -> dict[str, Any]:
    """CSV holds lists as text: labels separated by `|`, earlier turns as JSON, or one turn."""
    found = {name: value for name, value in row.items() if name and value is not None}
    if "|" in found.get("label", ""):
        found["label"] = [label.strip() for label in found["label"].split("|") if label.strip()]
    context = found.get("context", "").strip()
    found["context"] = _parsed(context, place) if context.startswith("[") else [context] if context else []
    return found


def _strings(value: Any, what: str, place: str) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else None
    if given is None or not all(isinstance(each, str) for each in given):
        raise TurnloomError(f"{place}: {what!r} is neither a text nor a list of texts", "write it as one of them")
    return tuple(each for each in given if each.strip())


def _message(row: dict[str, Any], place: str) -> LabelledMessage:
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise TurnloomError(f"{place}: no text", "every message needs 'text'")
    context = _strings(row.get("context") or [], "context", place)
    labels = _strings(row.get("label") if row.get("label") is not None else [], "label", place)
    return LabelledMessage((*context, text), tuple(label.strip() for label in labels), row)
