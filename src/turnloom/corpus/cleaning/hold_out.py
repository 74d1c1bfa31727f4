"""Remove benchmark text: cut the utterances and utterance pairs of evaluation sets out of dialogues.

A dialogue that contains a benchmark's pair of utterances is cut between the two. A turn that is a benchmark's utterance
is removed, and the turns before and after it become separate dialogues. Dropping whole dialogues would lose most of a
task-oriented corpus over a "Thank you." that every dialogue contains.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.catalog import DataSet, get_dataset, load_catalog
from turnloom.corpus.cleaning.normalise import fold_texts, word_counts
from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.table import falls_into
from turnloom.corpus.turn_arrays import TURNS_TYPE, Offsets, beginnings, hash_strings, join_turns, split_turns, sums
from turnloom.errors import TurnloomError

Hashes = npt.NDArray[np.uint64]

SUITES: dict[str, list[str]] = {
    "dse": [
        *["clinc150", "banking77", "banking77_oos", "hwu64", "snips", "atis", "dstc11_intent", "bitext_support"],
        *["amazon_qa", "medquad", "ubuntu_irc", "sgd", "multiwoz21"],
    ],
    "diaeval": ["sgd", "star", "gsim", "ci_tod", "cdconv_zh"],
    "dialoguecse": ["dialoguecse_jddc", "dialoguecse_ecd", "multidogo", "stsb_en"],
    "tadse": ["snips", "atis", "clinc150", "hwu64"],
    "ums": ["ubuntu_irc", "sgd", "multiwoz21"],
    "conversation": ["ubuntu_irc", "sgd", "multiwoz21", "star"],
}
"""The sets in each benchmark suite."""


def hold_out_names(wanted: list[str]) -> list[str]:
    """Resolve names of suites and sets to names of sets; `all` means every suite."""
    names: list[str] = []
    for name in wanted:
        if name == "all":
            names += [member for members in SUITES.values() for member in members]
        elif name in SUITES:
            names += SUITES[name]
        elif name in load_catalog():
            names.append(name)
        else:
            raise TurnloomError(
                f"--hold-out knows no suite or set {name!r}",
                f"suites are all, {', '.join(SUITES)}; or name a public set",
            )
    return list(dict.fromkeys(names))


def _pair_hashes(first: Hashes, second: Hashes) -> Hashes:
    """Hash two utterances, in this order, to one value."""
    mixed: Hashes = (first * np.uint64(0x9E3779B97F4A7C15)) ^ (second + (first >> np.uint64(31)))
    return mixed


@dataclass(frozen=True)
class _KnownHashes:
    """Sorted hashes, each with a bit for every set that contains it."""

    hashes: Hashes
    sets: Hashes

    @classmethod
    def of(cls, by_set: list[Hashes]) -> _KnownHashes:
        hashes, inverse = np.unique(np.concatenate([*by_set, np.zeros(0, np.uint64)]), return_inverse=True)
        bits = np.uint64(1) << np.arange(len(by_set), dtype=np.uint64)
        sets = np.zeros(len(hashes), np.uint64)
        np.bitwise_or.at(sets, inverse, np.repeat(bits, [len(own) for own in by_set]))
        return cls(hashes, sets)

    def __len__(self) -> int:
        return len(self.hashes)

    def sets_of(self, hashes: Hashes) -> Hashes:
        """Return, for each hash, the bits of the sets that contain it."""
        if not len(self):
            return np.zeros(len(hashes), np.uint64)
        nearest = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[nearest] == hashes, self.sets[nearest], np.uint64(0))


@dataclass(frozen=True)
class HoldOut:
    """The normalised texts and text pairs of some sets, as hashes."""

    names: list[str]
    utterances: _KnownHashes
    pairs: _KnownHashes


def _evaluation_rows(entry: DataSet) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the evaluation rows of a set, with their type: everything but its training split."""
    training = set(entry.splits.get("train", []))
    rule = entry.split_range("train")
    for name, described in entry.files.items():
        if name in training or "train" in name.split(".")[-1].split("_") or name.startswith("train"):
            continue
        with gzip.open(entry.path(name), "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if rule and falls_into(rule, str(row.get("id"))):
                    continue
                yield described.kind, row


def _texts_of(kind: str, row: dict[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the utterances and utterance pairs of an evaluation row."""
    if kind == "dialogues":
        said = [turn["text"] for turn in row["turns"]]
        return [], list(itertools.pairwise(said))
    if kind == "question-answer pairs":
        return [row["question"]], [(row["question"], row["answer"])]
    if kind == "message, response and knowledge":
        return [], [(row["message"], row["response"])]
    if kind == "reply pairs":
        return [], [(row["a"], row["b"])]
    if kind == "scored pairs":
        return [row["a"], row["b"]], []
    if kind == "context and response":
        return [], []
    pairs = [(row["text"], row["response"])] if "response" in row else []
    return [row["text"]], pairs


def _folded_hashes(texts: list[str]) -> Hashes:
    return hash_strings(fold_texts(pa.array(texts, pa.large_string())))


def load_hold_out(names: list[str]) -> HoldOut:
    """Read the evaluation splits of at most 64 sets into hashes of normalised utterances and pairs."""
    if len(names) > 64:
        raise TurnloomError(f"--hold-out names {len(names)} sets", "name at most 64")
    utterances, pairs = [], []
    for name in names:
        own_texts: list[str] = []
        own_pairs: list[tuple[str, str]] = []
        for kind, row in _evaluation_rows(get_dataset(name)):
            row_texts, row_pairs = _texts_of(kind, row)
            own_texts += row_texts
            own_pairs += row_pairs
        utterances.append(_folded_hashes(own_texts))
        pairs.append(_pair_hashes(*(_folded_hashes([pair[side] for pair in own_pairs]) for side in (0, 1))))
    return HoldOut(names, _KnownHashes.of(utterances), _KnownHashes.of(pairs))


MIN_WORDS = 4
"""Shorter utterances ("yes", "thank you very") are too common to leak anything."""


class _Marks:
    """Marks turns of a batch that are an evaluation utterance (`leaked`) or complete an evaluation pair (`cut`)."""

    def __init__(self, offsets: Offsets, flat: pa.StructArray, hold_out: HoldOut) -> None:
        folded = fold_texts(flat.field("text"))
        hashes = hash_strings(folded)
        utterance_sets = hold_out.utterances.sets_of(hashes)
        utterance_sets[word_counts(folded) < MIN_WORDS] = 0
        before = np.concatenate([hashes[:1], hashes[:-1]])
        pair_sets = hold_out.pairs.sets_of(_pair_hashes(before, hashes))
        pair_sets[beginnings(offsets)] = 0  # The first turn of a dialogue follows nothing.
        self.leaked: npt.NDArray[np.bool_] = utterance_sets != 0
        self.cut: npt.NDArray[np.bool_] = pair_sets != 0
        self.sets: Hashes = utterance_sets | pair_sets


def overlap_counts(table: Any, hold_out: HoldOut) -> dict[str, int]:
    """Count the turns (`leaked_turns`) and pairs (`cut_pairs`) that are benchmark text, in total and per set."""
    names = ["leaked_turns", "cut_pairs", *hold_out.names]

    def marked(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        marks = _Marks(offsets, flat, hold_out)
        bits = [(marks.sets >> np.uint64(bit)) & np.uint64(1) for bit in range(len(hold_out.names))]
        return [pa.array(sums(values, offsets).astype(np.int32)) for values in (marks.leaked, marks.cut, *bits)]

    counted = with_columns(table, dict.fromkeys(names, pa.int32()), marked, "turns")
    totals = counted.agg(*[daft().col(name).sum() for name in names]).to_pylist()[0]
    return {name: totals[name] or 0 for name in names}


def _pieces(offsets: Offsets, flat: pa.StructArray, marks: _Marks, min_turns: int) -> tuple[pa.Array, pa.Array]:
    """Return the remaining pieces of each dialogue and their numbers; 0 means uncut."""
    count = len(flat)
    dialogue = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    after_leak = np.concatenate([[False], marks.leaked[:-1]]) if count else marks.leaked
    starts = marks.cut | after_leak
    starts[beginnings(offsets)] = True
    piece = np.cumsum(starts) - 1
    kept = ~marks.leaked
    sizes = np.bincount(piece[kept], minlength=piece[-1] + 1 if count else 0)
    kept &= sizes[piece] >= min_turns if count else kept
    owner = dialogue[np.flatnonzero(starts)] if count else np.zeros(0, np.int64)
    alive = sizes >= min_turns
    first_piece = np.concatenate([[True], owner[1:] != owner[:-1]]) if count else np.zeros(0, bool)
    within = np.arange(len(owner)) - np.maximum.accumulate(np.where(first_piece, np.arange(len(owner)), 0))
    touched = np.zeros(len(offsets) - 1, bool)
    touched[dialogue[marks.leaked | marks.cut]] = True
    numbers = np.where(touched[owner], within + 1, 0)[alive]
    inner = np.concatenate([[0], np.cumsum(sizes[alive])]).astype(np.int64)
    outer = np.concatenate([[0], np.cumsum(np.bincount(owner[alive], minlength=len(offsets) - 1))]).astype(np.int64)
    lists = join_turns(inner, flat.filter(pa.array(kept)))
    return join_turns(outer, lists), join_turns(outer, pa.array(numbers.astype(np.int32)))


def cut_dialogues(table: Any, hold_out: HoldOut, min_turns: int) -> Any:
    """Remove benchmark text; the pieces of a cut dialogue get ids such as ``17#2``."""
    engine = daft()
    col = engine.col

    def cut(turns: pa.Array) -> tuple[pa.Array, pa.Array]:
        offsets, flat = split_turns(turns)
        return _pieces(offsets, flat, _Marks(offsets, flat, hold_out), min_turns)

    fields = {"pieces": pa.list_(TURNS_TYPE), "numbers": pa.list_(pa.int32())}
    pieces = with_columns(table, fields, cut, "turns").exclude("turns").explode(*fields).where(col("pieces").not_null())
    numbered = col("dialogue_id") + "#" + col("numbers").cast(engine.DataType.string())
    ids = engine.functions.when(col("numbers") > 0, numbered).otherwise(col("dialogue_id"))
    return pieces.with_columns({"dialogue_id": ids, "turns": col("pieces")}).select(*table.column_names)
