"""Where no bar can be drawn, a line says now and then how far a step is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from turnloom.cli import log_progress
from turnloom.cli.log_progress import LogProgress


def logged(*, is_terminal: bool = False) -> str:
    written = io.StringIO()
    console = Console(file=written, force_terminal=is_terminal, width=100)
    with LogProgress("{task.description}", console=console) as progress:
        bar = progress.add_task("encoding", total=200, note="")
        progress.update(bar, completed=50, note="[7] a second")
        progress.advance(bar, 50)
        counted = progress.add_task("reading", total=None, note="")
        progress.advance(counted, 12_345)
    return written.getvalue()


def test_a_log_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_progress, "SECONDS", 0.0)
    first, second, third = logged().splitlines()
    assert first == "encoding: 25 %, [7] a second"
    assert second.startswith("encoding: 50 %, 0:0")
    assert second.endswith("left, [7] a second")
    assert third == "reading: 12,345 done"


def test_what_is_done_soon_says_nothing() -> None:
    assert logged() == ""


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_progress, "SECONDS", 0.0)
    assert "25 %, [7]" not in logged(is_terminal=True)
