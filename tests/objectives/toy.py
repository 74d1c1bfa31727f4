"""A toy encoder with the face of a SentenceTransformer, batches for it, and every objective on it.

It stands in where several processes are started: a real one takes many seconds to import.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from turnloom.objectives import (
    HardNegativeContrast,
    InverseFrequencyContrast,
    MaskedLanguage,
    NTXent,
    Paraphrases,
    ResponseContrast,
    Sum,
    Taught,
    TemplatePair,
)
from turnloom.objectives.columns import FrozenBase
from turnloom.objectives.masked_language import IGNORED, TARGETS
from turnloom.vectors.table import KEYS, MANIFEST, VECTORS, VectorManifest

WORDS, WIDTH, LENGTH = 40, 8, 6
SPECIAL = SimpleNamespace(
    all_special_ids=[0, 1, 2, 3],
    added_tokens_decoder={},
    mask_token_id=3,
    sep_token_id=2,
    num_special_tokens_to_add=lambda: 2,
)
Features = dict[str, Tensor]
Maker = Callable[..., nn.Module]


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    mask = mask[..., None].to(states.dtype)
    return (states * mask).sum(1) / mask.sum(1)


class _Tokens(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Dropout(dropout), nn.Linear(WIDTH, WIDTH))

    @property
    def auto_model(self) -> Any:
        return SimpleNamespace(get_input_embeddings=lambda: self.words)

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        words = self.words(features["input_ids"])
        features["token_embeddings"] = self.layer(words + _mean(words, features["attention_mask"])[:, None])
        return features


class _Mean(nn.Module):
    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        features["sentence_embedding"] = _mean(features["token_embeddings"], features["attention_mask"])
        return features


class ToyEncoder(nn.Sequential):
    """Words that see their neighbours, and their mean; writes into its input, as sentence-transformers' modules do."""

    tokenizer = SPECIAL
    max_seq_length = 2 * LENGTH

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__(_Tokens(dropout), _Mean())

    def get_embedding_dimension(self) -> int:
        return WIDTH


def toy_encoder(dropout: float = 0.0) -> ToyEncoder:
    torch.manual_seed(7)
    return ToyEncoder(dropout).double()


def column(rows: int, seed: int) -> Features:
    """Random texts of two to four words between an opening and a closing token."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(4, LENGTH + 1, (rows, 1), generator=draw)
    places = torch.arange(LENGTH)
    ids = torch.randint(4, WORDS, (rows, LENGTH), generator=draw)
    ids[:, 0] = 1
    ids = torch.where(places == lengths - 1, 2, ids)
    mask = (places < lengths).long()
    return {"input_ids": ids * mask, "attention_mask": mask}


def batch(rows: int = 12, columns: int = 2, doubles: bool = True) -> list[Features]:
    """Columns in which, with `doubles`, some texts occur more than once, on the same side and across."""
    found = [column(rows, seed) for seed in range(columns)]
    if doubles:
        for name in ("input_ids", "attention_mask"):
            found[1][name][rows - 1] = found[1][name][0]
            found[0][name][rows // 2] = found[1][name][1]
    return found


def frequencies(rows: int) -> Tensor:
    return torch.arange(1, rows + 1).double()


def take(columns: list[Features], labels: Tensor, rows: slice) -> tuple[list[Features], Tensor]:
    return [{name: value[rows] for name, value in part.items()} for part in columns], labels[rows]


class FixedMasks(MaskedLanguage):
    """Chooses every third word by its place and number, so that a batch and its parts mask the same tokens."""

    def corrupt(self, features: dict[str, Any]) -> dict[str, Any]:
        tokens = features["input_ids"]
        chosen = (tokens > 3) & ((tokens + torch.arange(tokens.shape[1])) % 3 == 0)
        return {
            **features,
            "input_ids": torch.where(chosen, self.mask_id, tokens),
            TARGETS: torch.where(chosen, tokens, IGNORED),
        }


def _tod_bert(model: Any, **options: Any) -> Sum:
    size = options.get("mini_batch_size")
    words = FixedMasks(model, columns=(0,), mini_batch_size=size)
    return Sum((ResponseContrast(model, **options), 1.0), (words, 0.5))


class SharedLabels(NTXent):
    """Three pairs each have the same label."""

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        assert labels is not None
        return super().forward(sentence_features, labels // 3)


def _away_from_start(loss: Paraphrases) -> Paraphrases:
    """With a start that is another encoder: where nothing has moved, nothing pulls."""
    start = toy_encoder()
    noise = torch.Generator().manual_seed(12)
    for parameter in start.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, dtype=parameter.dtype, generator=noise)
    loss._base = FrozenBase(start)
    return loss


def write_vectors(folder: Path, vectors: np.ndarray, keys: np.ndarray | None = None) -> str:
    """A vector table on disk, of texts that only their keys tell apart."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("model", "fingerprint", "content_hash", "command")
    about = dict.fromkeys(names, "toy") | {
        "width": vectors.shape[1],
        "texts": len(vectors),
        "dialogues": 0,
        "turns": 0,
    }
    np.save(folder / KEYS, np.arange(len(vectors), dtype=np.uint64) if keys is None else keys)
    np.save(folder / VECTORS, vectors.astype(np.float16))
    (folder / MANIFEST).write_text(VectorManifest(tables=[], scrubbed=True, **about).model_dump_json())
    return str(folder)


