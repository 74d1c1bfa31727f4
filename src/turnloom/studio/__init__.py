"""From chat logs to a maintained set of intents, in the browser."""

from __future__ import annotations
