"""Replies that tell somebody else about their case are not the first ones suggested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.replies.toy import WordEncoder, dialogue, write_table
from turnloom.replies import ReplyIndex
from turnloom.replies.suggestion import Suggestion, of_this_case_first


def suggestion(text: str, count: int = 1) -> Suggestion:
    return Suggestion(text, 1.0, 1.0, None, count, (), hash(text))


@pytest.mark.parametrize(
    "text",
    [
        "It leaves at 7:16",
        "we go at 2:35p",
        "Boarding is at 9 pm",
        "flight BA208 is late",
        "case 16878734 is closed",
        "You paid 250 for it",
    ],
)
def test_details_of_others_come_last(text: str) -> None:
    own = suggestion("We are sorry to hear that.")
    assert of_this_case_first([suggestion(text), own], ["where is it"])[0] is own
    said = suggestion(text)
    assert of_this_case_first([said, own], ["hello", f"you said: {text}"])[0] is said
    often = suggestion(text, count=2)
    assert of_this_case_first([often, own], ["where is it"])[0] is often, "what is said to several is a rule"


@pytest.mark.parametrize(
    "text", ["It takes up to 28 days.", "We are here 24/7.", "A pm will call you", "You get 5 points"]
)
def test_rules_stay_where_they_are(text: str) -> None:
    first = suggestion(text)
    assert of_this_case_first([first, suggestion("We are sorry.")], ["how long"])[0] is first


def test_an_index_suggests_what_fits_this_case(tmp_path: Path) -> None:
    spoken = [
        dialogue(1, "where is my late flight", "your late flight is BA208 at 7:16"),
        dialogue(2, "my flight is late", "which flight is it"),
    ]
    write_table(tmp_path / "table", spoken)
    index = ReplyIndex.build(tmp_path / "table", tmp_path / "index", WordEncoder())
    asked = ["where is my late flight"]
    assert [found.text for found in index.suggest(asked, k=1, mode="text")] == ["which flight is it"]
    assert index.suggest(["is BA208 at 7:16 my late flight"], k=1, mode="text")[0].text.endswith("BA208 at 7:16")
