"""Intents and replies of a model, used with an export of it."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from tests.replies.toy import many, write_table
from tests.runtime.test_encoder import tiny_model
from tests.service.toy import INTENTS
from turnloom.cli.export import export
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.service.config import Batching
from turnloom.service.models import PatientEncoder, QueuedEncoder
from turnloom.service.monitoring import Metrics

pytestmark = pytest.mark.xdist_group("stand-in")  # One process makes the exports, once.

pytest.importorskip("onnxruntime")
MESSAGES = ["my card is lost", "how can i help you", "yes please", "hello there", "no", "is my card there"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, its exports with what the command said of them, and intents and replies that it made."""
    folder = tmp_path_factory.mktemp("stand-in")
    (folder / "words").mkdir()
    tiny_model.folder = folder / "words"  # type: ignore[attr-defined]
    tiny_model().save_pretrained(str(folder / "model"), create_model_card=False)
    for name in ("onnx", "int8"):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            export(folder / "model", out=folder / name, int8=name == "int8", texts=None, calibrate=None, measure=False)
        (folder / f"{name}.txt").write_text(said.getvalue())
    texts = [text for texts in INTENTS.values() for text in texts]
    labels = [name for name, texts in INTENTS.items() for _ in texts]
    encoder = load_encoder(folder / "model")
    IntentClassifier(encoder, method="prototypes").fit(texts, labels).save(folder / "intents")
    write_table(folder / "table", many(20))
    write_table(folder / "more", many(30))
    return folder


def test_an_export_answers_with_the_intents_of_its_model(world: Path, tmp_path: Path) -> None:
    own = IntentClassifier.load(world / "intents", world / "model")
    stand_in = IntentClassifier.load(world / "intents", world / "onnx")
    for one, other in zip(own.answer(MESSAGES), stand_in.answer(MESSAGES), strict=True):
        assert (one.decision, one.intents) == (other.decision, other.intents)
    # What it adds and saves is still its model's: both can go on with it.
    stand_in.partial_fit(["no card there"], ["lost card"]).save(tmp_path / "saved")
    saved = json.loads((tmp_path / "saved" / "intents.json").read_text())
    assert saved["fingerprint"] == load_encoder(world / "model").fingerprint
    for model in ("model", "onnx"):
        assert len(IntentClassifier.load(tmp_path / "saved", world / model).fitted.examples) == 9
    again = stand_in.fit(["yes", "no"], ["yes", "no"])
    again.save(tmp_path / "own")
    saved = json.loads((tmp_path / "own" / "intents.json").read_text())
    assert saved["fingerprint"] == load_encoder(world / "onnx").fingerprint


def test_an_export_searches_and_adds_to_the_replies_of_its_model(world: Path, tmp_path: Path) -> None:
    encoder, stand_in = load_encoder(world / "model"), load_encoder(world / "onnx")
    own = ReplyIndex.build(world / "table", tmp_path / "replies", encoder)
    other = ReplyIndex.build(world / "table", tmp_path / "replies", stand_in)  # Nothing is left to do.
    assert other.version.number == 1
    for message in MESSAGES:
        assert [hit.text for hit in own.suggest([message])] == [hit.text for hit in other.suggest([message])]
    other.add(world / "more")
    assert other.version.fingerprint == encoder.fingerprint
    assert len(ReplyIndex(tmp_path / "replies", encoder)) == len(other)
    # All vectors of its own are what it can ask for.
    assert ReplyIndex.reembed(tmp_path / "replies", stand_in).version.fingerprint == stand_in.fingerprint
    with pytest.raises(TurnloomError, match="turnloom replies reembed"):
        ReplyIndex(tmp_path / "replies", encoder)


def test_an_export_in_8_bits_needs_its_own(world: Path, tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="fit again with: turnloom intents fit EXAMPLES --model MODEL --out"):
        IntentClassifier.load(world / "intents", world / "int8")
    ReplyIndex.build(world / "table", tmp_path / "replies", load_encoder(world / "model"))
    with pytest.raises(TurnloomError, match=r"turnloom replies reembed .* --model MODEL"):
        ReplyIndex(tmp_path / "replies", load_encoder(world / "int8"))


def test_the_service_takes_an_export_for_its_model(world: Path) -> None:
    queued = QueuedEncoder(load_encoder(world / "onnx"), "onnx", Batching(), Metrics(), timeout=60)
    try:
        for encoder in (queued, PatientEncoder(queued)):
            assert IntentClassifier.load(world / "intents", encoder).answer(MESSAGES)
    finally:
        queued.batcher.close()


@pytest.mark.parametrize("int8", [False, True])
def test_the_command_says_what_to_make_again(int8: bool, world: Path) -> None:
    said = " ".join((world / ("int8.txt" if int8 else "onnx.txt")).read_text().split())
    assert ("turnloom intents fit EXAMPLES --model" in said) == int8
    assert ("turnloom replies reembed INDEX --model" in said) == int8
    assert ("can be used with it" in said) != int8
