"""Response selection sets in their public formats: DSTC7-Ubuntu, and Ubuntu v1, Douban and E-commerce.

They are not in the catalog, since no public repository holds them; whoever has the files can measure on them
with `candidate_outputs` and `candidate_scores`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from turnloom.benchmarks.candidates import Candidates
from turnloom.errors import TurnloomError

__all__ = ["read_dstc7", "read_labelled_lines"]


def read_dstc7(path: Path) -> Iterator[Candidates]:
    """DSTC7 track 1: a JSON array; the right reply is named and stands among `options-for-next`.

    An example whose right answer is that none fits is left out, as in DSE.
    """
    for number, example in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        try:
            context = tuple(message["utterance"] for message in example["messages-so-far"])
            right = {option["candidate-id"] for option in example.get("options-for-correct-answers", [])}
            options = example["options-for-next"]
            marks = [option["candidate-id"] in right for option in options]
        except (KeyError, TypeError) as error:
            raise TurnloomError(f"{path}: example {number} has no {error}", "give a file of DSTC7's track 1") from error
        if any(marks):
            yield Candidates(context, [option["utterance"] for option in options], marks)


def read_labelled_lines(path: Path) -> Iterator[Candidates]:
    """Ubuntu v1, Douban and E-commerce: lines of label, turns and reply, separated by tabs.

    Lines that follow each other with the same turns are the candidates of one context. Douban has contexts without a
    right reply or with nothing else; both are left out, as in the papers.
    """
    group: list[tuple[bool, str]] = []
    context: tuple[str, ...] | None = None
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            label, *turns = line.rstrip("\n").split("\t")
            if label not in ("0", "1") or len(turns) < 2:
                raise TurnloomError(f"{path}, line {number}: 'label TAB turns TAB reply' expected", "label is 0 or 1")
            if context is not None and tuple(turns[:-1]) != context:
                yield from _whole(context, group)
                group = []
            context = tuple(turns[:-1])
            group.append((label == "1", turns[-1]))
    if context is not None:
        yield from _whole(context, group)


def _whole(context: tuple[str, ...], group: list[tuple[bool, str]]) -> Iterator[Candidates]:
    marks = [right for right, _ in group]
    if any(marks) and not all(marks):
        yield Candidates(context, [reply for _, reply in group], marks)