@cache
def teachers() -> list[str]:
    """Two vector tables of different width."""
    folder, draw = Path(tempfile.mkdtemp()), np.random.default_rng(3)
    return [write_vectors(folder / str(width), draw.standard_normal((30, width)) + 1.0) for width in (5, 7)]


@cache
def own_vectors() -> str:
    """A vector table as wide as the toy encoder."""
    draw = np.random.default_rng(4)
    return write_vectors(Path(tempfile.mkdtemp()) / "own", draw.standard_normal((30, WIDTH)))


OBJECTIVES: dict[str, Maker] = {
    "outside": HardNegativeContrast,
    "inside": lambda model, **options: HardNegativeContrast(model, weighting="inside", temperature=0.2, **options),
    "unweighted": lambda model, **options: HardNegativeContrast(model, weighting="none", mask="none", **options),
    "simclr": NTXent,
    "symmetric": lambda model, **options: NTXent(model, form="symmetric", head="context-reply", **options),
    "labels": lambda model, **options: SharedLabels(model, mask="label", **options),
    "normalised": lambda model, **options: NTXent(model, weighted=True, normalize_weights=True, **options),
    "inverse-frequency": InverseFrequencyContrast,
    "response": ResponseContrast,
    "masked-language": lambda model, **options: FixedMasks(model, mini_batch_size=options.get("mini_batch_size")),
    "tod-bert": _tod_bert,
    "templates": lambda model, **options: TemplatePair(model, mini_batch_size=options.get("mini_batch_size")),
    "taught": lambda model, **options: Taught(
        model,
        teachers=teachers(),
        squares=3.0,
        coordinates=2.0,
        own=own_vectors(),
        mini_batch_size=options.get("mini_batch_size"),
    ),
    "paraphrases": lambda model, **options: _away_from_start(Paraphrases(model, agreement=0.9, pull=5.0, **options)),
}
COLUMNS = {"outside": 3, "simclr": 3}


def make(name: str, model: Any, **options: Any) -> nn.Module:
    """An objective with fixed heads."""
    torch.manual_seed(11)
    return OBJECTIVES[name](model, **options)


def gradient(loss: nn.Module) -> Tensor:
    """All gradients of a loss, the encoder's and the heads', in one row."""
    found = [parameter.grad for parameter in loss.parameters()]
    return torch.cat([part.flatten() for part in found if part is not None])


def relative_error(found: Tensor, true: Tensor) -> float:
    return float((found - true).norm() / true.norm())
