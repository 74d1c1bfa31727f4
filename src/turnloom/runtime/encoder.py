"""Make an encoder from a model folder, a SentenceTransformer or any object with an `encode` method."""

from __future__ import annotations

import copy
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from turnloom.errors import TurnloomError
from turnloom.runtime import lexical, universal
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
from turnloom.runtime.object_encoder import ObjectEncoder
from turnloom.runtime.onnx_backend import OnnxEncoder, exported_kind
from turnloom.runtime.protocols import BF16, Context, Encoder, Vectors
from turnloom.runtime.trusted import check_folder

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

EMBED_AT_A_TIME = 16
ANY_LENGTH = 1_000_000
FrozenClass = type[universal.UniversalSentenceEncoder | lexical.LexicalEncoder]
FROZEN: dict[str, FrozenClass] = {
    universal.SPEC: universal.UniversalSentenceEncoder,
    lexical.SPEC: lexical.LexicalEncoder,
}
"""Encoders that are no SentenceTransformers, by the file that describes them."""
# Other CPUs emulate it: with AVX-512 but without these, a training step in bf16 takes three times as long as in fp32.
_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def computes_bf16_fast() -> bool:
    """Whether bfloat16 is faster than fp32 on this machine: a GPU or CPU with instructions for it.

    If torch cannot tell (an old torch, or a CPU other than x86), the answer is no.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able: Mapping[str, bool | int | str] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(able.get(name) for name in _INSTRUCTIONS)


def is_static(tokenizer: Any) -> bool:
    """Whether a tokenizer is a static model's, which isn't one of Transformers."""
    return not hasattr(tokenizer, "tokenize")


def model_routes(model: Any) -> set[str]:
    """Return the names of a model's routes; most models have none."""
    routers = (module.sub_modules for module in model if type(module).__name__ == "Router")
    return {route for routes in routers for route in routes}


