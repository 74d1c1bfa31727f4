"""Scorers: rate how well each reply fits a context, without embeddings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.runtime.encoder import LoadedModel, folder_traits
from turnloom.runtime.model_folder import damage_named
from turnloom.runtime.onnx_backend import OnnxScorer, exported_kind
from turnloom.runtime.protocols import Context, Scorer
from turnloom.runtime.trusted import check_folder
from turnloom.words import split_words

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

K1, B = 1.5, 0.75


def is_cross_encoder(folder: Path) -> bool:
    """Whether a model's folder contains a network that scores pairs.

    Raises:
        TurnloomError: If its configuration is damaged.
    """
    if exported_kind(folder) is not None:
        return exported_kind(folder) == "scorer"
    path = folder / "config.json"
    if not path.exists():
        return False
    with damage_named(folder):
        named = json.loads(path.read_text(encoding="utf-8")).get("architectures") or []
    return any(name.endswith("ForSequenceClassification") for name in named)


class CrossEncoderScorer(LoadedModel):
    """A sentence-transformers CrossEncoder, with its folder's context format."""

    BATCH_SIZE = 32
    model: CrossEncoder

    @property
    def bounded(self) -> bool:
        """Whether scores are between 0 and 1."""
        return type(self.model.activation_fn).__name__ == "Sigmoid"

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the network's output for each reply; the context leaves room for the longest reply."""
        separator: str | None = self.model.tokenizer.sep_token
        text, ends = self._format.pair(context, replies, self._length, self._limit, separator)
        pairs = [(text, reply) for reply in ends]
        exact: AbstractContextManager[None] = _last_layer_in_fp32(self.model) if self._bf16 else nullcontext()
        with self._autocast(), exact:
            found = self.model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False)
        return np.asarray(found, np.float64).reshape(len(replies))


@contextmanager
def _last_layer_in_fp32(model: CrossEncoder) -> Iterator[None]:
    """Run the last layer in fp32: in bfloat16, its output is so coarse that replies would tie."""
    import torch

    before = list(model.keep_in_fp32_modules or [])
    last = [
        name
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear) and layer.out_features == model.num_labels
    ]
    model.set_keep_in_fp32_modules(last[-1:])
    try:
        yield
    finally:
        model.set_keep_in_fp32_modules(before)


def load_scorer(folder: Path, *, bf16: bool = False) -> Scorer:
    """Load a scorer from the folder of a CrossEncoder or its export. No model code is run, and no pickle is read.

    Raises:
        TurnloomError: If the folder contains something else; an encoder would get a last layer of random numbers.
    """
    if exported_kind(folder) == "scorer":
        return OnnxScorer(folder)
    if not is_cross_encoder(folder):
        raise TurnloomError(f"{folder} holds no cross-encoder", "give the folder of a CrossEncoder")
    check_folder(folder)
    from sentence_transformers import CrossEncoder

    with damage_named(folder):
        model = CrossEncoder(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    return CrossEncoderScorer(model, **folder_traits(folder), bf16=bf16)


class BM25:
    """Okapi BM25 with Lucene's non-negative idf; words are runs of letters and digits in lower case.

    In scripts without spaces, each character is a word.

    It selects candidates for retrieval tasks and hard negatives, and serves as a baseline.

    Args:
        documents: The texts to search.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        from scipy import sparse
        from sklearn.feature_extraction.text import CountVectorizer

        self._vectorizer = CountVectorizer(tokenizer=split_words, token_pattern=None)
        counts = sparse.csr_matrix(self._vectorizer.fit_transform(documents), dtype=np.float64)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        idf = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5))
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
        rows, columns = counts.nonzero()
        values = counts.data * (K1 + 1) / (counts.data + norm[rows]) * idf[columns]
        self._weights = sparse.csr_matrix((values, (rows, columns)), shape=counts.shape)

    def scores(self, queries: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return one row per query with the score of every document."""
        asked = (self._vectorizer.transform(queries) > 0).astype(np.float64)
        return np.asarray((asked @ self._weights.T).toarray())
