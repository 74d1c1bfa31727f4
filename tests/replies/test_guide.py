"""What the guide says is done: its commands and its Python, in order, in one folder."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.replies.toy import dialogue, many, write_table
from tests.runtime.test_encoder import tiny_model
from turnwise.cli.main import main

GUIDE = Path(__file__).parents[2] / "docs/guides/replies.md"
CHATS = [
    dialogue(1, "Hi, my parcel never arrived", "Could you give me the order number?", "It is 4471", "It comes today."),
    dialogue(2, "How do I change my address?", "Under Account, then Addresses.", "thanks", "You are welcome!"),
    dialogue(3, "The parcel is late", "could you give me the order number?", "thanks", "You are welcome!"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the guide speaks of."""
    import torch
    from sentence_transformers import CrossEncoder

    (tmp_path / "tiny").mkdir()
    monkeypatch.setattr(tiny_model, "folder", tmp_path / "tiny", raising=False)
    model: Any = tiny_model()
    model.save(str(tmp_path / "my-model"), create_model_card=False)
    CrossEncoder(str(tmp_path / "my-model"), num_labels=1, device="cpu").save_pretrained(str(tmp_path / "my-reranker"))
    with torch.no_grad():
        next(iter(model.parameters())).mul_(2)
    model.save(str(tmp_path / "better-model"), create_model_card=False)
    write_table(tmp_path / "corpus", [*CHATS, *many(12, first=100)])
    write_table(tmp_path / "todays-chats", many(3, first=200))
    write_table(tmp_path / "held-out", many(30, first=300))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    words = shlex.split(command)
    if "<" in words:
        monkeypatch.setattr(sys, "stdin", io.StringIO(Path(words[words.index("<") + 1]).read_text()))
        words = words[: words.index("<")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    captured = capsys.readouterr()
    assert stop.value.code == 0, captured.err
    return captured.out


def test_the_guide_runs(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    printed: dict[str, str] = {}
    for kind, block in re.findall(r"```(console|python)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        if kind == "python":
            exec(compile(block, str(GUIDE), "exec"), names)
            continue
        shown, _, rest = block.partition("$ cat contexts.jsonl\n")
        if rest:
            (place / "contexts.jsonl").write_text("\n".join(rest.split("\n")[:2]) + "\n")
        for command in re.findall(r"^\$ (turnwise .*)", shown + rest, re.MULTILINE):
            printed[command.split("replies ", 1)[1]] = run(command, monkeypatch, capsys)
    by_name = {command.split()[0]: text for command, text in printed.items()}
    assert {"build", "search", "evaluate", "add", "delete", "versions", "prune", "reembed"} <= set(by_name)
    first = next(text for command, text in printed.items() if command.startswith("build corpus"))
    assert "Version 1: 26 replies, given 42 times, vectors of my-model" in first
    assert "Next: turnwise replies search replies --model my-model" in first
    lines = [json.loads(line) for line in printed[next(c for c in printed if "contexts.jsonl" in c)].splitlines()]
    assert [line["id"] for line in lines] == [1, 2]
    assert all(len(line["replies"]) == 5 for line in lines)
    assert "re-ranked   Top-1" in by_name["evaluate"]
    assert "the index holds the given reply for 100.0 %" in by_name["evaluate"]
    assert "Removed: version 1, 2" in by_name["prune"]
    assert "vectors of better-model" in by_name["reembed"]
    assert len(names["index"].version.what) > 0
