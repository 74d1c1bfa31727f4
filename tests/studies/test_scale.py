"""The corpora that scale is measured on are what their figures say of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from studies.scale import replies
from studies.scale.chats import ChatGenerator
from studies.scale.data_curve import part_of

from tests.replies.toy import WordEncoder, many, write_table
from turnloom.replies import ReplyIndex
from turnloom.vectors import VectorOptions, VectorTable, build_vectors


@pytest.fixture
def vectors(tmp_path: Path) -> VectorTable:
    build_vectors([write_table(tmp_path / "table", many(60))], tmp_path / "vectors", VectorOptions(WordEncoder))
    return VectorTable(tmp_path / "vectors")


def test_a_part_has_as_many_contexts_as_it_says(vectors: VectorTable, tmp_path: Path) -> None:
    small, contexts = part_of(vectors, 20, WordEncoder(), tmp_path / "part")
    part = VectorTable(small)
    talks = part.conversations
    turns = np.diff(talks.offsets)
    assert len(talks) < len(vectors.conversations)
    assert 20 <= contexts == int((turns - 1).sum())
    assert np.array_equal(part.vectors, vectors.vectors)
    # Whoever asks for more learns from the same conversations and others.
    larger, _ = part_of(vectors, 40, WordEncoder(), tmp_path / "larger")
    assert set(talks.rows.tolist()) <= set(VectorTable(larger).conversations.rows.tolist())


def test_chats_have_the_words_that_they_are_given() -> None:
    words = ["parcel", "late", "where", "order", "thanks", "please"]
    turns = ChatGenerator(words).batch(0, 500)["turns"].combine_chunks().flatten().field("text").to_pylist()
    plain = [text for text in turns if set(text.split()) <= {*words, "indeed"}]
    assert len(plain) > 0.9 * len(turns)


def test_every_generated_reply_is_one_of_the_index(
    vectors: VectorTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "QUESTIONS", 8)
    monkeypatch.setattr(replies, "ASKED", 4)
    corpus = replies.Corpus(vectors.folder)
    table = replies.write_table(corpus, tmp_path / "replies", 300)
    encoder = replies.CorpusEncoder(corpus)
    index = ReplyIndex.build(table, tmp_path / "index", encoder)
    assert len(index) == 300
    texts = corpus.texts(np.arange(300)).to_pylist()
    found = encoder.encode_document(texts)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert len(np.unique(found, axis=0)) == 300
    assert index.suggest(corpus.questions()[:1], k=1)[0].text in texts
