"""How the rest of Turnloom sees a model: by small protocols, whatever is behind them."""

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
