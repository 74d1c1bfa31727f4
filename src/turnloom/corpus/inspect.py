"""Statistics of a dialogue table (sizes, speakers, repeats, warnings before training), and a page that shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, Field

from turnloom.corpus.cleaning.hold_out import HoldOut, overlap_counts
from turnloom.corpus.cleaning.normalise import word_counts
from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.privacy import personal_counts, scrubbed
from turnloom.corpus.table import count_by_source
from turnloom.corpus.turn_arrays import beginnings, dialogue_hashes, join_turns, split_turns, sums
from turnloom.pages import page, rows_table
from turnloom.pages.plots import bars, curve

MAX_WORDS = 60
MAX_TURNS = 40
TOP_UTTERANCES = 20
CURVE_POINTS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


class CorpusStatistics(BaseModel):
    """The numbers behind `turnloom inspect`. A histogram's last entry counts its value and above."""

    dialogues: int
    turns: int
    words: int
    sources: dict[str, dict[str, int]]
    speakers: dict[str, int]
    turns_per_dialogue: list[int]
    words_per_turn: list[int]
    distinct_utterances: int
    top_utterances: list[tuple[str, int]]
    top_shares: dict[float, float]
    duplicate_dialogues: int
    same_speaker_pairs: int
    adjacent_pairs: int
    pairs_over_3_words: int
    personal_data: dict[str, int] = Field(default_factory=dict)
    overlaps: dict[str, int] = Field(default_factory=dict)

    @property
    def top_1_percent_share(self) -> float:
        """The share of all turns that the most frequent 1 % of distinct utterances take."""
        return self.top_shares.get(0.01, 0.0)


def _dialogue_measures(table: Any) -> Any:
    """Compute small numbers per dialogue in one pass over the Arrow offsets."""
    counts = dict.fromkeys(("turns", "pairs", "same_speaker", "long_pairs"), pa.int64())
    fields = {**counts, "hash": pa.uint64(), "words": pa.list_(pa.int32())}

    def measures(array: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(array)
        texts, speakers = flat.field("text"), flat.field("speaker")
        words = word_counts(texts).astype(np.int32)
        follows = np.ones(len(flat), bool)
        follows[beginnings(offsets)] = False  # The first turn of a dialogue follows nothing.
        previous = np.maximum(np.arange(len(flat)) - 1, 0)
        codes = pc.dictionary_encode(speakers).indices.to_numpy(zero_copy_only=False)
        same = follows & (codes == codes[previous])
        long = follows & (words > 3) & (words[previous] > 3)
        return [
            pa.array(np.diff(offsets)),
            *[pa.array(sums(mask, offsets)) for mask in (follows, same, long)],
            pa.array(dialogue_hashes([join_turns(offsets, pc.utf8_lower(texts))])),
            join_turns(offsets, pa.array(words)),
        ]

    return with_columns(table, fields, measures, "turns").select(*fields)


def count_pairs(table: Any) -> int:
    """Count consecutive pairs with more than 3 words on both sides, which DSE trains on."""
    found = _dialogue_measures(table).agg(daft().col("long_pairs").sum()).to_pydict()["long_pairs"][0]
    return int(found or 0)


def _counted(table: Any, column: Any) -> Any:
    """Count how often each `value` of a column occurs."""
    value = daft().col("value")
    return table.select(column.alias("value")).groupby("value").agg(value.count(mode="all").alias("count"))


def _histogram(values: Any, column: str, highest: int) -> list[int]:
    counts = [0] * (highest + 1)
    for row in _counted(values, daft().col(column).clip(0, highest)).to_pylist():
        counts[int(row["value"])] = row["count"]
    return counts


def _repeats(turns: Any) -> tuple[int, list[tuple[str, int]], dict[float, float]]:
    """Return distinct utterances, the most frequent ones, and the share of the corpus that these take."""
    text = daft().col("turns").get("text")
    counted = _counted(turns, text.strip().lower()).collect()
    top = counted.sort(["count", "value"], desc=[True, False]).limit(TOP_UTTERANCES).to_pylist()
    counts = np.sort(counted.select("count").to_arrow().column("count").to_numpy())[::-1]
    if not len(counts):
        return 0, [], {}
    running = np.cumsum(counts)
    shares = {point: float(running[max(1, round(len(counts) * point)) - 1] / running[-1]) for point in CURVE_POINTS}
    return len(counts), [(row["value"], row["count"]) for row in top], shares


def measure(table: Any, hold_out: HoldOut | None = None) -> CorpusStatistics:
    """Measure a dialogue table.

    Args:
        table: A Daft DataFrame with the schema of the dialogue table.
        hold_out: Evaluation sets to look for in the table.
    """
    col = daft().col
    measured = _dialogue_measures(table).collect()
    totals = measured.agg(
        *[col(name).sum().alias(name) for name in ("turns", "pairs", "same_speaker", "long_pairs")],
        col("hash").count().alias("dialogues"),
    ).to_pylist()[0]
    words = measured.select(col("words").explode().alias("words"))
    turns = table.select(col("turns").explode())
    distinct, top, shares = _repeats(turns)
    speakers = {row["value"] or "": row["count"] for row in _counted(turns, col("turns").get("speaker")).to_pylist()}
    return CorpusStatistics(
        dialogues=totals["dialogues"],
        turns=totals["turns"] or 0,
        words=words.agg(col("words").sum()).to_pydict()["words"][0] or 0,
        sources=count_by_source(table),
        speakers=dict(sorted(speakers.items(), key=lambda entry: (-entry[1], entry[0]))),
        turns_per_dialogue=_histogram(measured, "turns", MAX_TURNS),
        words_per_turn=_histogram(words, "words", MAX_WORDS),
        distinct_utterances=distinct,
        top_utterances=top,
        top_shares=shares,
        duplicate_dialogues=totals["dialogues"] - measured.select("hash").distinct().count_rows(),
        same_speaker_pairs=totals["same_speaker"] or 0,
        adjacent_pairs=totals["pairs"] or 0,
        pairs_over_3_words=totals["long_pairs"] or 0,
        personal_data=personal_counts(scrubbed(table, None)),
        overlaps=overlap_counts(table, hold_out) if hold_out else {},
    )


def _percent(part: float, whole: float) -> int:
    return round(100 * part / whole) if whole else 0


def warnings_of(found: CorpusStatistics) -> list[str]:
    """Explain in plain words what to know before training on this table."""
    warnings = []
    short = _percent(sum(found.words_per_turn[:4]), found.turns)
    if short >= 10:
        kept = _percent(found.pairs_over_3_words, found.adjacent_pairs)
        warnings.append(
            f"{short}% of turns are under 4 words: DSE will skip them, which leaves {kept}% of adjacent pairs."
        )
    single = _percent(found.turns_per_dialogue[1], found.dialogues)
    if single >= 1:
        warnings.append(f"{single}% of dialogues have one turn only: nothing can be learned from them.")
    duplicates = _percent(found.duplicate_dialogues, found.dialogues)
    if duplicates >= 1:
        warnings.append(f"{duplicates}% of dialogues are exact copies of another one: 'turnloom prepare' removes them.")
    top = _percent(found.top_1_percent_share, 1)
    if top >= 15:
        warnings.append(
            f"The most frequent 1% of utterances make up {top}% of all turns: weight pairs by inverse frequency (WMDC)."
        )
    same = _percent(found.same_speaker_pairs, found.adjacent_pairs)
    if len(found.speakers) == 1:
        who = "All turns have the same speaker" if next(iter(found.speakers)) else "No turn has a speaker"
        warnings.append(f"{who}: name the speaker's column with --map speaker=COLUMN.")
    elif same >= 10:
        warnings.append(f"In {same}% of adjacent pairs the same speaker goes on: merge turns with 'turnloom prepare'.")
    if found.personal_data:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.personal_data.items())
        warnings.append(f"It holds what looks like personal data ({kinds}): 'turnloom prepare' replaces it.")
    leaked = found.overlaps.get("leaked_turns", 0) + found.overlaps.get("cut_pairs", 0)
    if leaked:
        warnings.append(f"{leaked:,} turns and pairs are benchmark material: cut them out with 'prepare --hold-out'.")
    if found.adjacent_pairs < 10_000:
        warnings.append(
            f"{found.adjacent_pairs:,} adjacent pairs are few: fine-tune an existing model, don't train from scratch."
        )
    return warnings


