"""What an API key may do."""

from __future__ import annotations

from typing import Literal

KeyScope = Literal[
    "embeddings",
    "rerank",
    "intents",
    "intents:write",
    "replies",
    "replies:write",
    "feedback",
    "erase",
    "metrics",
    "admin",
]
