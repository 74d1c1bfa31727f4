"""Trace which modules a message passes through: from a CSV to a gradient, to an intent over HTTP, to a reply.

Usage: python -m tools.walk

Runs the three paths on a tiny model, prints the Turnloom modules whose functions were called, and writes them between
the two marks of docs/architecture.md. Calls from Daft's own threads are not traced.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import turnloom

__all__ = ["Tracer", "put", "walks"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- walk: begin -->", "<!-- walk: end -->"
SOURCE = str(Path(turnloom.__file__).parent) + "/"
TRAINING = ("stages.0.steps=1", "stages.0.batch_size=8", "report_to=none", "bf16=false")
Walk = dict[str, list[str]]
"""The entered modules by package, in the order of first entry."""


def _importing(frame: FrameType | None) -> bool:
    """Whether a Turnloom module is being imported, which calls functions too."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(SOURCE):
            return True
        frame = frame.f_back
    return False


class Tracer:
    """Records the Turnloom modules that are entered while it is on, in every thread started under it."""

    def __init__(self) -> None:
        self.on = False
        self.entered: dict[str, None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if self.on and event == "call" and path.startswith(SOURCE):
            name = path.removeprefix(SOURCE).removesuffix(".py")
            if name not in self.entered and not _importing(frame):
                self.entered[name] = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install the tracer for every function call; it records nothing until it is on."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def during(self, action: Callable[[], object]) -> Walk:
        """Return the modules that an action enters."""
        self.entered, self.on = {}, True
        try:
            action()
        finally:
            self.on = False
        found: Walk = {}
        for name in self.entered:
            package, _, rest = name.partition("/")
            # A package's own functions, in its __init__, count as the package.
            found.setdefault(package if rest else "", []).append((rest or package).removesuffix("/__init__"))
        return {package: sorted(names) for package, names in found.items()}


def _command(*words: str) -> None:
    from turnloom.cli.main import main

    with mock.patch.object(sys, "argv", ["turnloom", *words]):
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise


def to_gradient(tracer: Tracer, folder: Path) -> Walk:
    """Prepare a CSV and train on it, until the first gradient."""
    import torch

    backward = torch.Tensor.backward

    def last(*arguments: Any, **options: Any) -> None:
        tracer.on = False
        backward(*arguments, **options)  # type: ignore[no-untyped-call]

    changes = [word for change in TRAINING for word in ("--set", change)]
    train = ["train", "dse", str(folder / "prepared"), "--start", str(folder / "base"), "--out", str(folder / "model")]

    def action() -> None:
        _command("prepare", str(folder / "chats.csv"), "--out", str(folder / "prepared"))
        _command(*train, *changes)

    with mock.patch.object(torch.Tensor, "backward", last):
        return tracer.during(action)


def over_http(tracer: Tracer, folder: Path, settings: dict[str, Any], path: str, body: dict[str, Any]) -> Walk:
    """Send one request to a service; its start is not traced."""
    from starlette.testclient import TestClient

    from turnloom.service.app import create_app
    from turnloom.service.config import ServiceConfig

    config = ServiceConfig.model_validate({"model": {"path": "model"}, **settings}).within(folder)
    with TestClient(create_app(config), base_url="http://127.0.0.1") as client:
        return tracer.during(lambda: client.post(path, json=body).raise_for_status())


def walks() -> dict[str, Walk]:
    """Return the three walks by title."""
    from tests.service.toy import with_intents, with_replies
    from tests.training.toy import write_start

    from turnloom.runtime import load_encoder

    tracer = Tracer()
    with tempfile.TemporaryDirectory() as name, tracer.installed():
        folder = Path(name)
        subprocess.run([sys.executable, ROOT / "examples" / "shop.py", folder / "chats.csv", "80"], check=True)
        write_start(folder / "base")
        gradient = to_gradient(tracer, folder)
        encoder, asked = load_encoder(folder / "model"), ["where is my card"]
        intents, replies = with_intents(folder, encoder), with_replies(folder, encoder)
        intent = over_http(tracer, folder, intents, "/v1/intents", {"messages": asked})
        reply = over_http(tracer, folder, replies, "/v1/replies", {"context": asked})
    return {
        "From a CSV to a gradient": gradient,
        "To an intent over HTTP": intent,
        "To a reply over HTTP": reply,
    }


def lines(title: str, walk: Walk) -> list[str]:
    """Format a walk as a list with one line per package."""
    count = sum(map(len, walk.values()))
    items = [
        f"{number}. {f'`{package}`: ' if package else ''}{', '.join(f'`{name}`' for name in names)}"
        for number, (package, names) in enumerate(walk.items(), 1)
    ]
    return [f"**{title}** ({count} modules)", "", *items]


def put(page: Path, found: dict[str, Walk]) -> None:
    """Write the walks between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    written = "\n\n".join("\n".join(lines(title, walk)) for title, walk in found.items())
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    found = walks()
    put(PAGE, found)
    for title, walk in found.items():
        print("\n".join(lines(title, walk)) + "\n")


if __name__ == "__main__":
    main()
