"""The vector table: every distinct text once, the dialogues as rows, whatever interrupts the run."""

from __future__ import annotations

import mmap
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize

from tests.replies.toy import WordEncoder, dialogue, many, write_table
from tests.runtime.test_conversation import with_conversation
from tests.training.toy import write_headed, write_start
from turnloom.cli.quickstart_scores import encode_once
from turnloom.corpus.schema import Dialogue, Turn
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder
from turnloom.objectives import ContextReplyHeads
from turnloom.runtime import load_encoder
from turnloom.runtime.protocols import Encoder, Vectors, is_made_for, turn_encoder
from turnloom.training.losses import keep_heads
from turnloom.vectors import StoredEncoder, VectorOptions, VectorTable, build_vectors
from turnloom.vectors.encoder import stored as stored_encoder

HERE = VectorOptions(WordEncoder, turns_per_range=40)
CHILD = """
import sys, time
from pathlib import Path
from tests.replies.toy import WordEncoder  # Not from here: this module imports torch.
from turnloom.vectors import VectorOptions, build_vectors

class Slow(WordEncoder):
    def encode(self, texts):
        time.sleep(0.05)
        return super().encode(texts)

build_vectors([Path(sys.argv[1])], Path(sys.argv[2]), VectorOptions(Slow, turns_per_range=40))
"""


def test_each_text_is_encoded_once_and_dialogues_point_at_it(tmp_path: Path) -> None:
    said = [*many(20), dialogue("last", "thanks", "Naïve café 🙂", "thanks")]
    table = write_table(tmp_path / "table", said)
    manifest, encoded = build_vectors([table], tmp_path / "v", HERE)
    texts = {turn.text for one in said for turn in one.turns}
    assert (encoded, manifest.texts, manifest.dialogues) == (len(texts), len(texts), 21)
    vectors = VectorTable(tmp_path / "v")
    own = WordEncoder()
    for text in texts:
        row = vectors.rows([text])[0]
        assert np.array_equal(vectors.vectors[row], own.encode([text]).astype(np.float16)[0])
    assert vectors.rows(["never said"]).tolist() == [-1]
    talks = vectors.conversations
    by_rows = {
        tuple(talks.rows[begin:end]): tuple(talks.speakers[begin:end])
        for begin, end in zip(talks.offsets[:-1], talks.offsets[1:], strict=True)
    }
    assert by_rows == {
        tuple(vectors.rows([turn.text for turn in one.turns])): tuple(place % 2 for place in range(len(one.turns)))
        for one in said
    }
    assert talks.names == ["chats"]


