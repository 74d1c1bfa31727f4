"""Turns that were answered alike, against a loop over dialogues."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from turnloom.corpus import convert, find_logs
from turnloom.views import SharedReplies, build_view, load_view

DIALOGUES = [
    ["I want a table for two please", "For how many people, 2-3?"],
    ["can you book me a restaurant", "for how many people? 4"],
    ["Can you book me a restaurant", "For how many people 5"],
    ["we are hungry tonight my friend", "For HOW many people!"],
    ["what will the weather be like", "It will rain in the evening"],
    ["thanks a lot my friend", "bye"],
    ["ok see you there tomorrow", "bye"],
]


def build(tmp_path: Path, view: SharedReplies, name: str = "view", seed: int = 0) -> set[tuple[str, str]]:
    logs = tmp_path / "chat.jsonl"
    rows = [
        {"id": str(n), "turns": [{"speaker": who, "text": text} for who, text in zip("us", turns, strict=True)]}
        for n, turns in enumerate(DIALOGUES)
    ]
    logs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if not (tmp_path / "table").exists():
        convert(find_logs([str(logs)]), tmp_path / "table")
    build_view(tmp_path / "table", tmp_path / name, view, seed=seed)
    found = load_view(tmp_path / name)
    return {(context[0], reply) for context, reply in zip(found["context"], found["reply"], strict=True)}


def test_turns_with_the_same_reply_are_paired_and_no_others(tmp_path: Path) -> None:
    asked = {turns[0] for turns in DIALOGUES[:4]}
    seen = set()
    for seed in range(20):
        pairs = build(tmp_path, SharedReplies(), f"view-{seed}", seed)
        # Three distinct texts give one pair, and the third is left over.
        assert len(pairs) == 1
        for one, other in pairs:
            assert {one, other} <= asked
            assert one.casefold() != other.casefold()
        seen |= {frozenset(text.casefold() for text in pair) for pair in pairs}
    distinct = {text.casefold() for text in asked}
    assert seen == {frozenset(pair) for pair in itertools.combinations(distinct, 2)}


def test_short_replies_say_little(tmp_path: Path) -> None:
    assert len(build(tmp_path, SharedReplies(reply_words=0), "short")) == 2


def test_no_more_pairs_of_a_reply_than_asked_for(tmp_path: Path) -> None:
    assert len(build(tmp_path, SharedReplies(pairs_per_reply=1, min_words=0, reply_words=0), "few")) == 2
