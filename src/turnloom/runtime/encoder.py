"""Encoders out of what people have: a model folder, a SentenceTransformer, any object that encodes."""

from __future__ import annotations

import copy
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat, read_context_format
from turnloom.runtime.conversation_folder import with_conversation
from turnloom.runtime.model_folder import (
    damage_named,
    declared_languages,
    folder_fingerprint,
    model_folder,
    no_model,
    weights_fingerprint,
)
from turnloom.runtime.mteb_model import MtebEncoder, is_mteb_model
from turnloom.runtime.onnx_backend import OnnxEncoder, exported_kind
from turnloom.runtime.protocols import Context, Encoder, Vectors
from turnloom.runtime.trusted import check_folder

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

EMBED_AT_A_TIME = 16
# Others emulate it: with AVX-512 but without these, a step of training in bf16 takes three times as long as in fp32.
_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def computes_bf16_fast() -> bool:
    """Whether bfloat16 is faster than fp32 here: a GPU or a CPU that has instructions for it.

    A CPU of which torch cannot tell (an old torch, or not x86) counts as one that has none.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able: Mapping[str, bool | int | str] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(able.get(name) for name in _INSTRUCTIONS)


def model_routes(model: Any) -> set[str]:
    """The ways through a model that has several; none for most models."""
    routers = (module.sub_modules for module in model if type(module).__name__ == "Router")
    return {route for routes in routers for route in routes}


class LoadedModel:
    """A model of sentence-transformers with its folder's context format: what encoders and scorers share.

    Args:
        model: The network.
        name: What to call it.
        fingerprint: What identifies its weights.
        languages: The languages it declares.
        context_format: How contexts become text.
        batch_size: Texts or pairs at a time; `BATCH_SIZE` if not given.
        bf16: Whether to compute in bfloat16, which CPUs with AMX do about three times as fast.
    """

    BATCH_SIZE = 64

    def __init__(
        self,
        model: Any,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
        batch_size: int | None = None,
        bf16: bool = False,
    ) -> None:
        self.model = model
        self.name = name
        self.fingerprint = fingerprint + ("-bf16" if bf16 else "")
        self.languages = languages
        self._format = context_format or ContextFormat()
        self._batch_size = batch_size or self.BATCH_SIZE
        self._bf16 = bf16

    @property
    def _limit(self) -> int:
        return int(self.model.max_seq_length or 512)

    def _length(self, text: str) -> int:
        return len(self.model.tokenizer.tokenize(text))

    def _autocast(self) -> torch.autocast:
        import torch

        return torch.autocast(self.model.device.type, dtype=torch.bfloat16, enabled=self._bf16)


class SentenceTransformerEncoder(LoadedModel):
    """A SentenceTransformer, with its folder's context format."""

    model: SentenceTransformer

    @property
    def has_heads(self) -> bool:
        """Whether the model routes queries and documents differently."""
        return "query" in model_routes(self.model)

    def format_context(self, context: Context) -> str:
        """The turns joined as the model folder says, the oldest cut off if they are too long."""
        return self._format.apply(context, self._length, self._limit, self.model.tokenizer.sep_token)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens of each text the model reads."""
        if not texts:
            return []
        tokens = self.model.tokenizer(list(texts), truncation=True, max_length=self._limit)
        return [len(ids) for ids in tokens["input_ids"]]

    def _run(self, encode: Any, texts: Sequence[str]) -> Vectors:
        with self._autocast():
            vectors = encode(list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_tensor=True)
        return cast("Vectors", vectors.float().cpu().numpy())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        return self._run(self.model.encode, texts)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts, by the model's query route if it has one."""
        return self._run(self.model.encode_query, [self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies, by the model's document route if it has one."""
        return self._run(self.model.encode_document, replies)

    @property
    def separate_heads(self) -> bool:
        """Whether the vectors of all roles are made of the one for meaning, so that a text is encoded once.

        They are not if that vector is normalised for its own route only, or if each role has a prompt of its own.
        """
        last = [type(module).__name__ for module in self.model][-2:]
        return (not self.has_heads or last == ["Normalize", "Router"]) and not any(self.model.prompts.values())

    def head(self, role: Literal["query", "document"]) -> torch.nn.Module:
        """A head as a module of its own, from vectors for meaning to those of a role."""
        from torch import Tensor, nn

        router: Any = self.model[-1]

        class Head(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.modules_of_role = router.sub_modules[role]

            def forward(self, vectors: Tensor) -> Tensor:
                features = {"sentence_embedding": vectors}
                for module in self.modules_of_role:
                    features = module(features)
                return features["sentence_embedding"]

        return Head()

    def apply_head(self, vectors: Vectors, role: Literal["query", "document"]) -> Vectors:
        """Vectors of a role, made of those for meaning."""
        import torch

        if not self.has_heads:
            return vectors
        with torch.inference_mode():
            found = self.head(role)(torch.from_numpy(vectors).to(self.model.device))
        return cast("Vectors", found.float().cpu().numpy())

    def copy(self, max_length: int | None = None, cut: Literal["front", "end"] = "end") -> SentenceTransformerEncoder:
        """An encoder of its own with the same weights, for fine-tuning."""
        own = copy.copy(self)
        own.model = copy.deepcopy(self.model)
        # Its weights will change: what is cached for this model is not its own.
        own.fingerprint = f"{self.fingerprint}-copy-{uuid.uuid4().hex[:8]}"
        if max_length is not None:
            own.model.max_seq_length = min(max_length, self.model.max_seq_length or max_length)
        own.model.tokenizer.truncation_side = "left" if cut == "front" else "right"
        return own

    def parameters(self) -> list[torch.nn.Parameter]:
        """All weights that are not frozen."""
        return [weight for weight in self.model.parameters() if weight.requires_grad]

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors for meaning, with gradients and with dropout; on the CPU, wherever the model is."""
        import torch
        from sentence_transformers.util import batch_to_device

        self.model.train()
        prompt = self.model.prompts.get(self.model.default_prompt_name or "")
        # Texts of one length together: attention with dropout is slow on padding.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        pieces = []
        with self._autocast():
            for start in range(0, len(order), EMBED_AT_A_TIME):
                piece = [texts[index] for index in order[start : start + EMBED_AT_A_TIME]]
                features = batch_to_device(self.model.preprocess(piece, prompt=prompt), self.model.device)
                pieces.append(self.model(features)["sentence_embedding"])
        vectors = torch.cat(pieces).cpu()[torch.tensor(order).argsort()]
        return vectors[:, : self.model.truncate_dim].float()


class ObjectEncoder:
    """Any object with an `encode` method; `encode_query` and `encode_document` are used if it has them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name: str = getattr(model, "name", None) or type(model).__name__
        self.fingerprint: str = getattr(model, "fingerprint", f"{self.name}-{id(model)}")
        self.languages = frozenset(getattr(model, "languages", ()))
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
        encode = self._model.encode_query if self.has_heads else self._model.encode
        return np.asarray(encode([self.format_context(context) for context in contexts]), np.float32)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        encode = self._model.encode_document if self.has_heads else self._model.encode
        return np.asarray(encode(list(replies)), np.float32)


def folder_traits(folder: Path) -> dict[str, Any]:
    """What a folder says of the model in it: arguments of `LoadedModel`."""
    return {
        "name": folder.resolve().name,
        "fingerprint": folder_fingerprint(folder),
        "languages": declared_languages(folder),
        "context_format": read_context_format(folder),
    }


def load_encoder(source: Any, *, bf16: bool = False, batch_size: int = 64) -> Encoder:
    """An encoder from a model folder, an installed model, a SentenceTransformer, a model of MTEB, or what has `encode`.

    Only safetensors are read, and no code of a model is ever run.

    Raises:
        TurnloomError: If the folder holds no such model.
    """
    if not isinstance(source, (str, Path)):
        return source if isinstance(source, Encoder) else _from_object(source, bf16, batch_size)
    folder = model_folder(source)
    if exported_kind(folder) == "encoder":
        return with_conversation(folder, OnnxEncoder(folder))
    if not (folder / "config.json").exists() and not (folder / "modules.json").exists():
        raise no_model(folder)
    if not any(folder.rglob("*.safetensors")):
        raise TurnloomError(f"{folder} has no safetensors weights", "save the model again with sentence-transformers")
    check_folder(folder)
    from sentence_transformers import SentenceTransformer

    with damage_named(folder):
        model = SentenceTransformer(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": "float32"},
        )
    encoder = SentenceTransformerEncoder(model, **folder_traits(folder), batch_size=batch_size, bf16=bf16)
    return with_conversation(folder, encoder)


def _from_object(model: Any, bf16: bool, batch_size: int) -> Encoder:
    library = sys.modules.get("sentence_transformers")
    if library is not None and isinstance(model, library.SentenceTransformer):
        return SentenceTransformerEncoder(
            model, name="model", fingerprint=weights_fingerprint(model), bf16=bf16, batch_size=batch_size
        )
    if is_mteb_model(model):
        return MtebEncoder(model, batch_size)
    if hasattr(model, "encode"):
        return ObjectEncoder(model)
    raise TurnloomError(
        f"{type(model).__name__} has no 'encode'", "give a model folder or an object with encode(texts)"
    )
