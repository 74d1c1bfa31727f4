"""Probe sets in their public formats: DSTC2 and GSIM for actions, DECODE for contradictions.

DSTC2 and DECODE are not in the catalog, since no public repository holds them; whoever has the files can measure on
them with `ActionPrediction(..., splits=...)` and `DialogueInference(..., splits=...)`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from turnloom.benchmarks.actions import ActionExamples, ActionTurn, action_examples
from turnloom.benchmarks.tasks.dialogue_inference import InferenceExamples
from turnloom.errors import TurnloomError

__all__ = ["read_decode", "read_dstc2", "read_gsim"]


def _json(path: Path) -> Any:
    if not path.exists():
        raise TurnloomError(f"{path} is missing", "give the files as their authors publish them")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise TurnloomError(f"{path}, line {error.lineno}: {error.msg}", "the file is cut off or is no JSON") from error


def read_dstc2(root: Path, sessions: Path) -> ActionExamples:
    """DSTC2: a folder a call with `log.json` and `label.json`; a list names the calls of a split.

    What the user said is taken from the transcription; a call without one has the recogniser's best guess.

    Args:
        root: The folder that the list's lines are relative to (`data`).
        sessions: The list (`dstc2_train.flist`).
    """
    folders = [root / line.strip() for line in sessions.read_text(encoding="utf-8").splitlines() if line.strip()]
    return action_examples(_dstc2_call(folder) for folder in folders)


def _dstc2_call(folder: Path) -> list[ActionTurn]:
    log, labels = _json(folder / "log.json"), folder / "label.json"
    said = [turn.get("transcription") for turn in _json(labels)["turns"]] if labels.exists() else []
    turns = []
    for place, turn in enumerate(log["turns"]):
        acts = [act["act"] for act in turn["output"]["dialog-acts"]]
        turns.append(ActionTurn(True, turn["output"]["transcript"], acts))
        guesses = turn["input"]["live"]["asr-hyps"]
        text = said[place] if place < len(said) else guesses[0]["asr-hyp"] if guesses else ""
        if text:
            turns.append(ActionTurn(False, text))
    return turns


def read_gsim(path: Path) -> ActionExamples:
    """GSIM (simulated dialogue): a JSON array; a turn holds what the system said first, then what the user said."""
    dialogues = []
    for dialogue in _json(path):
        turns = []
        for turn in dialogue["turns"]:
            if turn.get("system_utterance"):
                acts = [act["type"] for act in turn.get("system_acts", [])]
                turns.append(ActionTurn(True, turn["system_utterance"]["text"], acts))
            if turn.get("user_utterance"):
                turns.append(ActionTurn(False, turn["user_utterance"]["text"]))
        dialogues.append(turns)
    return action_examples(dialogues)


def read_decode(path: Path) -> InferenceExamples:
    """DECODE: a JSON object a line, with turns and whether the last one contradicts its speaker."""
    dialogues, labels = [], []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            dialogue, label = _decode_line(line, f"{path}, line {number}")
            dialogues.append(dialogue)
            labels.append(label)
    return InferenceExamples(dialogues, labels)


def _decode_line(line: str, place: str) -> tuple[tuple[str, ...], str]:
    try:
        row = json.loads(line)
        return tuple(turn["text"] for turn in row["turns"]), str(int(row["is_contradiction"]))
    except (ValueError, KeyError, TypeError) as error:
        raise TurnloomError(
            f"{place}: not an example of DECODE ({error})", "give one of its files as published"
        ) from error
