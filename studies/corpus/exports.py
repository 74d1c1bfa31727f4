"""How many export formats are read with no option, in how many variants, and whether hostile archives are refused.

Usage: python -m studies.corpus.exports
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.corpus.hostile_archives import HOSTILE
from tests.corpus.variant_reading import matches, read_dialogues
from tests.corpus.variants import VARIANTS, Variant

from studies.lib.figures import record
from turnloom.corpus import find_logs
from turnloom.errors import TurnloomError


def is_read(variant: Variant, folder: Path) -> bool:
    """Whether a variant is recognised with no option, and all of it is read as it was said."""
    try:
        formats, dialogues = read_dialogues(variant.write(folder))
    except TurnloomError as error:
        print(f"{variant.name}: {error}")
        return False
    right = all(any(matches(dialogue, said) for dialogue in dialogues) for said in variant.said)
    if formats != {variant.reader} or not right or len(dialogues) != len(variant.said):
        print(f"{variant.name}: read as {formats}, {dialogues}")
        return False
    return True


def is_refused(content: bytes, folder: Path) -> bool:
    """Whether an archive ends with an error for its user, and nothing else is written."""
    path = folder / "export.zip"
    path.write_bytes(content)
    try:
        find_logs([str(path)])
    except TurnloomError:
        return [one.name for one in folder.iterdir()] == ["export.zip"]
    return False


def main() -> None:
    read: list[Variant] = []
    refused = 0
    for variant in VARIANTS:
        with tempfile.TemporaryDirectory() as folder:
            read += [variant] if is_read(variant, Path(folder)) else []
    for make in HOSTILE.values():
        with tempfile.TemporaryDirectory() as folder:
            refused += is_refused(make(), Path(folder))
    # A format counts if every variant of it is read.
    formats = {variant.reader for variant in read} - {variant.reader for variant in VARIANTS if variant not in read}
    record(
        "corpus",
        {
            "export_formats_read": len(formats),
            "export_variants": len(read),
            "hostile_archives": len(HOSTILE),
            "hostile_archives_refused": refused,
        },
    )


if __name__ == "__main__":
    main()
