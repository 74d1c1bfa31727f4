"""What follows what in conversations, how often, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

from turnloom.discovery.states import Turns

EXAMPLES = 8
"""How many conversations a transition names."""
DialogueId = tuple[str, str]
"""A dialogue's id, and the log that it comes from."""


class FlowExample(BaseModel):
    """Where a transition occurs.

    Attributes:
        dialogue_id: The dialogue.
        source: The log that it comes from.
        turn: The index of the turn that the transition leads to; the number of turns if it leads to the end.
    """

    model_config = ConfigDict(extra="forbid")

    dialogue_id: str
    source: str
    turn: int


class FlowEdge(BaseModel):
    """What follows a state.

    Attributes:
        source: The state's id.
        target: The id of the next one.
        count: How often.
        share: The share of what follows the state.
        examples: Some of the conversations in which it does.
    """

    model_config = ConfigDict(extra="forbid")

    source: int
    target: int
    count: int
    share: float
    examples: list[FlowExample] = []


def count_transitions(state: Any, turns: Turns, min_share: float) -> tuple[list[FlowEdge], float]:
    """Count what follows what; each state keeps what follows it most often, and whatever reaches the share.

    Returns:
        The transitions, and the share of all that they are.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for start, end in zip(turns.offsets[:-1].tolist(), turns.offsets[1:].tolist(), strict=True):
        counts.update(_steps(state, start, end))
    leaving: Counter[int] = Counter()
    most: dict[int, int] = {}
    for (source, _), count in counts.items():
        leaving[source] += count
        most[source] = max(most.get(source, 0), count)
    edges = [
        FlowEdge(source=source, target=target, count=count, share=round(count / leaving[source], 6))
        for (source, target), count in sorted(counts.items())
        if count >= min_share * leaving[source] or count == most[source]
    ]
    return edges, round(sum(edge.count for edge in edges) / max(sum(counts.values()), 1), 6)


def _steps(state: Any, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the transitions of one conversation, with its start and end."""
    return pairwise([0, *state[start:end].tolist(), 1])


def add_examples(edges: list[FlowEdge], state: Any, turns: Turns, ids: Sequence[DialogueId]) -> None:
    """Give each transition some conversations in which it occurs, one of each."""
    wanted = {(edge.source, edge.target): edge for edge in edges}
    offsets = turns.offsets.tolist()
    for (dialogue_id, source), start, end in zip(ids, offsets[:-1], offsets[1:], strict=True):
        seen: set[tuple[int, int]] = set()
        for turn, step in enumerate(_steps(state, start, end)):
            edge = wanted.get(step)
            if edge is not None and step not in seen and len(edge.examples) < EXAMPLES:
                edge.examples.append(FlowExample(dialogue_id=dialogue_id, source=source, turn=turn))
            seen.add(step)
