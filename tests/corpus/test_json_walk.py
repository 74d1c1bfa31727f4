"""What a broken record of a JSON export costs: itself, and nothing of its neighbours."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from turnloom.corpus.readers.json_walk import Found, JsonWalk
from turnloom.corpus.readers.logfile import Rejection

PATHS = ((), ("tickets",))


def _ticket(number: int) -> dict[str, Any]:
    comments = [{"author_id": 7, "body": f"Where is order {number}?"}, {"author_id": 8, "body": "On its\nway."}]
    return {"id": number, "requester": {"id": 7}, "comments": comments, "tags": ["late"]}


def _lines(records: list[str]) -> str:
    return "\n".join(records) + "\n"


def _array(records: list[str]) -> str:
    return "[\n  " + ",\n  ".join(records) + "\n]\n"


def _tickets(records: list[str]) -> str:
    return '{"count": 6, "tickets": [\n' + ",\n".join(records) + "\n]}\n"


def _walk(text: str) -> tuple[list[int], list[Rejection]]:
    entries = list(JsonWalk(io.BufferedReader(io.BytesIO(text.encode())), PATHS).records())
    found = [entry.record.value["id"] for entry in entries if isinstance(entry, Found)]
    return found, [entry for entry in entries if isinstance(entry, Rejection)]


@pytest.mark.parametrize(("layout", "above"), [(_lines, 0), (_array, 1), (_tickets, 1)])
def test_a_record_that_is_cut_off_anywhere_costs_one_record(layout: Any, above: int) -> None:
    whole = json.dumps(_ticket(2))
    for end in range(1, len(whole)):
        records = [json.dumps(_ticket(number)) for number in range(6)]
        records[2] = whole[:end]
        found, rejections = _walk(layout(records))
        assert found == [0, 1, 3, 4, 5], records[2]
        assert [rejection.line for rejection in rejections] == [above + 3], records[2]
        assert rejections[0].piece.startswith(records[2][:200])


def test_a_value_may_stand_on_the_next_line() -> None:
    text = '{\n"id": 1,\n"requester":\n{"id": 7},\n"comments":\n[{"body": "Hi"}]\n}\n'
    assert _walk(text) == ([1], [])
