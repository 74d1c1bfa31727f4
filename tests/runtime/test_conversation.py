"""The conversation encoder: begins as its encoder's heads, reads turns in order, and encodes each turn once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from tests.training.toy import write_headed, write_start
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import heads_of, save_conversation
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.export import export_model
from turnloom.runtime.protocols import Encoder, Vectors, is_made_for, turn_encoder, unit_rows

TALK = ["please tell me about q1", "the a1 is that", "and about q2", "thanks bye"]


def with_conversation(folder: Path, *, trained: bool = True, max_turns: int = 8) -> ConversationEncoder:
    """Write a conversation encoder with random weights into a model's folder."""
    encoder = turn_encoder(load_encoder(folder))
    heads = heads_of(encoder)
    torch.manual_seed(1)
    network = ConversationNetwork(
        ConversationShape(
            width=32, size=16, reply_size=16, max_turns=max_turns, uses_heads=bool(heads), encoder=encoder.fingerprint
        ),
        **heads,
    )
    if trained:
        for name, weight in network.named_parameters():
            if (weight.requires_grad or name in ("familiar", "whitening")) and name != "log_scale":
                torch.nn.init.normal_(weight, std=0.3)
    save_conversation(network, folder)
    loaded = load_encoder(folder)
    assert isinstance(loaded, ConversationEncoder)
    return loaded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_headed(tmp_path / "model")


class Counting:
    """An encoder that counts the texts that it is given."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self.texts = encoder, 0
        self.name, self.fingerprint, self.languages = encoder.name, encoder.fingerprint, encoder.languages

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return self._encoder.encode(texts)


def test_untrained_it_is_the_encoders_own_heads(folder: Path) -> None:
    own = load_encoder(folder)
    encoder = with_conversation(folder, trained=False)
    width = 32
    query, reply = encoder.encode_query([TALK[:1]]), encoder.encode_document(["thanks"])
    assert query.shape == reply.shape == (1, 2 * width)
    assert np.allclose(query[:, :width], unit_rows(own.encode_query([TALK[:1]])), atol=1e-3)
    assert np.allclose(query[:, width:], 0, atol=1e-3), "before training, nothing is said about what is familiar"
    assert np.allclose(reply[:, :width], unit_rows(own.encode_document(["thanks"])), atol=1e-5)
    assert np.allclose(reply[:, width:], unit_rows(own.encode(["thanks"])), atol=1e-5)


def test_an_encoder_without_heads_has_one_too(tmp_path: Path) -> None:
    encoder = with_conversation(write_start(tmp_path / "model"))
    assert encoder.has_heads
    assert encoder.encode_query([TALK, TALK[:1]]).shape == (2, 64)


def test_batches_and_states_agree_with_one_context_at_a_time(folder: Path) -> None:
    encoder = with_conversation(folder)
    contexts = [TALK, TALK[:1], TALK[1:3], TALK[:2], [*TALK, *TALK, *TALK]]
    together = encoder.encode_query(contexts)
    for context, row in zip(contexts, together, strict=True):
        assert np.allclose(encoder.encode_query([context])[0], row, atol=1e-6)
        state = encoder.start()
        for turn in context:
            state.add(turn)
        assert np.allclose(state.query()[0], row, atol=1e-5)


def test_earlier_turns_order_and_speakers_matter(folder: Path) -> None:
    encoder = with_conversation(folder)
    rows = encoder.encode_query([TALK, TALK[1:], [TALK[1], TALK[0], *TALK[2:]]])
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    assert np.abs(rows[0] - rows[2]).max() > 1e-3
    spoken = encoder.encode_query([TALK, TALK], [["a", "b", "a", "b"], ["a", "b", "b", "a"]])
    assert np.allclose(spoken[0], rows[0], atol=1e-6)  # Two who alternate are assumed.
    assert np.abs(spoken[0] - spoken[1]).max() > 1e-4


def test_later_turns_do_not_change_what_was_said_before(folder: Path) -> None:
    encoder = with_conversation(folder)
    whole, half = encoder.encode_turns(TALK), encoder.encode_turns(TALK[:2])
    assert whole.shape == (4, 64)
    assert np.allclose(whole[:2], half, atol=1e-6)


def test_only_the_last_turns_are_read(folder: Path) -> None:
    encoder = with_conversation(folder, max_turns=3)
    rows = encoder.encode_query([TALK, TALK[-3:]], [[1, 2, 1, 2], [2, 1, 2]])
    assert np.allclose(rows[0], rows[1], atol=1e-6)


def test_each_turn_is_encoded_once(folder: Path) -> None:
    counted = Counting(turn_encoder(with_conversation(folder)))
    encoder = with_conversation(folder).over(counted)
    encoder.encode_query([TALK[:end] for end in range(1, 5)])
    assert counted.texts == 4
    state = encoder.start()
    for turn in TALK:
        state.add(turn)
        state.query()
    assert counted.texts == 8


def test_plain_sentence_transformers_loads_the_rest(folder: Path) -> None:
    before = SentenceTransformer(str(folder)).encode(TALK)
    encoder = with_conversation(folder)
    assert np.array_equal(SentenceTransformer(str(folder)).encode(TALK), before)
    assert np.allclose(encoder.encode(TALK), before, atol=1e-6)


def test_fingerprints_tell_what_changed(folder: Path) -> None:
    plain = load_encoder(folder).fingerprint
    first, second = with_conversation(folder), with_conversation(folder, trained=False)
    assert turn_encoder(first).fingerprint == turn_encoder(second).fingerprint == plain
    assert len({plain, first.fingerprint, second.fingerprint}) == 3


def test_what_does_not_fit_is_refused(folder: Path, tmp_path: Path) -> None:
    with_conversation(folder)
    shape = folder / "conversation" / "conversation.json"
    saved = shape.read_text(encoding="utf-8")
    shape.write_text(saved.replace('"uses_heads": true', '"uses_heads": false'), encoding="utf-8")
    with pytest.raises(TurnloomError, match="does not fit the model"):
        load_encoder(folder)
    shape.write_text("{", encoding="utf-8")
    with pytest.raises(TurnloomError, match="describes no conversation encoder"):
        load_encoder(folder)
    shape.write_text(saved, encoding="utf-8")
    weights = folder / "conversation" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(TurnloomError, match="damaged"):
        load_encoder(folder)


@pytest.mark.parametrize("headed", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_an_export_reads_conversations_alike(tmp_path: Path, headed: bool) -> None:
    folder = (write_headed if headed else write_start)(tmp_path / "model")
    encoder = with_conversation(folder)
    export_model(folder, tmp_path / "onnx")
    exported = load_encoder(tmp_path / "onnx")
    assert isinstance(exported, ConversationEncoder)
    contexts = [TALK, TALK[:1], TALK[1:3]]
    assert np.allclose(exported.encode_query(contexts), encoder.encode_query(contexts), atol=1e-4)
    assert np.allclose(exported.encode_document(TALK), encoder.encode_document(TALK), atol=1e-4)
    assert np.allclose(exported.encode_turns(TALK), encoder.encode_turns(TALK), atol=1e-4)
    assert is_made_for(exported, encoder.fingerprint)
    assert not is_made_for(exported, turn_encoder(encoder).fingerprint)


def test_an_empty_conversation_has_no_query(folder: Path) -> None:
    with pytest.raises(TurnloomError, match="no turn yet"):
        with_conversation(folder).start().query()


def test_a_conversation_has_one_vector(folder: Path) -> None:
    encoder = with_conversation(folder)
    vectors = encoder.encode_conversations([TALK, TALK[:1]])
    assert vectors.shape == (2, 64)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
