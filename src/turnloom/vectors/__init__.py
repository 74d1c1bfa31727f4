"""Encode once: store one vector per distinct text of your dialogue tables, and the dialogues as rows of them."""

from __future__ import annotations

from turnloom.vectors.build import VectorOptions, build_vectors
from turnloom.vectors.encoder import StoredEncoder
from turnloom.vectors.table import Conversations, VectorTable

__all__ = ["Conversations", "StoredEncoder", "VectorOptions", "VectorTable", "build_vectors"]
