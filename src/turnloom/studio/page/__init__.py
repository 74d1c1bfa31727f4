"""The studio's page: one module per tab."""

from __future__ import annotations
