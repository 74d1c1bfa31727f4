"""The report on evaluated models: one self-contained HTML page."""

from __future__ import annotations

from turnloom.benchmarks.report.build import build_report

__all__ = ["build_report"]
