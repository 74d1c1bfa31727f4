"""A conversation encoder behind the benchmarks' cache: the same vectors, and each turn encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.runtime.test_conversation import TALK, with_conversation
from tests.training.toy import write_headed
from turnloom.benchmarks.cache import CachedEncoder
from turnloom.runtime.protocols import Vectors


def test_contexts_that_share_turns_share_their_vectors(tmp_path: Path) -> None:
    encoder = with_conversation(write_headed(tmp_path / "model"))
    seen: list[str] = []
    real = encoder.turns.encode

    def counted(texts: Sequence[str]) -> Vectors:
        seen.extend(texts)
        return real(texts)

    contexts = [TALK[:2], TALK[:3], TALK]
    wanted, replies = encoder.encode_query(contexts), encoder.encode_document(TALK)
    encoder.turns.encode = counted  # type: ignore[method-assign]
    cached = CachedEncoder(encoder, tmp_path / "cache")
    np.testing.assert_allclose(cached.encode_query(contexts), wanted, atol=1e-5)
    np.testing.assert_allclose(cached.encode_document(TALK), replies, atol=1e-5)
    assert sorted(seen) == sorted(set(TALK))
    again = CachedEncoder(encoder, tmp_path / "cache")
    np.testing.assert_allclose(again.encode_query(contexts), wanted, atol=1e-5)
    assert len(seen) == len(set(TALK)), "vectors are kept between runs"
