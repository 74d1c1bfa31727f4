"""Signatures are dropped from scrubbed conversations, and parts of longer messages are not suggested as replies."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.replies.toy import dialogue, write_table
from turnloom.corpus import read_table
from turnloom.corpus.cleaning.sign_offs import are_parts, without_signatures
from turnloom.corpus.prepare import PrepareOptions, prepare
from turnloom.replies.occurrences import ReplyOptions, occurrence_rows


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("We are on it. ^<NAME>", "We are on it."),
        ("We are on it! *<NAME>.", "We are on it!"),
        ("Have a nice day - <NAME>", "Have a nice day"),
        ("Thanks for flying with us ^ <NAME> 2/2", "Thanks for flying with us 2/2"),
        ("It will be (1/2) *<NAME>", "It will be (1/2)"),
        ("Sorry to hear that, <NAME>.", "Sorry to hear that, <NAME>."),
        ("Thanks <NAME>", "Thanks <NAME>"),
        ("^<NAME>", "^<NAME>"),
        ("2 * 3 is 6", "2 * 3 is 6"),
    ],
)
def test_a_signature_is_dropped(text: str, left: str) -> None:
    assert without_signatures(pa.array([text], pa.large_string())).to_pylist() == [left]
    assert without_signatures(pa.array([left], pa.large_string())).to_pylist() == [left]


@pytest.mark.parametrize("text", ["if you need any 1/2", "we'll look (2/2)", "to... 1/3", "2/2 as soon as we can"])
def test_a_part_is_recognised(text: str) -> None:
    assert are_parts(pa.array([text])).to_pylist() == [True]


@pytest.mark.parametrize("text", ["open 24/7", "on 11/23/2017", "half is 0.5", "row 1/2 is free today", "gate B1/2"])
def test_other_numbers_are_no_parts(text: str) -> None:
    assert are_parts(pa.array([text])).to_pylist() == [False]


def test_prepared_conversations_and_replies_have_neither(tmp_path: Path) -> None:
    spoken = [
        dialogue(1, "my bag is gone", "Hi Anna, we are looking for it. ^SB", "thanks", "Please send us a 1/2"),
        dialogue(2, "when do i board", "At noon, from gate four. *TMT", "ok", "Enjoy your flight!"),
    ]
    write_table(tmp_path / "table", spoken)
    prepare(tmp_path / "table", tmp_path / "prepared", PrepareOptions(near_duplicates=None))
    texts = {turn["text"] for row in read_table(tmp_path / "prepared").iter_rows() for turn in row["turns"]}
    assert "Hi <NAME>, we are looking for it." in texts
    replies = {row["text"] for row in occurrence_rows([tmp_path / "prepared"], ReplyOptions()).iter_rows()}
    assert replies == {"Hi <NAME>, we are looking for it.", "At noon, from gate four.", "Enjoy your flight!"}
