"""Embeddings, intents, replies and re-ranking over HTTP."""

from __future__ import annotations

from turnloom.service.config import ServiceConfig
from turnloom.service.config_file import config_text, load_config

__all__ = ["ServiceConfig", "config_text", "load_config"]
