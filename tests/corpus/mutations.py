"""Broken records of every kind that logs are known to hold, for each format, by a seeded generator."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.corpus import formats
from tests.corpus.formats import sample

WRONG: list[Any] = [None, 0, -1, 1e308, True, "", [], {}, [[]], {"a": 1}, "\x00", "\ud800", 10**30]
HUGE = 10 * 2**20


def _wrong_type(value: Any, rng: random.Random) -> Any:
    """The same structure with one value, at any depth, replaced by one of another type."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        return {**value, key: _wrong_type(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [*value[:place], _wrong_type(value[place], rng), *value[place + 1 :]]
    return rng.choice(WRONG)


def _missing_key(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        if rng.random() < 0.4:
            return {name: entry for name, entry in value.items() if name != key}
        return {**value, key: _missing_key(value[key], rng)}
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        return [*value[:place], _missing_key(value[place], rng), *value[place + 1 :]]
    return value


def _bytes(record: Any) -> bytes:
    return json.dumps(record).encode()


def _bomb(rng: random.Random) -> bytes:
    depth = rng.choice([1_000, 100_000])
    return rng.choice([b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth])


JsonMutation = Callable[[Any, random.Random], bytes]
KEEPS_STRUCTURE: list[JsonMutation] = [
    lambda record, rng: _bytes(record),
    lambda record, rng: _bytes(_wrong_type(record, rng)),
    lambda record, rng: _bytes(_missing_key(record, rng)),
    lambda record, rng: _bytes(record).replace(b"room", b"=cmd|' /C calc'!A0"),
    lambda record, rng: _bytes(record).replace(b"room", b"\\u0000\\ud83d"),
]
BREAKS_STRUCTURE: list[JsonMutation] = [
    lambda record, rng: _bytes(record)[: rng.randrange(1, 60)],
    lambda record, rng: _bytes(record)[: -rng.randrange(1, 60)],
    lambda record, rng: _bytes(record).replace(b"room", b"\x00"),
    lambda record, rng: _bytes(record).replace(b"room", b"\xff\xfe\xc3("),
    lambda record, rng: rng.randbytes(rng.randrange(1, 200)).replace(b"\n", b" ").replace(b"\r", b" ") + b"x",
    lambda record, rng: _bomb(rng),
]


def _huge(record: Any) -> bytes:
    return _bytes(record).replace(b"room", b"x" * HUGE)


@dataclass(frozen=True)
class Fuzz:
    """A file of broken records, the reader it is for, and how many records it holds.

    `records` is None where a broken record may rightly be read together with its neighbour.
    """

    reader: str
    content: bytes
    records: int | None
    may_be_empty: bool = False
    """Whether nothing at all may be left of it: a transcript without its time spans."""


def _json_record(way: str, number: int) -> Any:
    dialogue = sample(number)
    return {
        "turns": formats.turns_record,
        "messages": formats.messages_record,
        "sgd": formats.sgd_record,
        "taskmaster": formats.taskmaster_record,
        "multiwoz": formats.multiwoz_record,
    }[way](dialogue)


def json_lines_fuzz(reader: str, count: int, rng: random.Random) -> Iterator[Fuzz]:
    """One file with one mutated record a line."""
    lines = []
    for number in range(count):
        mutate = rng.choice(KEEPS_STRUCTURE + BREAKS_STRUCTURE)
        record = _json_record(reader, number)
        # A blank line is no record, and a few records are far too long.
        lines.append(_huge(record) if number % 1_000 == 999 else mutate(record, rng) or b"x")
    # The first line is whole, so that the container is clear.
    content = b"\n".join([_bytes(_json_record(reader, 0)), *lines]) + b"\n"
    yield Fuzz(reader, content, count + 1)


def json_array_fuzz(reader: str, count: int, rng: random.Random) -> Iterator[Fuzz]:
    """Files as the public sets have them: many records whose structure holds, or one that is broken."""
    whole = [rng.choice(KEEPS_STRUCTURE)(_json_record(reader, number), rng) for number in range(count // 2)]
    for start in range(0, len(whole), 100):
        part = whole[start : start + 100]
        if reader == "multiwoz":
            # Two whole records besides, so that the file is an object of records whatever becomes of the others.
            part = [_bytes(_json_record(reader, 0)), *part]
            named = [b'"d%d.json": %s' % (number, record) for number, record in enumerate(part)]
            yield Fuzz(reader, b"{\n" + b",\n".join(named) + b"\n}\n", len(part))
        else:
            yield Fuzz(reader, b"[\n" + b",\n".join(part) + b"\n]\n", len(part))
    for number in range(count - len(whole)):
        record = _json_record(reader, number)
        broken = _huge(record) if number % 1_000 == 999 else rng.choice(BREAKS_STRUCTURE)(record, rng)
        opening, closing = (b'{\n"d.json": ', b"\n}\n") if reader == "multiwoz" else (b"[\n", b"\n]\n")
        # What is broken may look like two pieces, or take the closing bracket for its own.
        yield Fuzz(reader, opening + broken + closing, None)


def _row_mutations(rng: random.Random, number: int) -> bytes:
    fields = [f"d{number // 3}", str(number), "user", "2024-01-01T10:00:00", "", "I need a room"]
    place = rng.randrange(len(fields))
    bad = rng.choice(["\x00", '"', '""', 'a"b', "=cmd|' /C calc'!A0", "\ud800", "", "x" * 200_000, "é\u2028", "\r"])
    kind = rng.randrange(7)
    if kind == 0:
        fields[place] = bad
    elif kind == 1:
        del fields[place]
    elif kind == 2:
        fields += ["more"] * rng.randrange(1, 5)
    line = ",".join(fields).encode("utf-8", "surrogatepass")
    if kind == 3:
        line = line[: rng.randrange(1, len(line))]
    elif kind == 4:
        line = line.replace(b"room", b"\xff\xfe")
    elif kind == 5:
        line = rng.randbytes(rng.randrange(1, 100)).replace(b"\n", b"") + b"x"
    return b"y" * HUGE if number % 1_000 == 999 else line


def csv_fuzz(count: int, rng: random.Random) -> Iterator[Fuzz]:
    header = b"conversation_id,turn,role,timestamp,intent,message"
    rows = [_row_mutations(rng, number) for number in range(count)]
    yield Fuzz("csv", b"\n".join([header, *rows]) + b"\n", None)


def transcript_fuzz(count: int, rng: random.Random) -> Iterator[Fuzz]:
    blocks = []
    for number in range(count):
        text = formats.write_transcript([sample(number)]).strip()
        kind = rng.randrange(6)
        if kind == 0:
            text = text[rng.randrange(len(text)) :]
        elif kind == 1:
            text = text.replace(b"room", b"\xff\xfe")
        elif kind == 2:
            text = text.replace(b"room", b"\x00")
        elif kind == 3:
            text = rng.randbytes(rng.randrange(1, 100)).replace(b"\n", b" ")
        elif kind == 4:
            text = text.replace(b": ", b":")
        blocks.append(b"user: " + b"y" * HUGE if number % 1_000 == 999 else b"x" + text.strip(b"\n"))
    yield Fuzz("transcript", b"\n\n".join(blocks) + b"\n", count)


def parquet_fuzz(count: int, rng: random.Random) -> Iterator[Fuzz]:
    """A Parquet file is checked as a whole: flipped bytes, cut ends, and rows with odd values."""
    good = formats.write_parquet_rows([sample(number) for number in range(3)])
    for _ in range(count // 10):
        content = bytearray(good)
        for _ in range(rng.randrange(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        yield Fuzz("parquet", bytes(content[: rng.randrange(4, len(content) + 1)]), None)
    rows = []
    for number in range(count - count // 10):
        row = formats.rows_of([sample(number)])[0]
        row["turn"] = str(row["turn"])
        row[rng.choice(list(row))] = rng.choice(["\x00", "", "x" * 200_000 if number % 100 == 0 else "y", None, "=1+1"])
        rows.append(row)
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    yield Fuzz("parquet", buffer.getvalue(), len(rows))


SIGNS = [
    "\x00",
    "\ufeff",
    "\u200e",
    "\u2028",
    "\r",
    "\t",
    ":",
    '"',
    "<",
    "[",
    "]",
    "-->",
    "From ",
    "=",
    "9" * 400,
    "é" * 300,
]


def _text_mutation(content: bytes, rng: random.Random) -> bytes:
    """A text with some of its lines or characters lost, doubled, moved or replaced."""
    for _ in range(rng.randrange(1, 4)):
        choice = rng.randrange(8)
        lines = content.split(b"\n")
        line = rng.randrange(len(lines))
        at = rng.randrange(len(content) + 1)
        if choice == 0:
            content = content[:at]
        elif choice == 1:
            content = content[:at] + rng.choice(SIGNS).encode() + content[at:]
        elif choice == 2:
            content = content[:at] + rng.randbytes(rng.randrange(1, 20)) + content[at + rng.randrange(20) :]
        elif choice == 3:
            del lines[line]
            content = b"\n".join(lines)
        elif choice == 4:
            lines.insert(rng.randrange(len(lines)), lines[line])
            content = b"\n".join(lines)
        elif choice == 5:
            content = content[:at] + content[at + rng.randrange(1, 40) :]
        elif choice == 6:
            lines[line] = rng.choice(SIGNS).encode() * rng.choice([1, 3, 5_000])
            content = b"\n".join(lines)
        else:
            lines[line] = lines[line].swapcase().replace(b" ", rng.choice([b"", b"\t", b"\xa0", b"\xc2\xa0"]))
            content = b"\n".join(lines)
    return content


def _json_mutation(content: bytes, rng: random.Random) -> bytes:
    """An export in which a value at any depth has another type, is missing, or is broken off."""
    choice = rng.random()
    if choice < 0.2:
        return _text_mutation(content, rng)
    if choice < 0.22:  # A few: each takes as long as a hundred others.
        at = rng.randrange(len(content))
        return content[:at] + _bomb(rng) + content[at:]
    try:
        values = [json.loads(content)]
    except ValueError:
        values = [json.loads(line) for line in content.splitlines()]
    mutate = rng.choice([_wrong_type, _missing_key])
    values = [mutate(value, rng) for value in values]
    return b"\n".join(json.dumps(value, indent=rng.choice([None, 1])).encode() for value in values)


def _archive_mutation(content: bytes, rng: random.Random) -> bytes:
    """A workbook or an archive with broken bytes, or with a broken member in a whole archive."""
    if rng.random() < 0.4:
        changed = bytearray(content)
        for _ in range(rng.randrange(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed[: rng.randrange(len(changed) // 2, len(changed) + 1)])
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        names = old.namelist()
        broken = rng.choice(names)
        for name in names:
            new.writestr(name, _text_mutation(old.read(name), rng) if name == broken else old.read(name))
    return buffer.getvalue()


SHAPELESS = {"dialogue_id": "ref", "text": "events[].says", "speaker": "events[].by.name", "time": "events[].on"}
"""The paths of `_shapeless`."""


def _shapeless() -> bytes:
    events = [{"by": {"name": name}, "says": f"room {name}", "on": "2024-05-01T10:00:00Z"} for name in ("Ann", "Ben")]
    return json.dumps([{"ref": f"r{number}", "events": events} for number in range(3)]).encode()


def export_fuzz(reader: str, count: int, rng: random.Random) -> Iterator[Fuzz]:
    """Files with a mutated record each, from the variants of a format."""
    from tests.corpus.variants import VARIANTS

    contents = [one.content for one in VARIANTS if one.reader == reader and not one.content.startswith(b"PK")]
    contents += [_shapeless()] if reader == "json" else []
    books = [one.content for one in VARIANTS if one.reader == reader == "excel"]
    for _ in range(count):
        content = rng.choice(contents or books)
        is_json = re.match(rb"\{|\[\s*\{", content) is not None
        mutate = _archive_mutation if books else _json_mutation if is_json else _text_mutation
        yield Fuzz(reader, mutate(content, rng), None, may_be_empty=True)


def fuzz_files(reader: str, count: int, seed: int = 0) -> Iterator[Fuzz]:
    """Files that together hold `count` mutated records for a reader."""
    rng = random.Random(f"{reader}-{seed}")
    if reader in ("turns", "messages"):
        yield from json_lines_fuzz(reader, count, rng)
    elif reader in ("sgd", "taskmaster", "multiwoz"):
        yield from json_array_fuzz(reader, count, rng)
    else:
        makers = {"csv": csv_fuzz, "transcript": transcript_fuzz, "parquet": parquet_fuzz}
        yield from makers[reader](count, rng) if reader in makers else export_fuzz(reader, count, rng)
