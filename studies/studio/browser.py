"""A person at the studio: a real browser, its clicks counted."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from tests.cli.browser import opened

from turnloom.studio.page.parts import shortened
from turnloom.studio.workspace import Workspace

PATIENCE = 120_000
SERVE = """
import sys
from pathlib import Path
from turnloom.studio.server import serve
serve(Path(sys.argv[1]), port=0, on_start=lambda address: print(address, flush=True))
"""


@contextmanager
def opened_studio(
    folder: Path, width: int = 1280, scheme: Literal["light", "dark"] = "light"
) -> Iterator[tuple[Any, list[str]]]:
    """Serve a studio in a process of its own and open it; the list fills with what the browser complains about."""
    with subprocess.Popen([sys.executable, "-c", SERVE, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            address = process.stdout.readline().strip().rstrip("/")
            with opened(address, width, scheme) as (page, problems):
                page.set_default_timeout(PATIENCE)
                page.locator(".tree .pick").first.wait_for()
                yield page, problems
        finally:
            process.terminate()


class Person:
    """Clicks and types in the studio.

    Args:
        page: The browser's page.
        work: The same studio, to see when an edit is saved.
    """

    def __init__(self, page: Any, work: Workspace) -> None:
        self.page, self.work, self.clicks = page, work, 0
        self._texts = {shortened(text): text for text in work.texts}

    def _click(self, where: str) -> None:
        self.clicks += 1
        self.page.locator(where).click()

    def _edit(self, where: str) -> None:
        """Click, and wait until the edit is saved and shown."""
        version = self.work.edits.version
        shown = self.page.locator("#said").inner_text()
        self._click(where)
        self._until(lambda: self.work.edits.version != version)
        self.page.wait_for_function("was => document.querySelector('#said').innerText !== was", arg=shown)

    def _until(self, done: Callable[[], bool]) -> None:
        for _ in range(PATIENCE // 50):
            if done():
                return
            self.page.wait_for_timeout(50)
        raise TimeoutError("the studio did not do it")

    def _type(self, where: str, text: str) -> None:
        self.clicks += 1
        self.page.locator(f"{where} textarea, {where} input").first.fill(text)

    def _page(self) -> list[str]:
        return [self._read(line) for line in self.page.locator("#messages label").all_inner_texts()]

    def _read(self, line: str) -> str:
        """Return the message that is shown: a long one is cut, and what is said of it follows it."""
        line = " ".join(line.split())
        return self._texts.get(max((shown for shown in self._texts if line.startswith(shown)), key=len, default=""), "")

    def open_group(self, group: int) -> list[str]:
        """Open a group and return the messages of its first page."""
        name = self.work.board.names[group]
        self._click(f".tree [data-group='{group}']")
        self.page.locator(".group-title h2").filter(has_text=name).wait_for()
        self.page.locator(f".tree [data-group='{group}'][aria-current]").wait_for()
        first = self.work.texts[int(self.work.typical(self.work.board, group)[0])]
        self._until(lambda: self._page()[:1] == [first])
        return self._page()

    def check(self, rows: Sequence[int]) -> None:
        """Check messages of the page."""
        for row in rows:
            self.clicks += 1
            self.page.locator("#messages label input").nth(row).check()

    def rename(self, name: str) -> None:
        """Rename the open group."""
        self._type("#name", name)
        self._edit("#rename")

    def make_intent(self) -> None:
        """Make an intent of the open group."""
        self._edit("#make-intent")

    def merge_into(self, group: int) -> None:
        """Merge the open group into another one."""
        name = self.work.board.names[group]
        self._type("#other", name)
        self.clicks += 1
        # Not just the first one: the list may not be filtered yet.
        self.page.get_by_role("option", name=re.compile(rf"{re.escape(name)} \([\d,]+\)$")).click()
        self._edit("#merge")

    def search(self, query: str) -> list[str]:
        """Search, and return the first page of messages."""
        self._type("#query", query)
        self.clicks += 1
        self.page.locator("#query textarea, #query input").first.press("Enter")
        self.page.locator(".group-title h2").filter(has_text=f"“{query[:40]}").wait_for()
        self.page.wait_for_timeout(500)
        return self._page()

    def new_group(self, name: str) -> None:
        """Make a new group of the checked messages."""
        self._type("#new-name", name)
        self._edit("#split")
        self._until(lambda: name in self.work.board.names.values())
        self.page.wait_for_timeout(1_500)

    def label(self, gold: Callable[[str], str | None], questions: int) -> None:
        """Answer what is asked under "Label next", one key each."""
        self.clicks += 1
        self.page.get_by_role("tab", name="Label next").click()
        for _ in range(questions):
            quote = self.page.locator("#question blockquote")
            quote.wait_for()
            asked = quote.inner_text()
            meaning = gold(self._read(shortened(asked)))
            buttons = self.page.locator("#answers button[id^=answer-]:visible").all_inner_texts()
            key = next((text.split(" · ")[0] for text in buttons if text.split(" · ", 1)[1] == meaning), "s")
            self.clicks += 1
            self.page.keyboard.press(key.lower())
            self.page.wait_for_function(
                "was => document.querySelector('#question blockquote')?.innerText !== was",
                arg=asked,
            )
