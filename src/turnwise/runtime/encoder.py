"""The encoder, seen from outside: three ways to look at text, and adapters for what people have."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from turnwise.errors import TurnwiseError
from turnwise.runtime.context_format import ContextFormat, read_context_format

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

__all__ = [
    "Context",
    "Encoder",
    "ObjectEncoder",
    "Scorer",
    "TrainableEncoder",
    "Vectors",
    "folder_fingerprint",
    "load_encoder",
]

Vectors = npt.NDArray[np.float32]
Context = Sequence[str]
"""The turns of a conversation so far, the oldest first."""


@runtime_checkable
class Encoder(Protocol):
    """Texts to vectors: `encode` for what a text means, the other two for what it calls for and what it answers.

    A model without a head for contexts and one for replies gives the same space three times.
    """

    @property
    def name(self) -> str:
        """What to call it in a table."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors may: embeddings are cached by it."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The languages it declares; none means that it does not say."""
        ...

    @property
    def has_heads(self) -> bool:
        """Whether contexts and replies have spaces of their own."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        ...

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts."""
        ...

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        ...

    def format_context(self, context: Context) -> str:
        """A context as the text that the model reads."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Scores replies to contexts directly, without vectors: a cross-encoder or BM25."""

    @property
    def name(self) -> str:
        """What to call it in a table."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the scores may."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The languages it declares; none means that it does not say."""
        ...

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """How well each reply fits; higher is better."""
        ...


@runtime_checkable
class TrainableEncoder(Protocol):
    """An encoder whose copy can be fine-tuned by a benchmark task."""

    def copy(self) -> TrainableEncoder:
        """An encoder of its own with the same weights."""
        ...

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """What may be trained."""
        ...

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors with gradients."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors without."""
        ...


class SentenceTransformerEncoder:
    """A SentenceTransformer, with its folder's context format.

    Args:
        model: The model.
        name: What to call it.
        fingerprint: What identifies its weights.
        languages: The languages it declares.
        context_format: How contexts become text.
        batch_size: Texts at a time.
        bf16: Whether to compute in bfloat16, which CPUs with AMX do about three times as fast.
    """

    def __init__(
        self,
        model: SentenceTransformer,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
        batch_size: int = 64,
        bf16: bool = False,
    ) -> None:
        self.model = model
        self.name = name
        self.fingerprint = fingerprint + ("-bf16" if bf16 else "")
        self.languages = languages
        self._format = context_format or ContextFormat()
        self._batch_size = batch_size
        self._bf16 = bf16

    @property
    def has_heads(self) -> bool:
        """Whether the model routes queries and documents differently."""
        return any(type(module).__name__ == "Router" for module in self.model)

    def format_context(self, context: Context) -> str:
        """The turns joined as the model folder says, the oldest cut off if they are too long."""
        tokenizer = self.model.tokenizer
        limit = self.model.get_max_seq_length() or 512
        return self._format.apply(context, lambda text: len(tokenizer.tokenize(text)), limit, tokenizer.sep_token)

    def _run(self, encode: Any, texts: Sequence[str]) -> Vectors:
        import torch

        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._bf16):
            vectors = encode(list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_tensor=True)
        return cast("Vectors", vectors.float().numpy())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        return self._run(self.model.encode, texts)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts, by the model's query route if it has one."""
        return self._run(self.model.encode_query, [self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies, by the model's document route if it has one."""
        return self._run(self.model.encode_document, replies)


class ObjectEncoder:
    """Any object with an `encode` method; `encode_query` and `encode_document` are used if it has them."""

    def __init__(self, model: Any, name: str | None = None, languages: frozenset[str] = frozenset()) -> None:
        self._model = model
        self.name: str = name or getattr(model, "name", None) or type(model).__name__
        self.fingerprint: str = getattr(model, "fingerprint", f"{self.name}-{id(model)}")
        self.languages = languages or frozenset(getattr(model, "languages", ()))
        self.has_heads = hasattr(model, "encode_query") and hasattr(model, "encode_document")

    def format_context(self, context: Context) -> str:
        """The turns, one a line, unless the object has a way of its own."""
        own = getattr(self._model, "format_context", None)
        return own(context) if own else "\n".join(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        return np.asarray(self._model.encode(list(texts)), np.float32)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts."""
        texts = [self.format_context(context) for context in contexts]
        return np.asarray(self._model.encode_query(texts), np.float32) if self.has_heads else self.encode(texts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        return (
            np.asarray(self._model.encode_document(list(replies)), np.float32)
            if self.has_heads
            else self.encode(replies)
        )


def _declared_languages(folder: Path) -> frozenset[str]:
    """The languages that the model card's front matter names."""
    import yaml

    card = folder / "README.md"
    front = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.DOTALL) if card.exists() else None
    named = (yaml.safe_load(front[1]) or {}).get("language", []) if front else []
    return frozenset([named] if isinstance(named, str) else named)


def folder_fingerprint(folder: Path) -> str:
    """A hash of everything in the folder that can change a vector."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.relative_to(folder).parts[0] == "training":  # How it was made does not change what it is.
            continue
        if path.suffix in (".json", ".safetensors", ".txt", ".model"):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def load_encoder(source: Any, *, bf16: bool = False, batch_size: int = 64) -> Encoder:
    """An encoder from a model folder, a SentenceTransformer, or any object with `encode`.

    Only safetensors are read, and no code of a model is ever run.

    Raises:
        TurnwiseError: If the folder holds no such model.
    """
    if not isinstance(source, (str, Path)):
        return source if isinstance(source, Encoder) else _from_object(source, bf16, batch_size)
    folder = Path(source)
    if not (folder / "config.json").exists() and not (folder / "modules.json").exists():
        raise TurnwiseError(f"{folder} holds no model", "give the folder of a SentenceTransformer")
    if not any(folder.rglob("*.safetensors")):
        raise TurnwiseError(f"{folder} has no safetensors weights", "save the model again with sentence-transformers")
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(folder),
        device="cpu",
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True, "dtype": "float32"},
    )
    return SentenceTransformerEncoder(
        model,
        name=folder.resolve().name,
        fingerprint=folder_fingerprint(folder),
        languages=_declared_languages(folder),
        context_format=read_context_format(folder),
        batch_size=batch_size,
        bf16=bf16,
    )


def _from_object(model: Any, bf16: bool, batch_size: int) -> Encoder:
    import sys

    library = sys.modules.get("sentence_transformers")
    if library is not None and isinstance(model, library.SentenceTransformer):
        weights = hashlib.sha256()
        for name, tensor in sorted(model.state_dict().items()):
            weights.update(name.encode())
            weights.update(tensor.detach().cpu().float().numpy().tobytes())
        return SentenceTransformerEncoder(
            model, name="model", fingerprint=weights.hexdigest()[:32], bf16=bf16, batch_size=batch_size
        )
    if hasattr(model, "encode"):
        return ObjectEncoder(model)
    raise TurnwiseError(
        f"{type(model).__name__} has no 'encode'", "give a model folder or an object with encode(texts)"
    )
