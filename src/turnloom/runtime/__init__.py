"""Models behind small protocols: the rest of Turnloom doesn't depend on how a model is implemented."""

from __future__ import annotations

from turnloom.runtime.compression import SemanticCompression, choose_weight
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.protocols import Context, Encoder, Scorer, TrainableEncoder

__all__ = [
    "Context",
    "Encoder",
    "Scorer",
    "SemanticCompression",
    "TrainableEncoder",
    "choose_weight",
    "load_encoder",
]