MAX_ROWS = 10


def headline(found: CorpusStatistics) -> dict[str, str]:
    """Return the key figures for the terminal and the page."""
    duplicates = found.duplicate_dialogues / found.dialogues if found.dialogues else 0
    return {
        "dialogues": f"{found.dialogues:,}",
        "turns": f"{found.turns:,}",
        "turns a dialogue": f"{found.turns / max(found.dialogues, 1):.1f}",
        "words a turn": f"{found.words / max(found.turns, 1):.1f}",
        "distinct utterances": f"{found.distinct_utterances:,}",
        "taken by the top 1%": f"{found.top_1_percent_share:.1%}",
        "duplicate dialogues": f"{duplicates:.1%}",
        "pairs over 3 words": f"{found.pairs_over_3_words:,}",
    }


def _top(counts: dict[str, int], whole: int) -> list[tuple[str, int, str]]:
    shown = list(counts.items())[:MAX_ROWS]
    rows = [(name or "(none)", count, f"{count / max(whole, 1):.1%}") for name, count in shown]
    rest = sum(counts.values()) - sum(count for _, count in shown)
    if rest:
        rows.append((f"{len(counts) - MAX_ROWS:,} others", rest, f"{rest / max(whole, 1):.1%}"))
    return rows


def inspect_page(found: CorpusStatistics, name: str) -> str:
    """Render the statistics as one self-contained HTML page."""
    sources = [(source, row["dialogues"], row["turns"]) for source, row in found.sources.items()]
    sections = {
        "Sources": rows_table(["source", "dialogues", "turns"], sources),
        "Speakers": rows_table(["speaker", "turns", "share"], _top(found.speakers, found.turns)),
        "Turns in a dialogue": bars("Turns in a dialogue", found.turns_per_dialogue[1:], "turns", first=1),
        "Words in a turn": bars("Words in a turn", found.words_per_turn, "words"),
        "How uneven the utterances are": curve(
            "Part of all turns that the most frequent utterances take",
            found.top_shares,
            "the most frequent part of distinct utterances, and the part of all turns it takes",
        ),
        "Most frequent utterances": rows_table(["utterance", "times"], found.top_utterances),
    }
    if found.personal_data:
        sections["Personal data"] = rows_table(["kind", "times"], list(found.personal_data.items()))
    if found.overlaps:
        sections["Benchmark material"] = rows_table(["found for", "turns and pairs"], list(found.overlaps.items()))
    lead = "What is in this dialogue table, and what to know before training on it."
    return page(f"Dialogues in {name}", lead, headline(found), warnings_of(found), sections)
