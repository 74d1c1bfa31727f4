"""The tracer of the walk sees the modules that are entered, also in threads, and the page has its lists."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from unittest import mock

from tools.walk import BEGIN, END, PAGE, Tracer, put

import turnloom
from turnloom.corpus import find_logs
from turnloom.errors import TurnloomError


def fail() -> None:
    TurnloomError("this", "that")


def test_modules_that_are_entered_are_noted_in_every_thread(tmp_path: Path) -> None:
    (tmp_path / "chats.csv").write_text("conversation_id,role,message\n1,user,hello\n")

    def both() -> None:
        find_logs([str(tmp_path / "chats.csv")])
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    tracer = Tracer()
    with tracer.installed():
        fail()  # It is not on yet.
        walk = tracer.during(both)
        fail()
    assert walk.keys() == {"corpus", ""}
    assert "errors" in walk[""]
    assert any(name.startswith("readers") for name in walk["corpus"])


def test_importing_a_module_is_not_entering_it() -> None:
    tracer = Tracer()
    with mock.patch.dict(sys.modules), mock.patch.dict(vars(turnloom)):
        del sys.modules["turnloom.errors"]
        with tracer.installed():
            assert tracer.during(lambda: __import__("turnloom.errors")) == {}


def test_the_lists_stand_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put(page, {"To an intent": {"service": ["guard", "routes/intents"], "": ["errors"]}})
    assert page.read_text() == (
        f"before\n{BEGIN}\n\n**To an intent** (3 modules)\n\n1. `service`: `guard`, `routes/intents`\n2. `errors`\n\n"
        f"{END}\nafter\n"
    )
    assert PAGE.read_text(encoding="utf-8").count(" modules)\n") == 3, "run: python -m tools.walk"
