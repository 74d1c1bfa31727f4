"""How conversations go: a graph of states with the shares of what follows what."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from turnloom.corpus import read_table
from turnloom.discovery.messages import answers_of
from turnloom.discovery.names import Meaning, Namer
from turnloom.discovery.states import STATES_PER_ROLE, States, Turns, encode_states, find_states, flatten
from turnloom.discovery.transitions import DialogueId, FlowEdge, add_examples, count_transitions
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Encoder, Progress, Vectors

START, END = "start", "end"
MIN_SHARE = 0.1
"""Rarer transitions are left out of the graph."""
MOST_DIALOGUES = 5_000
TYPICAL = 4


@dataclass(frozen=True)
class FlowFilter:
    """Which dialogues to read.

    Attributes:
        source: Only those of this source.
        label: Only those with this label or domain.
        since: Only those that began at this time or later.
        until: Only those that began before this time.
        most: At most this many, drawn at random.
    """

    source: str | None = None
    label: str | None = None
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    most: int = MOST_DIALOGUES

    def keeps(self, row: dict[str, Any]) -> bool:
        """Whether a dialogue passes; one without a time does not pass a filter by time."""
        if self.source is not None and row["source"] != self.source:
            return False
        if self.label is not None and self.label not in [*(row["labels"] or []), *(row["domains"] or [])]:
            return False
        if self.since is None and self.until is None:
            return True
        began = next((turn["time"] for turn in row["turns"] if turn["time"] is not None), None)
        if began is None:
            return False
        began = began if began.tzinfo else began.replace(tzinfo=dt.timezone.utc)
        return (self.since is None or began >= self.since) and (self.until is None or began < self.until)


class FlowNode(BaseModel):
    """A state of conversations.

    Attributes:
        id: The state's number; 0 is the start, 1 the end.
        role: Whose turns: customer or agent; empty for the start and the end.
        name: What the turns do, in at most five words; unique.
        size: How many turns.
        share: The share of the role's turns.
        place: Where in a conversation it occurs on average, from 0 to 1.
        keywords: What its turns say and others don't.
        typical: Typical turns.
    """

    model_config = ConfigDict(extra="forbid")

    id: int
    role: str
    name: str
    size: int
    share: float
    place: float
    keywords: list[str]
    typical: list[str]


class Flow(BaseModel):
    """A flow graph.

    Attributes:
        version: The version of this layout.
        model: The encoder's name.
        dialogues: How many dialogues it is made of.
        turns: How many turns.
        shown: The share of all transitions that the graph has; rarer ones are left out.
        nodes: The states.
        edges: The transitions.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = 1
    model: str = ""
    dialogues: int
    turns: int
    shown: float
    nodes: list[FlowNode]
    edges: list[FlowEdge]


def read_conversations(table: str | Path, wanted: FlowFilter) -> list[list[tuple[str, str]]]:
    """Read the dialogues that pass a filter as lists of (role, text).

    Raises:
        TurnloomError: If there are none.
    """
    return read_identified(table, wanted)[1]


def read_identified(table: str | Path, wanted: FlowFilter) -> tuple[list[DialogueId], list[list[tuple[str, str]]]]:
    """Read the dialogues that pass a filter, and their ids.

    Raises:
        TurnloomError: If there are none.
    """
    rows = _drawn((row for row in read_table(table).iter_rows() if row["turns"] and wanted.keeps(row)), wanted.most)
    if not rows:
        raise TurnloomError(f"{table} has no dialogue that passes the filters", "leave out some of them")
    return [(row["dialogue_id"], row["source"]) for row in rows], [
        [
            ("agent" if answer else "customer", turn["text"])
            for turn, answer in zip(row["turns"], answers_of(row["turns"]), strict=True)
        ]
        for row in rows
    ]


def _drawn(rows: Iterator[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Draw at most so many rows, each with the same probability, without keeping all."""
    rng = random.Random(0)
    kept: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        if len(kept) < most:
            kept.append(row)
        elif (place := rng.randrange(number + 1)) < most:
            kept[place] = row
    return kept


def build_flow(
    conversations: list[list[tuple[str, str]]],
    encoder: Encoder,
    *,
    ids: Sequence[DialogueId] = (),
    per_role: int = STATES_PER_ROLE,
    min_share: float = MIN_SHARE,
    namer: Namer | None = None,
    on_progress: Progress = lambda *_: None,
) -> Flow:
    """Make a flow graph of conversations.

    Args:
        conversations: Lists of (role, text).
        encoder: A model, best one with a conversation encoder.
        ids: The id of each conversation; with them, transitions name examples.
        per_role: At most how many states a role has.
        min_share: Transitions that follow a state in a smaller share are left out.
        namer: Names the states; by default, from the words of their turns.
        on_progress: Called with a step, the share of it that is done, and a note.
    """
    turns = flatten(conversations)
    on_progress("turns", 0.0, "")
    vectors, meaning = encode_states(encoder, turns)
    on_progress("turns", 1.0, "")
    states = find_states(vectors, turns.roles, per_role)
    on_progress("names", 0.0, "")
    nodes = _nodes(turns, states, meaning, namer or Namer(), encoder)
    on_progress("names", 1.0, "")
    edges, shown = count_transitions(states.state + 2, turns, min_share)
    if ids:
        add_examples(edges, states.state + 2, turns, ids)
    return Flow(
        model=encoder.name, dialogues=len(conversations), turns=len(turns), shown=shown, nodes=nodes, edges=edges
    )


def _nodes(turns: Turns, states: States, unit: Vectors, namer: Namer, encoder: Encoder) -> list[FlowNode]:
    mean = unit.mean(axis=0)
    place = _relative_places(turns)
    role_sizes = Counter(turns.roles)
    members, means = [], []
    for state in range(len(states.roles)):
        found = np.flatnonzero(states.state == state)
        members.append(found[np.argsort(-states.near[found], kind="stable")])
        means.append(unit[found].mean(axis=0) - mean)
    said = [list(dict.fromkeys(turns.texts[index] for index in found)) for found in members]
    names = namer.name(said, Meaning(encoder.encode, np.stack(means), mean), (START, END))
    ends = [(0, START, 0.0), (1, END, 1.0)]
    nodes = [
        FlowNode(id=id, role="", name=name, size=len(turns.offsets) - 1, share=1, place=where, keywords=[], typical=[])
        for id, name, where in ends
    ]
    for state, (found, name) in enumerate(zip(members, names, strict=True)):
        role = states.roles[state]
        nodes.append(
            FlowNode(
                id=state + 2,
                role=role,
                name=name.name,
                size=len(found),
                share=round(len(found) / role_sizes[role], 6),
                place=round(float(place[found].mean()), 4),
                keywords=list(name.keywords),
                typical=said[state][:TYPICAL],
            )
        )
    return nodes


def _relative_places(turns: Turns) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return where in its conversation each turn is, from 0 to 1."""
    lengths = np.diff(turns.offsets)
    index = np.arange(len(turns)) - np.repeat(turns.starts, lengths)
    return np.asarray(index / np.maximum(np.repeat(lengths, lengths) - 1, 1))