class LoadedModel:
    """A sentence-transformers model with its folder's context format: the base class of encoders and scorers.

    Args:
        model: The network.
        name: The name to show.
        fingerprint: Identifies its weights.
        languages: The languages it declares.
        context_format: How contexts become text.
        batch_size: The number of texts or pairs per batch; by default `BATCH_SIZE`.
        bf16: Whether to compute in bfloat16, about three times as fast on CPUs with AMX.
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
        self.fingerprint = fingerprint + (BF16 if bf16 else "")
        self.languages = languages
        self._format = context_format or ContextFormat()
        self._batch_size = batch_size or self.BATCH_SIZE
        self._bf16 = bf16

    @property
    def _limit(self) -> int:
        # A static model, a table of word vectors, reads texts of any length.
        return int(min(self.model.max_seq_length or 512, ANY_LENGTH))

    def _length(self, text: str) -> int:
        tokenizer = self.model.tokenizer
        return len(tokenizer.encode(text).ids if is_static(tokenizer) else tokenizer.tokenize(text))

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
        """Join the turns in the model's context format; the oldest are dropped if they don't fit."""
        separator = getattr(self.model.tokenizer, "sep_token", None)
        return self._format.apply(context, self._length, self._limit, separator)

    def split_tokens(self, word: str) -> list[str]:
        """Split a word into the tokens that the model reads."""
        tokenizer: Any = self.model.tokenizer
        return list(tokenizer.encode(word).tokens if is_static(tokenizer) else tokenizer.tokenize(word))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""
        if not texts:
            return []
        if is_static(self.model.tokenizer):
            return list(map(self._length, texts))
        tokens = self.model.tokenizer(list(texts), truncation=True, max_length=self._limit)
        return [len(ids) for ids in tokens["input_ids"]]

    def _run(self, encode: Any, texts: Sequence[str]) -> Vectors:
        with self._autocast():
            vectors = encode(list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_tensor=True)
        return cast("Vectors", vectors.float().cpu().numpy())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        return self._run(self.model.encode, texts)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts, by the model's query route if it has one."""
        return self._run(self.model.encode_query, [self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies, by the model's document route if it has one."""
        return self._run(self.model.encode_document, replies)

    @property
    def separate_heads(self) -> bool:
        """Whether all outputs can be computed from the meaning vector, so that a text is encoded only once.

        They can't if that vector is normalised for its own route only, or if each role has its own prompt.
        """
        last = [type(module).__name__ for module in self.model][-2:]
        return (not self.has_heads or last == ["Normalize", "Router"]) and not any(self.model.prompts.values())

    def head(self, role: Literal["query", "document"]) -> torch.nn.Module:
        """Return a head as a separate module, from meaning vectors to those of a role."""
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
        """Compute the vectors of a role from meaning vectors."""
        import torch

        if not self.has_heads:
            return vectors
        with torch.inference_mode():
            found = self.head(role)(torch.from_numpy(vectors).to(self.model.device))
        return cast("Vectors", found.float().cpu().numpy())

    def copy(self, max_length: int | None = None, cut: Literal["front", "end"] = "end") -> SentenceTransformerEncoder:
        """Return an independent encoder with the same weights, for fine-tuning."""
        own = copy.copy(self)
        own.model = copy.deepcopy(self.model)
        # Its weights will change, so it must not share this model's cached embeddings.
        own.fingerprint = f"{self.fingerprint}-copy-{uuid.uuid4().hex[:8]}"
        if max_length is not None:
            own.model.max_seq_length = min(max_length, self.model.max_seq_length or max_length)
        own.model.tokenizer.truncation_side = "left" if cut == "front" else "right"
        return own

    def parameters(self) -> list[torch.nn.Parameter]:
        """Return all weights that are not frozen."""
        return [weight for weight in self.model.parameters() if weight.requires_grad]

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Return meaning vectors with gradients and dropout; on the CPU, whatever the model's device."""
        import torch
        from sentence_transformers.util import batch_to_device

        self.model.train()
        prompt = self.model.prompts.get(self.model.default_prompt_name or "")
        # Batch texts of similar length: attention with dropout is slow on padding.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        pieces = []
        with self._autocast():
            for start in range(0, len(order), EMBED_AT_A_TIME):
                piece = [texts[index] for index in order[start : start + EMBED_AT_A_TIME]]
                features = batch_to_device(self.model.preprocess(piece, prompt=prompt), self.model.device)
                pieces.append(self.model(features)["sentence_embedding"])
        vectors = torch.cat(pieces).cpu()[torch.tensor(order).argsort()]
        return vectors[:, : self.model.truncate_dim].float()


def folder_traits(folder: Path) -> dict[str, Any]:
    """Return what a folder declares about its model, as arguments of `LoadedModel`."""
    return {
        "name": folder.resolve().name,
        "fingerprint": folder_fingerprint(folder),
        "languages": declared_languages(folder),
        "context_format": read_context_format(folder),
    }


def frozen_class(folder: Path) -> FrozenClass | None:
    """Return the class of an encoder that has no layers to fine-tune and is not a SentenceTransformer; else None."""
    return next((frozen for spec, frozen in FROZEN.items() if (folder / spec).exists()), None)


def load_encoder(source: Any, *, bf16: bool = False, batch_size: int = 64) -> Encoder:
    """Return an encoder for a model folder, an installed model, a SentenceTransformer, or any object with `encode`.

    Models in MTEB's form work too. Turnloom reads weights from safetensors only, and never runs a model's own code.

    Raises:
        TurnloomError: If the folder doesn't contain such a model.
    """
    if not isinstance(source, (str, Path)):
        return source if isinstance(source, Encoder) else _from_object(source, bf16, batch_size)
    folder = model_folder(source)
    if exported_kind(folder) == "encoder":
        return with_conversation(folder, OnnxEncoder(folder))
    frozen = frozen_class(folder)
    if frozen is not None:
        return with_conversation(folder, frozen(folder, **folder_traits(folder)))
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
    # Without the class while another thread imports the package; no model can be of it then.
    known = getattr(sys.modules.get("sentence_transformers"), "SentenceTransformer", None)
    if known is not None and isinstance(model, known):
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
