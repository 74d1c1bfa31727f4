"""Search the bytes of everything in a folder for texts, also of what is compressed: Parquet, Lance, gzip and JSON."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from turnloom.corpus.erasure import written_forms


def files_with(folder: Path, texts: Collection[str]) -> dict[str, list[str]]:
    """Return the files of a folder that contain one of these texts, in whatever case, and what they contain."""
    needles = {text: {form.lower().encode() for form in written_forms(text)} for text in texts}
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = b"\0".join(piece.lower() for piece in (str(path.relative_to(folder)).encode(), *contents(path)))
        matches = [text for text, forms in needles.items() if any(form in content for form in forms)]
        if matches:
            found[path.relative_to(folder).as_posix()] = matches
    return found


def contents(path: Path) -> Iterator[bytes]:
    """Return a file's bytes, and what they say when they are read as the file that it is."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:  # A temporary file of a service that writes meanwhile.
        return
    yield raw
    if raw[:2] == b"\x1f\x8b":
        yield gzip.decompress(raw)
    elif raw[:4] == b"PAR1":
        yield str(pq.read_table(pa.BufferReader(raw)).to_pydict()).encode()
    elif path.suffix == ".lance":
        yield from _lance(path)


def _lance(path: Path) -> Iterator[bytes]:
    from lance.file import LanceFileReader

    try:
        table = LanceFileReader(str(path)).read_all().to_table()
    except (OSError, ValueError):
        if path.exists():
            raise
        return
    columns = [column for column in table.column_names if column != "vector"]
    yield str(table.select(columns).to_pydict()).encode()
