from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.known_answers import Constant, Oracle
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.candidates import Candidates, candidate_outputs, candidate_scores
from turnloom.benchmarks.selection_formats import read_dstc7, read_labelled_lines
from turnloom.errors import TurnloomError
from turnloom.runtime.encoder import ObjectEncoder


def scores_of(model: Any, examples: Sequence[Candidates]) -> dict[str, float]:
    outputs = candidate_outputs(CachedEncoder(ObjectEncoder(model)), examples)
    return candidate_scores(outputs, examples).scores


def test_dstc7(tmp_path: Path) -> None:
    options = [{"candidate-id": f"c{n}", "utterance": f"reply key{n}"} for n in range(100)]
    messages = [{"speaker": "participant_1", "utterance": "hello"}, {"speaker": "participant_2", "utterance": "key7"}]
    example = {"example-id": 1, "messages-so-far": messages, "options-for-next": options}
    right = {**example, "options-for-correct-answers": [options[7]]}
    (tmp_path / "test.json").write_text(json.dumps([right, {**example, "options-for-correct-answers": []}]))
    (found,) = read_dstc7(tmp_path / "test.json")
    assert found.context == ("hello", "key7")
    assert found.right.index(True) == 7
    assert scores_of(Oracle(), [found])["top1"] == pytest.approx(100)
    assert scores_of(Constant(), [found])["top10"] == pytest.approx(10)
    (tmp_path / "other.json").write_text('[{"messages-so-far": []}]')
    with pytest.raises(TurnloomError, match="example 0 has no 'options-for-next'"):
        list(read_dstc7(tmp_path / "other.json"))


def test_labelled_lines(tmp_path: Path) -> None:
    lines = [
        "0\ta\tb key1\twrong key2",
        "1\ta\tb key1\tright key1",
        "1\tc key3\tall key3",
        "0\td key4\tnone key5",
        "1\td key4\tx key4",
    ]
    (tmp_path / "test.txt").write_text("\n".join(lines) + "\n")
    found = list(read_labelled_lines(tmp_path / "test.txt"))
    assert found == [
        Candidates(("a", "b key1"), ["wrong key2", "right key1"], [False, True]),
        Candidates(("d key4",), ["none key5", "x key4"], [False, True]),
    ]
    scores = scores_of(Oracle(), found)
    assert scores == pytest.approx({"top1": 100, "top3": 100, "top10": 100, "p_at_1": 100, "map": 100, "mrr": 100})
    assert scores_of(Constant(), found)["top1"] == pytest.approx(50)
    (tmp_path / "bad.txt").write_text("2\ta\tb\n")
    with pytest.raises(TurnloomError, match=r"bad\.txt, line 1"):
        list(read_labelled_lines(tmp_path / "bad.txt"))


def test_several_right_replies() -> None:
    example = Candidates(("key1",), ["x key1", "y key1", "z key2"], [True, True, False])
    scores = scores_of(Oracle(), [example])
    assert scores["top1"] == scores["map"] == pytest.approx(100)
    constant = scores_of(Constant(), [example])
    assert constant["top1"] == pytest.approx(50)
    assert constant["p_at_1"] == pytest.approx(200 / 3)
