"""What must not be trained on: the utterances and utterance pairs of the sets that something is evaluated on."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.catalog import DataSet, get_dataset, load_catalog
from turnloom.corpus.fingerprint import hash_strings
from turnloom.corpus.splits import falls_into
from turnloom.corpus.texts import fold_texts
from turnloom.errors import TurnloomError

__all__ = ["SUITES", "HoldOut", "hold_out_names", "load_hold_out", "pair_hashes"]

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
}
"""The sets that each suite of benchmarks is made of."""


def hold_out_names(wanted: list[str]) -> list[str]:
    """The names of sets behind names of suites and sets; `all` means every suite."""
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


def pair_hashes(first: Hashes, second: Hashes) -> Hashes:
    """One hash for two utterances in this order."""
    mixed: Hashes = (first * np.uint64(0x9E3779B97F4A7C15)) ^ (second + (first >> np.uint64(31)))
    return mixed


@dataclass
class HoldOut:
    """Sorted hashes of folded texts and pairs, each with a bit for every set that holds it."""

    names: list[str]
    utterances: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))
    utterance_sets: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))
    pairs: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))
    pair_sets: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))

    def sets_of_utterances(self, hashes: Hashes) -> Hashes:
        """For each hash, the bits of the sets that hold the utterance."""
        return _look_up(hashes, self.utterances, self.utterance_sets)

    def sets_of_pairs(self, hashes: Hashes) -> Hashes:
        """For each hash, the bits of the sets that hold the pair."""
        return _look_up(hashes, self.pairs, self.pair_sets)


def _look_up(hashes: Hashes, known: Hashes, sets: Hashes) -> Hashes:
    if not len(known):
        return np.zeros(len(hashes), np.uint64)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: Hashes = np.where(known[place] == hashes, sets[place], np.uint64(0))
    return found


def _evaluation_rows(entry: DataSet) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a set that something is evaluated on, with their kind: all that is not its training split."""
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
    """The utterances and the pairs of utterances that a row of an evaluation set holds."""
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


def _merged(parts: list[tuple[Hashes, int]]) -> tuple[Hashes, Hashes]:
    """Sorted distinct hashes and the bits of the parts they occur in."""
    if not parts:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    hashes = np.concatenate([part for part, _ in parts])
    bits = np.concatenate([np.full(len(part), np.uint64(1) << np.uint64(bit)) for part, bit in parts])
    order = np.argsort(hashes, kind="stable")
    hashes, bits = hashes[order], bits[order]
    if not len(hashes):
        return hashes, bits
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    return hashes[starts], np.bitwise_or.reduceat(bits, starts)


def _folded_hashes(texts: list[str]) -> Hashes:
    return hash_strings(fold_texts(pa.array(texts, pa.large_string())))


def load_hold_out(names: list[str]) -> HoldOut:
    """Read the evaluation splits of sets into hashes of their folded utterances and pairs.

    Args:
        names: Names of sets, at most 64.
    """
    if len(names) > 64:
        raise TurnloomError(f"--hold-out names {len(names)} sets", "name at most 64")
    utterances, pairs = [], []
    for bit, name in enumerate(names):
        own_texts: list[str] = []
        own_pairs: list[tuple[str, str]] = []
        for kind, row in _evaluation_rows(get_dataset(name)):
            found_texts, found_pairs = _texts_of(kind, row)
            own_texts += found_texts
            own_pairs += found_pairs
        utterances.append((np.unique(_folded_hashes(own_texts)), bit))
        first, second = (_folded_hashes([pair[side] for pair in own_pairs]) for side in (0, 1))
        pairs.append((np.unique(pair_hashes(first, second)), bit))
    return HoldOut(names, *_merged(utterances), *_merged(pairs))
