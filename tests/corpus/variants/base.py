"""What a variant is."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Said = list[tuple[str, ...]]


@dataclass(frozen=True)
class Variant:
    """One way in which a format is written.

    Args:
        reader: The reader that must recognise it with no option given.
        files: Its files by path; a single one is given to `turnloom convert` as it is, several as a folder.
        said: The turns of each dialogue, ordered by dialogue: ``(speaker, text)``, with the time in UTC if it is checked.
        main: The file that is broken for the fuzz tests.
    """

    name: str
    reader: str
    files: dict[str, bytes]
    said: list[Said] = field(default_factory=list)
    main: str = ""

    @property
    def content(self) -> bytes:
        """The file with the messages."""
        return self.files[self.main or next(iter(self.files))]

    def write(self, folder: Path) -> Path:
        """Write the files; return what a user would give to `turnloom convert`."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


def variant(
    name: str, reader: str, content: bytes | str | dict[str, Any], said: list[Said], *, file: str = "", main: str = ""
) -> Variant:
    """Make a variant of one file, or of several by path; text is stored as UTF-8."""
    files = content if isinstance(content, dict) else {file or f"{reader}.txt": content}
    stored = {path: one if isinstance(one, bytes) else one.encode() for path, one in files.items()}
    return Variant(name, reader, stored, said, main)


def jsonl(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def zipped(files: dict[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
