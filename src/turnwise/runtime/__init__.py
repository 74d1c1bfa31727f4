"""How the rest of Turnwise sees a model: by small protocols, whatever is behind them."""

from __future__ import annotations

from turnwise.runtime.compression import SemanticCompression, choose_weight
from turnwise.runtime.encoder import Context, Encoder, Scorer, TrainableEncoder, load_encoder

__all__ = [
    "Context",
    "Encoder",
    "Scorer",
    "SemanticCompression",
    "TrainableEncoder",
    "choose_weight",
    "load_encoder",
]
