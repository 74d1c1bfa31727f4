"""A corpus of any size with Zipf-distributed repeats, as a dialogue table: what `prepare` is measured on at scale.

Of all turns, 30 % are drawn from a Zipf distribution over common utterances, the others are practically unique; 5 % of
dialogues are exact copies of others, 5 % near copies (one word added), and 2 % of turns hold personal data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from turnloom.corpus.engine import daft
from turnloom.corpus.schema import ARROW_SCHEMA
from turnloom.corpus.table import TableWriter

TURNS_PER_DIALOGUE = 37 / 17
ROWS_AT_A_TIME = 200_000
VOCABULARY = 20_000
COMMON = 100_000


def _phrases(count: int, rng: np.random.Generator) -> pa.Array:
    """Distinct phrases of three to eight words."""
    syllables = np.array(
        ["ba", "de", "ki", "lo", "mu", "na", "po", "ri", "su", "te", "va", "wo", "za", "fi", "gu", "he"]
    )
    words = np.array(["".join(syllables[rng.integers(0, 16, rng.integers(1, 4))]) for _ in range(VOCABULARY)])
    weights = 1 / np.arange(1, VOCABULARY + 1)  # Zipf's law, as words in English follow it.
    ranks = rng.choice(VOCABULARY, (count, 8), p=weights / weights.sum())
    lengths = rng.integers(3, 9, count)
    return pa.array([" ".join(words[row[:length]]) for row, length in zip(ranks, lengths, strict=True)])


def _personal(rng: np.random.Generator, count: int) -> pa.Array:
    kinds = [
        lambda n: f"write to user{n}@example.com please",
        lambda n: f"call me on +1 415 555 {n % 10_000:04d} tonight",
        lambda n: f"my card is 4111 1111 1111 1111 and order {n}",
        lambda n: f"see https://example.com/item/{n} for it",
    ]
    return pa.array([kinds[n % 4](int(n)) for n in rng.integers(0, 10**6, count)])


class Generator:
    """Makes batches of dialogues; the same seed and size give the same corpus."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.first, self.second = _phrases(60_000, self.rng), _phrases(60_000, self.rng)
        self.common = pc.binary_join_element_wise(self.first, self.second, " ").slice(0, COMMON)
        self.personal = _personal(self.rng, 5_000)

    def _texts(self, count: int) -> pa.Array:
        rng = self.rng
        unique = pc.binary_join_element_wise(
            self.first.take(pa.array(rng.integers(0, len(self.first), count))),
            self.second.take(pa.array(rng.integers(0, len(self.second), count))),
            " ",
        )
        kind = rng.random(count)
        repeated = self.common.take(pa.array((rng.zipf(1.2, count) - 1) % len(self.common)))
        private = self.personal.take(pa.array(rng.integers(0, len(self.personal), count)))
        return pc.if_else(pa.array(kind < 0.3), repeated, pc.if_else(pa.array(kind > 0.98), private, unique))

    def batch(self, start: int, count: int) -> pa.Table:
        """Dialogues number `start` to `start + count`."""
        rng = self.rng
        lengths = np.where(rng.random(count) < 0.85, 2, rng.integers(2, 5, count))
        lengths[:: max(1, count // 50)] = 12
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        texts = self._texts(int(offsets[-1]))
        turn_of = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        source = np.arange(count)
        copies = rng.random(count) < 0.10
        source[copies] = rng.integers(0, count, copies.sum())
        near = copies & (rng.random(count) < 0.5)
        lengths = np.diff(offsets)[source]
        new_offsets = np.concatenate([[0], np.cumsum(lengths)])
        place = (
            np.arange(new_offsets[-1]) - np.repeat(new_offsets[:-1], lengths) + np.repeat(offsets[:-1][source], lengths)
        )
        texts, turn_of = texts.take(pa.array(place)), turn_of[place]
        changed = pc.binary_join_element_wise(texts, pa.scalar("indeed"), " ")
        texts = pc.if_else(pa.array(np.repeat(near, lengths) & (turn_of == 0)), changed, texts)
        return dialogue_rows(texts, turn_of, new_offsets, start)


def dialogue_rows(texts: pa.Array, turn_of: np.ndarray, offsets: np.ndarray, start: int) -> pa.Table:
    """Dialogues of two speakers from flat turns, numbered from `start`."""
    turn_type = ARROW_SCHEMA.field("turns").type.value_type
    speakers = pa.array(["customer", "agent"]).take(pa.array(turn_of % 2))
    columns = {"speaker": speakers, "text": texts}
    fields = [columns.get(field.name, pa.nulls(len(texts), field.type)) for field in turn_type]
    turns = pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(fields, fields=list(turn_type))
    )
    count = len(offsets) - 1
    ids = pc.cast(pa.array(np.arange(start, start + count)), pa.string())
    rows = {"dialogue_id": ids, "source": pa.array(["generated"] * count), "turns": turns}
    return pa.Table.from_arrays(
        [rows.get(field.name, pa.nulls(count, field.type)) for field in ARROW_SCHEMA], schema=ARROW_SCHEMA
    )


def generate(turns: int, folder: Path, generator: Generator | None = None) -> None:
    """Write a table of about so many turns."""
    if (folder / "manifest.json").exists():
        return
    writer = TableWriter(folder)
    generator = generator or Generator()
    rows = min(ROWS_AT_A_TIME, round(1.05 * turns / TURNS_PER_DIALOGUE))
    raw = writer.partial / "raw"
    raw.mkdir()
    written = dialogues = 0
    while written < turns:
        batch = generator.batch(dialogues, rows)
        pq.write_table(batch, raw / f"{dialogues:09}.parquet")
        dialogues += len(batch)
        written += len(batch["turns"].combine_chunks().flatten())
    writer.write(daft().read_parquet(f"{raw}/*.parquet"))
    manifest = writer.finish("studies.corpus.generate", {})
    print(f"{folder}: {manifest.dialogues:,} dialogues, {manifest.turns:,} turns")
