"""Single bits are flipped in a service's files: does `turnloom verify` find each, and name the file?

Usage: python -m studies.service.flips MODEL --work FOLDER [--flips 60]
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from studies.lib.figures import record
from studies.service.lab import ASKS, arguments, dialogues, prepare, save
from turnloom.journal import Journal
from turnloom.service.verify import record_checksums, verify
from turnloom.vectors import VectorOptions, build_vectors

KINDS = ("table", "vectors", "replies", "intents", "model", "state")


def build(folder: Path, model: Path) -> None:
    """Write one of everything."""
    from turnloom.runtime import load_encoder

    prepare(folder, model, None)
    if (folder / "model").is_symlink():
        (folder / "model").unlink()
        shutil.copytree(model, folder / "model")
        record_checksums(folder / "model")
    build_vectors([folder / "table"], folder / "vectors", VectorOptions(lambda: load_encoder(folder / "model")))
    added = [{"turns": [ask], "intents": [name]} for name, asks in ASKS.items() for ask in asks]
    changes = [{"do": "add", "examples": [one], "names": {}} for one in added]
    for name, records in (("replies/pending.jsonl", dialogues(50)), ("intents.jsonl", changes)):
        journal = Journal(folder / "state" / name)
        with journal.writing():
            journal.append(records)


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def main() -> None:
    parser = arguments()
    parser.add_argument("--flips", type=int, default=60)
    given = parser.parse_args()
    build(given.work, given.model)
    assert not verify(given.work).problems
    draw, found, flips = random.Random(0), 0, []
    for number in range(given.flips):
        kind = KINDS[number % len(KINDS)]
        files = sorted(path for path in (given.work / kind).rglob("*") if path.is_file() and path.stat().st_size)
        path = draw.choice(files)
        bit = draw.randrange(8 * path.stat().st_size)
        flip(path, bit)
        named = set(verify(given.work / kind).problems)
        flip(path, bit)
        found += named == {path}
        flips.append([str(path.relative_to(given.work)), bit, named == {path}])
    assert not verify(given.work).problems
    figures: dict[str, float] = {"bit_flips": given.flips, "bit_flips_found": found}
    print(figures, [each for each in flips if not each[2]])
    if not given.dry:
        save("flips", {"flips": flips})
        record("service", figures)


if __name__ == "__main__":
    main()