def test_texts_of_like_length_are_encoded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnloom.vectors.build.AT_A_TIME", 8)
    calls: list[list[int]] = []

    class Noted(WordEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            calls.append([len(text) for text in texts])
            return super().encode(texts)

    manifest, _ = build_vectors([write_table(tmp_path / "t", many(20))], tmp_path / "v", VectorOptions(Noted))
    lengths = [length for call in calls for length in call]
    assert len(calls) > 3
    assert lengths == sorted(lengths, reverse=True)
    assert manifest.content_hash == build_vectors([tmp_path / "t"], tmp_path / "w", HERE)[0].content_hash


def test_speakers_are_numbered_in_order_of_appearance(tmp_path: Path) -> None:
    names = ["zoe", "adam", "zoe", "bob", "adam"]
    said = Dialogue("1", "irc", [Turn(name, f"line {n}") for n, name in enumerate(names)])
    build_vectors([write_table(tmp_path / "t", [said])], tmp_path / "v", HERE)
    assert VectorTable(tmp_path / "v").conversations.speakers.tolist() == [0, 1, 0, 2, 1]


def test_only_new_texts_are_encoded_and_old_ones_leave(tmp_path: Path) -> None:
    one, both = write_table(tmp_path / "one", many(30)), write_table(tmp_path / "both", many(40))
    first, _ = build_vectors([one], tmp_path / "v", HERE)
    grown, encoded = build_vectors([both], tmp_path / "v", HERE)
    assert encoded == grown.texts - first.texts > 0
    fresh, _ = build_vectors([both], tmp_path / "fresh", HERE)
    assert grown.content_hash == fresh.content_hash != first.content_hash
    again, nothing = build_vectors([both], tmp_path / "v", HERE)
    assert (again.content_hash, nothing) == (grown.content_hash, 0)
    back, nothing = build_vectors([one], tmp_path / "v", HERE)
    assert (back.content_hash, nothing) == (first.content_hash, 0)


def test_rows_are_read_in_any_order_from_anywhere(tmp_path: Path) -> None:
    said = [dialogue(f"d{number}", *(f"word{number} turn{turn}" for turn in range(20))) for number in range(100)]
    build_vectors([write_table(tmp_path / "table", said)], tmp_path / "v", HERE)
    table = VectorTable(tmp_path / "v")
    whole = np.array(table.vectors)
    assert whole.nbytes > 4 * mmap.PAGESIZE
    rows = np.random.default_rng(0).integers(0, len(table), (7, 50))
    rows[0, :2] = 0, len(table) - 1  # Up to the last byte of the file.
    assert (table.read(rows) == whole[rows]).all()
    assert table.read(rows[:0]).shape == (0, 50, whole.shape[1])
    table.vectors = whole
    assert (table.read(rows) == whole[rows]).all()


def test_several_tables_count_as_one(tmp_path: Path) -> None:
    halves = [write_table(tmp_path / "a", many(10)), write_table(tmp_path / "b", many(10, first=10))]
    manifest, _ = build_vectors(halves, tmp_path / "v", HERE)
    assert (manifest.dialogues, manifest.turns) == (20, 120)
    whole, _ = build_vectors([write_table(tmp_path / "whole", many(20))], tmp_path / "w", HERE)
    assert np.array_equal(VectorTable(tmp_path / "v").vectors, VectorTable(tmp_path / "w").vectors)
    assert manifest.texts == whole.texts


def test_vectors_of_another_model_are_not_mixed_in(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", many(3))
    build_vectors([table], tmp_path / "v", HERE)
    with pytest.raises(TurnloomError, match="holds vectors of words"):
        build_vectors([table], tmp_path / "v", VectorOptions(partial(WordEncoder, "other")))
    with pytest.raises(TurnloomError, match="holds vectors of words, not of other"):
        StoredEncoder(WordEncoder("other"), VectorTable(tmp_path / "v"))


def test_a_folder_that_is_no_vector_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="holds no whole vector table"):
        VectorTable(tmp_path)
    build_vectors([write_table(tmp_path / "t", many(3))], tmp_path / "v", HERE)
    (tmp_path / "v/vectors.npy").write_bytes((tmp_path / "v/vectors.npy").read_bytes()[:-7])
    with pytest.raises(TurnloomError, match=r"vectors\.npy cannot be read"):
        VectorTable(tmp_path / "v")
    with pytest.raises(TurnloomError, match="is not a vector table's manifest"):
        VectorTable(tmp_path / "t")


def test_stored_vectors_are_not_made_again(tmp_path: Path) -> None:
    build_vectors([write_table(tmp_path / "t", many(5))], tmp_path / "v", HERE)
    inner = WordEncoder()
    stored = StoredEncoder(inner, VectorTable(tmp_path / "v"))
    found = stored.encode(["never said", "thanks", "You are welcome!"])
    assert inner.encoded == stored.encoded == 1
    assert np.allclose(found, WordEncoder().encode(["never said", "thanks", "You are welcome!"]), atol=0.01)
    assert stored.encode(["thanks"]).shape == (1, 32)
    assert inner.encoded == 1


def test_killed_at_any_moment_it_goes_on(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", many(60))
    expected, _ = build_vectors([table], tmp_path / "whole", HERE)
    rng, kills = random.Random(0), 0
    command = [sys.executable, "-c", CHILD, str(table), str(tmp_path / "v")]
    while not (tmp_path / "v/manifest.json").exists():
        process = subprocess.Popen(command)
        if kills < 3:
            # Once there is something to lose: importing takes seconds.
            while process.poll() is None and not list((tmp_path / "v").rglob(f"range-*{kills}.done")):
                time.sleep(0.01)
            time.sleep(rng.random() * 0.1)
            process.kill()
        kills += process.wait() == -signal.SIGKILL
    assert kills == 3
    assert VectorTable(tmp_path / "v").manifest.content_hash == expected.content_hash
    assert not (tmp_path / "v/.work").exists()


def load_headed(folder: Path, normalised: bool = True) -> Encoder:
    """A model with heads that change much, on vectors that are normalised or not."""
    torch.manual_seed(0)
    plain, heads = SentenceTransformer(str(write_start(folder / "plain"))), ContextReplyHeads(32)
    if normalised:
        plain.append(Normalize())
    for weight in heads.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    headed = keep_heads(plain, {"query": heads.context, "document": heads.reply})
    headed.save_pretrained(str(folder / "m"), create_model_card=False)
    return load_encoder(folder / "m")


@pytest.mark.parametrize("normalised", [True, False])
def test_heads_are_applied_to_stored_vectors(tmp_path: Path, normalised: bool) -> None:
    encoder = load_headed(tmp_path, normalised)
    table = write_table(tmp_path / "t", [dialogue(1, "tell me about q1", "the a1 is that", "thanks", "bye")])
    build_vectors([table], tmp_path / "v", VectorOptions(lambda: encoder))
    stored = StoredEncoder(encoder, VectorTable(tmp_path / "v"))
    replies = ["the a1 is that", "more about a7", "bye"]
    assert np.allclose(stored.encode_document(replies), encoder.encode_document(replies), atol=3e-3)
    contexts = [["thanks"], ["tell me about q1", "the a1 is that"], ["bye"]]
    assert np.allclose(stored.encode_query(contexts), encoder.encode_query(contexts), atol=3e-3)
    # Where the heads read what is not stored, all is encoded.
    assert stored.encoded == (2 if normalised else 6)
    assert not np.allclose(stored.encode(replies), stored.encode_document(replies), atol=0.1)


def test_a_model_with_prompts_encodes_what_they_change(tmp_path: Path) -> None:
    model = SentenceTransformer(str(write_start(tmp_path / "plain")))
    model.prompts = {"query": "tell me ", "document": "the "}
    model.save_pretrained(str(tmp_path / "m"), create_model_card=False)
    encoder = load_encoder(tmp_path / "m")
    table = write_table(tmp_path / "t", [dialogue(1, "about q1", "a1 is that", "thanks", "bye")])
    build_vectors([table], tmp_path / "v", VectorOptions(lambda: encoder))
    stored = StoredEncoder(encoder, VectorTable(tmp_path / "v"))
    assert np.allclose(stored.encode_document(["a1 is that"]), encoder.encode_document(["a1 is that"]), atol=3e-3)
    assert np.allclose(stored.encode_query([["about q1"]]), encoder.encode_query([["about q1"]]), atol=3e-3)
    assert not np.allclose(stored.encode(["a1 is that"]), stored.encode_document(["a1 is that"]), atol=0.1)


def test_a_run_killed_while_it_replaces_the_table_encodes_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_vectors([write_table(tmp_path / "one", many(10))], tmp_path / "v", HERE)
    grown = write_table(tmp_path / "both", many(20))

    def power_cut(self: WholeFolder) -> None:
        (self.folder / self.marker).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WholeFolder, "commit", power_cut)
        with pytest.raises(KeyboardInterrupt):
            build_vectors([grown], tmp_path / "v", HERE)
    inner = WordEncoder()
    again, _ = build_vectors([grown], tmp_path / "v", VectorOptions(lambda: inner, turns_per_range=40))
    assert inner.encoded == 0
    assert again.content_hash == build_vectors([grown], tmp_path / "fresh", HERE)[0].content_hash


def test_stored_vectors_of_an_export_fit_what_its_model_made(tmp_path: Path) -> None:
    """An index or intents of the model are open to its export, with a vector table as without."""
    build_vectors([write_table(tmp_path / "t", many(3))], tmp_path / "v", HERE)
    export = WordEncoder("export")
    export.source = WordEncoder().fingerprint  # type: ignore[attr-defined]
    assert is_made_for(StoredEncoder(export, VectorTable(tmp_path / "v")), WordEncoder().fingerprint)


def test_vectors_made_in_bfloat16_serve_the_same_model_without_it(tmp_path: Path) -> None:
    model, table = write_start(tmp_path / "m"), write_table(tmp_path / "t", many(3))
    build_vectors([table], tmp_path / "v", VectorOptions(partial(load_encoder, model, bf16=True)))
    found = stored_encoder(load_encoder(model), tmp_path / "v")
    assert np.allclose(found.encode(["tell me about q1"]), load_encoder(model).encode(["tell me about q1"]), atol=0.02)


def test_a_conversation_encoder_finds_its_turns(tmp_path: Path) -> None:
    encoder = with_conversation(write_headed(tmp_path / "m"))
    said = ["tell me about q1", "the a1 is that", "thanks", "bye"]
    build_vectors([write_table(tmp_path / "t", [dialogue(1, *said)])], tmp_path / "v", VectorOptions(lambda: encoder))
    found = stored_encoder(encoder, tmp_path / "v")
    contexts = [said[:end] for end in (1, 2, 4)]
    assert np.allclose(found.encode_query(contexts), encoder.encode_query(contexts), atol=5e-3)
    assert np.allclose(found.encode_document(said), encoder.encode_document(said), atol=5e-3)
    turns: Any = turn_encoder(found)
    assert turns.encoded == 0
    assert found.fingerprint == encoder.fingerprint


def test_quickstart_goes_on_with_a_conversation_encoder(tmp_path: Path) -> None:
    with_conversation(write_headed(tmp_path / "m"))
    table = write_table(tmp_path / "t", [dialogue(1, "tell me about q1", "the a1 is that")])
    encoder = encode_once(tmp_path / "m", table, tmp_path / "v")
    assert encoder.encode_query([["tell me about q1", "the a1 is that", "thanks"]]).shape == (1, 64)
