"""Recall and precision of near-duplicate removal on near duplicates planted among real dialogues.

Usage: TURNLOOM_DATA=... python -m studies.corpus.near
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from studies.lib.figures import record
from turnloom.corpus import convert, read_table
from turnloom.corpus.catalog import get_dataset
from turnloom.corpus.cleaning.near import NearOptions
from turnloom.corpus.prepare import PrepareOptions, prepare
from turnloom.corpus.schema import Dialogue, Turn, dialogues_from_arrow

SETS = ["self_dialogue", "taskmaster", "sgd"]
BASE, PLANTED = 20_000, 4_000
NEAR = NearOptions()


def ngrams(dialogue: Dialogue) -> set[tuple[str, ...]]:
    words = " ".join(turn.text.lower() for turn in dialogue.turns).split()
    return {tuple(words[place : place + NEAR.ngram]) for place in range(len(words) - NEAR.ngram + 1)}


def similarity(one: Dialogue, other: Dialogue) -> float:
    """The exact Jaccard similarity that the options speak of."""
    first, second = ngrams(one), ngrams(other)
    return len(first & second) / max(len(first | second), 1)


def edited(dialogue: Dialogue, name: str, rng: random.Random, vocabulary: list[str]) -> Dialogue:
    """A copy with some of its words replaced, dropped or added."""
    share = rng.choice([0.01, 0.03, 0.06, 0.1, 0.15])
    turns = []
    for turn in dialogue.turns:
        words = []
        for word in turn.text.split():
            kind = rng.random() / share
            words += (
                [word] if kind > 1 else [[rng.choice(vocabulary)], [], [word, rng.choice(vocabulary)]][int(kind * 3)]
            )
        turns.append(Turn(turn.speaker, " ".join(words) or turn.text))
    return Dialogue(name, "planted", turns)


def clean_base(folder: Path) -> list[Dialogue]:
    """Real dialogues of which no two are similar, so that what is removed later was planted."""
    logs = [log for name in SETS for log in get_dataset(name).logs("train")]
    convert(logs, folder / "raw")
    loose = NearOptions(threshold=0.3, bands=60, rows=3)
    prepare(folder / "raw", folder / "base", PrepareOptions(near_duplicates=loose, scrub=False))
    rows = sorted(
        dialogues_from_arrow(read_table(folder / "base").to_arrow()), key=lambda row: (row.source, row.dialogue_id)
    )
    long = [row for row in rows if len(ngrams(row)) >= 30]
    return random.Random(0).sample(long, BASE)


def measured() -> tuple[float, float]:
    """Return recall and precision."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = clean_base(folder)
        vocabulary = sorted({word for row in base[:2_000] for turn in row.turns for word in turn.text.split()})
        planted = {f"planted-{n}": (base[n], edited(base[n], f"planted-{n}", rng, vocabulary)) for n in range(PLANTED)}
        for row in base:
            row.dialogue_id = f"{row.source}/{row.dialogue_id}"
            row.source = "base"
        rows = base + [copy for _, copy in planted.values()]
        kept = run(rows, folder)
    truly = {name for name, (one, copy) in planted.items() if similarity(one, copy) >= NEAR.threshold}
    gone = {row.dialogue_id for row in rows} - kept
    origin = {base_row.dialogue_id: name for name, (base_row, _) in planted.items()}
    removed = {name if name in planted else origin.get(name, name) for name in gone}
    recall = len(truly & removed) / len(truly)
    precision = len(truly & removed) / max(len(removed), 1)
    print(
        f"{len(truly):,} near duplicates among {PLANTED:,} planted, {len(removed):,} removed, {len(gone):,} rows gone"
    )
    return recall, precision


def main() -> None:
    recall, precision = measured()
    record("corpus", {"near_duplicate_recall": recall, "near_duplicate_precision": precision})
    record("scale", {"near_recall": recall, "near_precision": precision})


def run(rows: list[Dialogue], folder: Path) -> set[str]:
    """The ids of the dialogues that `prepare` keeps."""
    from turnloom.corpus.engine import daft
    from turnloom.corpus.schema import dialogues_to_arrow
    from turnloom.corpus.table import TableWriter

    writer = TableWriter(folder / "mixed")
    writer.write(daft().from_arrow(dialogues_to_arrow(rows)))
    writer.finish("studies.corpus.near", {})
    prepare(folder / "mixed", folder / "out", PrepareOptions(near_duplicates=NEAR, scrub=False))
    return set(read_table(folder / "out").to_pydict()["dialogue_id"])


if __name__ == "__main__":
    main()
