"""Utterances with slots: from annotations per word, or from a tagger such as spaCy's."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from turnloom.corpus.catalog import get_dataset, load_catalog
from turnloom.corpus.engine import daft
from turnloom.corpus.readers.location import open_raw, stem, unpacked
from turnloom.corpus.schema import Dialogue, Slot, Turn, check_dialogue, dialogues_to_arrow
from turnloom.corpus.table import Manifest, TableWriter, count_by_source, read_table
from turnloom.corpus.turn_arrays import Offsets, map_turns, with_field
from turnloom.errors import TurnloomError

Slots = Sequence[tuple[str, int, int]]
"""The name, start and end of each slot."""
Tagger = Callable[[Sequence[str]], Iterable[Slots]]
"""Any function that finds the slots of some texts."""


@dataclass(frozen=True)
class Tagged:
    """An utterance and its slots (name, start, end), in order and without overlaps."""

    text: str
    slots: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, text: str, slots: Iterable[tuple[str, int, int]]) -> Tagged:
        """Build it from slots in any order: of two that overlap, the first stays; at the same start, the longer one."""
        kept: list[tuple[str, int, int]] = []
        for name, start, end in sorted(slots, key=lambda slot: (slot[1], -slot[2], slot[0])):
            if start < end <= len(text) and (not kept or start >= kept[-1][2]):
                kept.append((name, start, end))
        return cls(text, tuple(kept))

    def values(self) -> Iterator[tuple[str, str]]:
        """Return the name and value of each slot."""
        for name, start, end in self.slots:
            yield name, self.text[start:end]


def read_bio(text: str, tags: Sequence[str]) -> Tagged:
    """Read an utterance with a tag per word: `B-name` begins a slot, `I-name` continues it, `O` is none.

    An `I-` tag without a `B-` tag before it begins a slot.

    Example:
        >>> read_bio("fly to new york today", ["O", "O", "B-city", "I-city", "B-day"]).slots
        (('city', 7, 15), ('day', 16, 21))
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) != len(tags):
        raise TurnloomError(f"{text!r} has {len(words)} words and {len(tags)} tags", "give one tag per word")
    slots: list[tuple[str, int, int]] = []
    open_name = None
    for word, tag in zip(words, tags, strict=True):
        kind, _, name = tag.partition("-")
        if kind == "I" and name == open_name:
            slots[-1] = (name, slots[-1][1], word.end())
        elif kind in ("B", "I"):
            slots.append((name, word.start(), word.end()))
        open_name = name if kind in ("B", "I") else None
    return Tagged(text, tuple(slots))


def _slots(tagged: Tagged) -> list[Slot]:
    return [Slot(name, tagged.text[start:end], start, end) for name, start, end in tagged.slots]


def read_utterances(path: Path, source: str) -> Iterator[Dialogue]:
    """Read utterances as dialogues of one turn: JSON Lines with `text`, optional `slots` (tag per word) and `label`."""
    with open_raw(str(path)) as raw, unpacked(str(path), raw) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                tags = row.get("slots")
                tagged = Tagged(row["text"]) if tags is None else read_bio(row["text"], tags)
                intent = row["label"] if isinstance(row.get("label"), str) else None
                turn = Turn("user", tagged.text, slots=_slots(tagged) or None, intent=intent)
                dialogue = check_dialogue(Dialogue(f"{source}-{number}", source, [turn]))
            except (ValueError, KeyError, TypeError, AttributeError, TurnloomError) as error:
                reason = error.problem if isinstance(error, TurnloomError) else f"no utterance ({error!r})"
                fix = "each line is a JSON object with 'text' and perhaps 'slots', a tag for each word"
                raise TurnloomError(f"{path}, line {number}: {reason}", fix) from error
            yield dialogue


def spacy_tagger(pipeline: str) -> Tagger:
    """Tag named entities with a spaCy pipeline (a folder, or the name of an installed one)."""
    import warnings

    try:
        import spacy
    except ImportError as error:
        raise TurnloomError("a spaCy tagger needs spaCy", "pip install 'turnloom[privacy]'") from error
    try:
        with warnings.catch_warnings():
            # A pipeline of another minor version warns every time; it works all the same.
            warnings.filterwarnings("ignore", message=r".*\[W095\]")
            loaded = spacy.load(pipeline, exclude=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    except OSError as error:
        raise TurnloomError(f"{pipeline} is not a spaCy pipeline", "name its folder or an installed one") from error

    def tag(texts: Sequence[str]) -> Iterator[Slots]:
        for document in loaded.pipe(texts):
            yield [(entity.label_.lower(), entity.start_char, entity.end_char) for entity in document.ents]

    return tag


def load_tagger(name: str) -> Tagger:
    """Load a tagger by name: `spacy:PIPELINE`, or `MODULE:FUNCTION` for any function of a list of texts."""
    kind, _, what = name.partition(":")
    if not what:
        raise TurnloomError(f"there is no tagger {name!r}", "write spacy:PIPELINE or MODULE:FUNCTION")
    if kind == "spacy":
        return spacy_tagger(what)
    try:
        tagger: Tagger = getattr(importlib.import_module(kind), what)
    except (ImportError, AttributeError) as error:
        raise TurnloomError(f"the tagger {name!r} cannot be loaded ({error})", "check module and function") from error
    return tagger


def with_slots(table: Any, tagger: Tagger) -> Any:
    """Add slots from a tagger to turns without slots, in a dialogue table (a Daft DataFrame)."""

    def tagged(offsets: Offsets, flat: pa.StructArray) -> tuple[Offsets, pa.StructArray]:
        rows, texts = flat.field("slots").to_pylist(), flat.field("text").to_pylist()
        untagged = [index for index, slots in enumerate(rows) if not slots]
        for index, slots in zip(untagged, tagger([texts[index] for index in untagged]), strict=True):
            rows[index] = [asdict(slot) for slot in _slots(Tagged.of(texts[index], slots))] or None
        return offsets, with_field(flat, "slots", pa.array(rows, flat.field("slots").type))

    return map_turns(table, tagged)


def slot_table(
    inputs: Sequence[str],
    out: Path,
    *,
    tagger: Tagger | None = None,
    split: str = "train",
    command: str = "",
    overwrite: bool = False,
) -> Manifest:
    """Write a table of utterances and their slots.

    Args:
        inputs: Dialogue table folders, JSON Lines of utterances with a tag per word, or names of public sets.
        out: The new table's folder.
        tagger: Finds slots in turns that have none; without it they stay unchanged.
        split: The split of public sets.
        command: The command line or call to record in the manifest.
        overwrite: Replace an existing table.
    """
    table, *others = [_read(name, split) for name in inputs]
    for other in others:
        table = table.concat(other)
    if tagger is not None:
        table = with_slots(table, tagger)
    writer = TableWriter(out, overwrite=overwrite)
    writer.write(table)
    return writer.finish(command, {"sources": count_by_source(writer.staged())})


def _read(name: str, split: str) -> Any:
    """Read a table, or utterances as one. Sets of utterances are small; large data comes as a table."""
    path = Path(name)
    if path.is_dir():
        return read_table(path)
    if path.is_file():
        files = {stem(name): path}
    elif name in load_catalog():
        known = get_dataset(name)
        files = {f"{name}-{file}": known.path(file) for file in known.split_files(split)}
    else:
        raise TurnloomError(f"{name} is not a folder, file or public set", "'turnloom data list' shows the sets")
    utterances = [utterance for source, file in files.items() for utterance in read_utterances(file, source)]
    return daft().from_arrow(dialogues_to_arrow(utterances))
