from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.discovery.toy import TOPICS, TopicEncoder
from tests.training.toy import write_table
from turnloom.discovery.flow import FlowFilter, build_flow, count_transitions, read_conversations
from turnloom.discovery.flow_drawing import flow_dot, flow_mermaid, flow_page, flow_svg
from turnloom.discovery.states import _centred, _repeated, flatten
from turnloom.errors import TurnloomError

UTC = dt.timezone.utc


def course(number: int) -> list[tuple[str, str]]:
    """Everyone asks for something, is asked for a number, and hears that it is done; every fourth says thanks."""
    topic = ("cancel", "refund")[number % 2]
    turns = [
        ("customer", TOPICS[topic][number % 4].format(number)),
        ("agent", f"please tell me the number {number}"),
        ("customer", f"the number is {number}"),
        ("agent", f"that is done {number}"),
    ]
    return [*turns, ("customer", f"thanks a lot {number}")] if number % 4 == 0 else turns


def test_states_and_shares_are_those_of_a_known_course() -> None:
    flow = build_flow([course(number) for number in range(80)], TopicEncoder(), per_role=4, min_share=0)
    assert flow.dialogues == 80
    assert flow.turns == 340
    named = {node.name: node for node in flow.nodes}
    assert {"start", "end"} < set(named)
    of = {
        word: [node for node in flow.nodes if node.typical and all(word in text for text in node.typical)]
        for word in ("done", "tell me", "thanks")
    }
    (thanks,) = of["thanks"]
    done = {node.id for node in of["done"]}
    after = dict.fromkeys((1, thanks.id), 0)
    for edge in flow.edges:
        if edge.source in done:
            after[edge.target] += edge.count  # Nothing else follows.
    first = {edge.target: edge.count for edge in flow.edges if edge.source == 0}
    assert sum(first.values()) == 80
    assert all(next(node for node in flow.nodes if node.id == id).role == "customer" for id in first)
    assert after == {1: 60, thanks.id: 20}
    assert [(edge.target, edge.share) for edge in flow.edges if edge.source == thanks.id] == [(1, 1)]
    assert sum(node.size for node in of["done"]) == 80
    assert max(node.place for node in of["tell me"]) < min(node.place for node in of["done"])
    assert thanks.place == 1
    assert flow.shown == 1


def test_a_role_repeats_itself_as_often_as_its_turns_do() -> None:
    turns = flatten([[("agent", "hello"), ("customer", "hello"), ("agent", "hello"), ("agent", "bye")]])
    assert _repeated(turns) == {"agent": pytest.approx(2 / 3), "customer": 0}


def test_what_turns_share_is_removed_and_no_turn_before_stays_none() -> None:
    vectors = np.array([[3, 4, 0], [3, 0, 4], [0, 0, 0]], np.float32)
    centred = _centred(vectors)
    assert np.allclose(centred[:2], np.array([[0, 1, -1], [0, -1, 1]]) / 2**0.5)
    assert not centred[2].any()
    assert not _centred(vectors[2:]).any()


def test_rare_transitions_are_left_out_but_never_the_most_frequent() -> None:
    turns = flatten([[("a", "x"), ("b", "y")]] * 19 + [[("a", "x"), ("b", "z")]])
    state = np.array([2, 3] * 19 + [2, 4])
    edges, shown = count_transitions(state, turns, 0.1)
    assert {(edge.source, edge.target): edge.count for edge in edges} == {(0, 2): 20, (2, 3): 19, (3, 1): 19, (4, 1): 1}
    assert shown == round(59 / 60, 6)
    everything, shown = count_transitions(state, turns, 0)
    assert len(everything) == 5
    assert shown == 1


def test_every_form_has_every_state(tmp_path: Path) -> None:
    conversations = [[(role, text.replace("number", 'number "<&|">')) for role, text in course(n)] for n in range(40)]
    flow = build_flow(conversations, TopicEncoder(), per_role=3)
    root = ElementTree.fromstring(str(flow_svg(flow)))
    kind = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{kind}path")) == len(flow.edges)
    assert len(root.findall(f".//{kind}rect")) == len(flow.nodes) + 1
    mermaid, dot = flow_mermaid(flow), flow_dot(flow)
    assert mermaid.startswith("flowchart TD\n")
    assert mermaid.count("-->|") == dot.count(" -> ") == len(flow.edges)
    for line in mermaid.splitlines():
        assert line.count('"') in (0, 2)
    assert "What follows what" in flow_page(flow)
    assert json.loads(flow.model_dump_json())["nodes"][0]["name"] == "start"


def test_transitions_name_conversations_in_which_they_occur() -> None:
    conversations = [course(number) for number in range(40)]
    ids = [(str(number), "log") for number in range(40)]
    flow = build_flow(conversations, TopicEncoder(), ids=ids, per_role=4)
    name = {node.id: node for node in flow.nodes}
    for edge in flow.edges:
        assert len({example.dialogue_id for example in edge.examples}) == len(edge.examples) > 0
        for example in edge.examples:
            turns = conversations[int(example.dialogue_id)]
            before = turns[example.turn - 1][0] if example.turn else ""
            after = turns[example.turn][0] if example.turn < len(turns) else ""
            assert (before, after) == (name[edge.source].role, name[edge.target].role)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[dict[str, object]] = []
    for number in range(12):
        turns = [{"speaker": role, "text": text} for role, text in course(number)]
        turns[0]["time"] = f"2026-0{1 + number % 2}-15T10:00:00Z"
        rows.append({"dialogue_id": str(number), "turns": turns, "labels": ["refund"] if number % 3 == 0 else []})
    return write_table(tmp_path_factory.mktemp("flow") / "t", rows)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 12),
        ({"label": "refund"}, 4),
        ({"since": dt.datetime(2026, 2, 1, tzinfo=UTC)}, 6),
        ({"until": dt.datetime(2026, 2, 1, tzinfo=UTC), "label": "refund"}, 2),
        ({"most": 5}, 5),
    ],
)
def test_filters_choose_dialogues(table: Path, options: dict[str, Any], count: int) -> None:
    found = read_conversations(table, FlowFilter(**options))
    assert len(found) == count
    assert [role for role, _ in found[0][:3]] == ["customer", "agent", "customer"]


def test_filters_that_nothing_passes_are_a_mistake(table: Path) -> None:
    with pytest.raises(TurnloomError, match="no dialogue that passes"):
        read_conversations(table, FlowFilter(source="elsewhere"))
