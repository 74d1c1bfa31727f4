"""Every view as a literal loop over dialogues: what the vectorised ones are compared with."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from turnloom.corpus.schema import Dialogue
from turnloom.corpus.turn_arrays import dialogue_hashes
from turnloom.views import Consecutive, ContextResponse, Dropout, Manipulations, Matching, Packed, Windows
from turnloom.views.shuffle import seeded

Row = tuple[str, tuple[str, ...], str | None, str]
"""Group, context, reply, source."""


def words(text: str) -> int:
    return len(re.findall(r"[\u4e00-\u9fff]|[^\x00-\x20\u4e00-\u9fff]+", text))


def consecutive(dialogue: Dialogue, view: Consecutive | Windows, sizes: tuple[int, ...]) -> list[Row]:
    rows: list[Row] = []
    for size in sizes:
        for place in range(size, len(dialogue.turns)):
            context, reply = dialogue.turns[place - size : place], dialogue.turns[place]
            if sum(words(turn.text) for turn in context) <= view.min_words or words(reply.text) <= view.min_words:
                continue
            if view.speaker_change_only and reply.speaker and reply.speaker == context[-1].speaker:
                continue
            group = f"window-{size}" if view.kind == "windows" else ""
            rows.append((group, tuple(turn.text for turn in context), reply.text, dialogue.source))
    return rows


def dropout(dialogue: Dialogue, view: Dropout) -> list[Row]:
    said = [turn.text for turn in dialogue.turns if words(turn.text) > view.min_words]
    return [("", (text,), text, dialogue.source) for text in said]


def dialogue_key(dialogue: Dialogue) -> np.ndarray:
    texts = pa.array([[turn.text for turn in dialogue.turns]], pa.large_list(pa.large_string()))
    return dialogue_hashes([pa.array([dialogue.dialogue_id]), pa.array([dialogue.source]), texts])


def context_response(dialogue: Dialogue, view: ContextResponse, seed: int) -> list[Row]:
    speakers = [turn.speaker or "" for turn in dialogue.turns]
    system = [speaker.lower() in view.system_speakers for speaker in speakers]
    if not any(system):
        system = [speaker != speakers[0] for speaker in speakers]
    places = [place for place in range(1, len(speakers)) if system[place]]
    if view.per_dialogue != "all":
        lots = {place: int(seeded(dialogue_key(dialogue), seed, "turn", place)[0]) for place in places}
        places = sorted(places, key=lots.__getitem__)[: view.per_dialogue]
    rows: list[Row] = []
    for place in places:
        first = 0 if view.max_turns is None else max(0, place - view.max_turns)
        context = [
            ("[SYS] " if system[other] else "[USR] ") + dialogue.turns[other].text for other in range(first, place)
        ]
        rows.append(("", tuple(context), dialogue.turns[place].text, dialogue.source))
    return rows


def matching(dialogue: Dialogue, view: Matching) -> list[Row]:
    rows: list[Row] = []
    for place, turn in enumerate(dialogue.turns):
        around = dialogue.turns[max(0, place - view.turns) : place + view.turns + 1]
        if len(dialogue.turns) > 1 and words(turn.text) > view.min_words:
            rows.append(("", tuple(other.text for other in around), turn.text, dialogue.source))
    return rows


def manipulations(dialogue: Dialogue, view: Manipulations, seed: int) -> list[Row]:
    places = []
    for place in range(view.min_turns, len(dialogue.turns)):
        speaker = dialogue.turns[place].speaker
        if not (view.speaker_change_only and speaker and speaker == dialogue.turns[place - 1].speaker):
            places.append(place)
    if view.per_dialogue != "all":
        lots = {place: int(seeded(dialogue_key(dialogue), seed, "turn", place)[0]) for place in places}
        places = sorted(places, key=lots.__getitem__)[: view.per_dialogue]
    rows: list[Row] = []
    for place in places:
        first = 0 if view.max_turns is None else max(0, place - view.max_turns)
        context = tuple(turn.text for turn in dialogue.turns[first:place])
        rows.append(("", context, dialogue.turns[place].text, dialogue.source))
    return rows


def packed(dialogue: Dialogue, view: Packed) -> list[Row]:
    blocks: dict[int, list[str]] = {}
    before = 0
    for turn in dialogue.turns:
        blocks.setdefault(before // view.words, []).append(turn.text)
        before += words(turn.text)
    return [("", tuple(block), None, dialogue.source) for block in blocks.values()]


def naive_rows(dialogues: list[Dialogue], view: object, seed: int = 0) -> list[Row]:
    rows: list[Row] = []
    for dialogue in dialogues:
        if isinstance(view, Consecutive):
            rows += consecutive(dialogue, view, view.turns)
        elif isinstance(view, Windows):
            rows += consecutive(dialogue, view, view.sizes)
        elif isinstance(view, Dropout):
            rows += dropout(dialogue, view)
        elif isinstance(view, ContextResponse):
            rows += context_response(dialogue, view, seed)
        elif isinstance(view, Matching):
            rows += matching(dialogue, view)
        elif isinstance(view, Manipulations):
            rows += manipulations(dialogue, view, seed)
        elif isinstance(view, Packed):
            rows += packed(dialogue, view)
    return rows
