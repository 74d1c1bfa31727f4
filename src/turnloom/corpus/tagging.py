"""Utterances and their slots: from annotations word by word, or from a tagger such as spaCy's."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.logfile import open_raw, unpacked
from turnloom.corpus.schema import Dialogue, Slot, Turn, check_dialogue
from turnloom.corpus.turn_arrays import join_turns, split_turns, turns_dtype, with_field
from turnloom.errors import TurnloomError

__all__ = ["Tagged", "Tagger", "load_tagger", "read_bio", "read_utterances", "spacy_tagger", "with_slots"]

Slots = Sequence[tuple[str, int, int]]
"""The name, first character and the one after the last of each slot."""
Tagger = Callable[[Sequence[str]], Iterable[Slots]]
"""Anything that finds the slots of some texts."""


@dataclass(frozen=True)
class Tagged:
    """An utterance and its slots: name, first character and the one after the last, in order and without overlap."""

    text: str
    slots: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, text: str, slots: Iterable[tuple[str, int, int]]) -> Tagged:
        """Of slots in any order: of two that overlap the first stays, of two that begin together the longer one."""
        kept: list[tuple[str, int, int]] = []
        for name, start, end in sorted(slots, key=lambda slot: (slot[1], -slot[2], slot[0])):
            if start < end <= len(text) and (not kept or start >= kept[-1][2]):
                kept.append((name, start, end))
        return cls(text, tuple(kept))

    def values(self) -> Iterator[tuple[str, str]]:
        """The name and value of each slot."""
        for name, start, end in self.slots:
            yield name, self.text[start:end]


def read_bio(text: str, tags: Sequence[str]) -> Tagged:
    """An utterance whose words have tags: `B-name` begins a slot, `I-name` goes on with it, `O` is none.

    A slot that goes on without having begun begins.

    Example:
        >>> read_bio("fly to new york today", ["O", "O", "B-city", "I-city", "B-day"]).slots
        (('city', 7, 15), ('day', 16, 21))
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) != len(tags):
        raise TurnloomError(f"{text!r} has {len(words)} words and {len(tags)} tags", "give one tag a word")
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


def read_utterances(path: Path, source: str) -> Iterator[Dialogue]:
    """Single utterances as dialogues of one turn: JSON Lines with `text`, perhaps `slots` (a tag a word) and `label`.

    Raises:
        TurnloomError: If a line is no utterance; the message names it.
    """
    with open_raw(str(path)) as raw, unpacked(str(path), raw) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                tags = row.get("slots")
                tagged = Tagged(row["text"]) if tags is None else read_bio(row["text"], tags)
                slots = [Slot(name, tagged.text[start:end], start, end) for name, start, end in tagged.slots]
                label = row.get("label")
                turn = Turn("user", tagged.text, slots=slots or None, intent=label if isinstance(label, str) else None)
                found = check_dialogue(Dialogue(f"{source}-{number}", source, [turn]))
            except (ValueError, KeyError, TypeError, AttributeError, TurnloomError) as error:
                reason = error.problem if isinstance(error, TurnloomError) else f"no utterance ({error!r})"
                fix = "each line is a JSON object with 'text' and perhaps 'slots', a tag for each word"
                raise TurnloomError(f"{path}, line {number}: {reason}", fix) from error
            yield found


def spacy_tagger(pipeline: str) -> Tagger:
    """The named entities that a spaCy pipeline finds.

    Args:
        pipeline: The folder of a pipeline, or the name of an installed one.
    """
    import warnings

    try:
        import spacy
    except ImportError as error:
        raise TurnloomError("a spaCy tagger needs spaCy", "pip install 'turnloom[privacy]'") from error
    try:
        with warnings.catch_warnings():
            # A pipeline of another minor version says so each time; tags are found all the same.
            warnings.filterwarnings("ignore", message=r".*\[W095\]")
            found = spacy.load(pipeline, exclude=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    except OSError as error:
        raise TurnloomError(f"{pipeline} is no spaCy pipeline", "name its folder or an installed one") from error

    def tag(texts: Sequence[str]) -> Iterator[Slots]:
        for document in found.pipe(texts):
            yield [(entity.label_.lower(), entity.start_char, entity.end_char) for entity in document.ents]

    return tag


def load_tagger(name: str) -> Tagger:
    """A tagger by name: `spacy:PIPELINE`, or `MODULE:FUNCTION` for any function of a list of texts."""
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
    """A dialogue table (a Daft DataFrame) whose turns without slots have those that a tagger finds."""

    @batch_function(turns_dtype())
    def tagged(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        rows, texts = flat.field("slots").to_pylist(), flat.field("text").to_pylist()
        places = [place for place, slots in enumerate(rows) if not slots]
        for place, slots in zip(places, tagger([texts[place] for place in places]), strict=True):
            found = Tagged.of(texts[place], slots)
            rows[place] = [
                {"name": name, "value": found.text[start:end], "start": start, "end": end}
                for name, start, end in found.slots
            ] or None
        return join_turns(offsets, with_field(flat, "slots", pa.array(rows, flat.field("slots").type)))

    return table.with_column("turns", tagged(daft().col("turns")))
