"""Several browsers at one studio, each driven by a thread of its own, and what the page acknowledged to them."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error

from tests.cli import browser
from tests.studio.serving import serving
from tests.studio.visits import choose, field
from turnloom.studio.actions import Action, Rename, Split
from turnloom.studio.workspace import Workspace

PATIENCE = 10_000
_NOTE_NOTICES = """() => {
  window.notices = [];
  const said = document.querySelector("#said");
  new MutationObserver(() => {
    const text = said.innerText.trim();
    if (text && text !== window.notices.at(-1)) window.notices.push(text);
  }).observe(said, { childList: true, subtree: true, characterData: true });
}"""


@contextmanager
def editing(address: str, group: str) -> Iterator[Any]:
    """Open a group, and note from then on what the page says."""
    with browser.opened(address, 1280) as (page, _):
        page.locator(".tree .pick").first.wait_for()
        choose(page, group)
        page.evaluate(_NOTE_NOTICES)
        yield page


def rename_often(page: Any, names: Iterable[str], tries: int = 1) -> list[str]:
    """Rename the open group until there is no name left or no studio; return the names that were acknowledged.

    What is typed may be replaced by the name that somebody else gave meanwhile: then it is typed again.
    """
    acknowledged: list[str] = []
    for name in names:
        if not any(_rename(page, name) for _ in range(tries)):
            break
        acknowledged.append(name)
    return acknowledged


def _rename(page: Any, name: str) -> bool:
    with suppress(Error):  # What Playwright says when nothing happens, or the studio is gone.
        field(page, "name").fill(name)
        page.locator("#rename").click(timeout=PATIENCE)
        page.wait_for_function(
            "name => window.notices.some((text) => text.startsWith('Renamed') && text.includes(`to “${name}”`))",
            arg=name,
            timeout=PATIENCE,
        )
        return True
    return False


def split_often(page: Any, names: Iterable[str]) -> list[str]:
    """Split the first message off the open group under each name; return the names that the page then lists."""
    listed: list[str] = []
    for name in names:
        row = page.locator(".tree .pick").filter(has_text=name)
        while not row.count():
            page.locator("#messages input[type=checkbox]").first.check()
            field(page, "new-name").fill(name)
            page.locator("#split").click()
            with suppress(Error):
                row.first.wait_for(timeout=PATIENCE)
        listed.append(name)
    return listed


def edited_at_once(address: str, group: str, count: int) -> tuple[list[str], list[str]]:
    """Two browsers rename a group at the same time, and one of them then splits it while the other renames it.

    Returns:
        The names of the group that pages acknowledged, and those of the groups that were split off.
    """
    together = threading.Barrier(2)

    def first() -> tuple[list[str], list[str]]:
        with editing(address, group) as page:
            together.wait(300)
            renamed = rename_often(page, (f"first {number}" for number in range(2 * count)), tries=9)
            return renamed, []

    def second() -> tuple[list[str], list[str]]:
        with editing(address, group) as page:
            together.wait(300)
            renamed = rename_often(page, (f"second {number}" for number in range(count)), tries=9)
            return renamed, split_often(page, [f"part {number} of it" for number in range(count)])

    with ThreadPoolExecutor(2) as threads:
        done = [future.result() for future in [threads.submit(first), threads.submit(second)]]
    return [name for renamed, _ in done for name in renamed], [name for _, split in done for name in split]


def lost(work: Workspace, acknowledged: Iterable[str]) -> list[str]:
    """Return the acknowledged names that no edit in the journal gave."""
    given = {name for action in work.edits.history for name in _names(action)}
    return [name for name in acknowledged if name not in given]


def _names(action: Action) -> tuple[str, ...]:
    return action.names if isinstance(action, Split) else (action.name,) if isinstance(action, Rename) else ()


def edited_until_killed(folder: Path, group: str, seconds: float) -> list[str]:
    """Serve a studio, rename a group in a browser, and kill the studio meanwhile; return the acknowledged names."""
    with serving(folder) as (address, process), editing(address.rstrip("/"), group) as page:
        killer = threading.Timer(seconds, os.kill, (process.pid, signal.SIGKILL))
        killer.start()
        acknowledged = rename_often(page, (f"{group} {number}" for number in itertools.count()))
        killer.join()
        return acknowledged
