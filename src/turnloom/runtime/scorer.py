"""Scorers: a context and replies to how well each reply fits, without vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat, read_context_format
from turnloom.runtime.damage import damage_named
from turnloom.runtime.encoder import declared_languages
from turnloom.runtime.fingerprint import folder_fingerprint
from turnloom.runtime.onnx_backend import OnnxScorer, exported_kind
from turnloom.runtime.protocols import Context, Scorer
from turnloom.runtime.trusted import check_folder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderScorer", "is_cross_encoder", "load_scorer"]


def is_cross_encoder(folder: Path) -> bool:
    """Whether a model's folder holds a network that scores pairs.

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


class CrossEncoderScorer:
    """A sentence-transformers CrossEncoder, with its folder's context format.

    Args:
        model: The network.
        name: What to call it.
        fingerprint: What identifies its weights.
        languages: The languages it declares.
        context_format: How contexts become text.
        batch_size: Pairs at a time.
        bf16: Whether to compute in bfloat16, which CPUs with AMX do about three times as fast.
    """

    def __init__(
        self,
        model: CrossEncoder,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
        batch_size: int = 32,
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
    def bounded(self) -> bool:
        """Whether scores are between 0 and 1."""
        return type(self.model.activation_fn).__name__ == "Sigmoid"

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """The network's output for each reply; room is left for the longest of them."""
        import torch

        tokenizer: Any = self.model.tokenizer
        text, ends = self._format.pair(
            context,
            replies,
            lambda text: len(tokenizer.tokenize(text)),
            self.model.max_seq_length or 512,
            tokenizer.sep_token,
        )
        pairs = [(text, reply) for reply in ends]
        exact: AbstractContextManager[None] = _last_layer_in_fp32(self.model) if self._bf16 else nullcontext()
        with torch.autocast(self.model.device.type, dtype=torch.bfloat16, enabled=self._bf16), exact:
            found = self.model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False)
        return np.asarray(found, np.float64).reshape(len(replies))


@contextmanager
def _last_layer_in_fp32(model: CrossEncoder) -> Iterator[None]:
    """In bfloat16 the last layer has so few steps that replies would tie."""
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
    """A scorer from a CrossEncoder's folder or an exported one; no code of a model is ever run, and no pickle read.

    Raises:
        TurnloomError: If the folder holds something else: an encoder would be given a last layer of random numbers.
    """
    if exported_kind(folder) == "scorer":
        return OnnxScorer(folder)
    if not is_cross_encoder(folder):
        raise TurnloomError(f"{folder} holds no cross-encoder", "give the folder of a CrossEncoder")
    check_folder(folder)
    from sentence_transformers import CrossEncoder

    with damage_named(folder):
        model = CrossEncoder(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    return CrossEncoderScorer(
        model,
        name=folder.resolve().name,
        fingerprint=folder_fingerprint(folder),
        languages=declared_languages(folder),
        context_format=read_context_format(folder),
        bf16=bf16,
    )
