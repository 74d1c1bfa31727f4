"""The studio in a real browser: read, edited, shared, hostile texts, and who may open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli import browser
from tests.cli.browser import overflow, serious_violations
from tests.studio.browsers import edited_at_once, edited_until_killed, lost
from tests.studio.serving import serving
from tests.studio.toy import HOSTILE, make_studio, opened
from tests.studio.visits import HOSTILE_NAME, choose, field, hostile_nodes, press, use_tabs, watch
from turnloom.studio.actions import MakeIntent, Rename
from turnloom.studio.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio")]  # One process makes the studio, once.


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Workspace]]:
    folder = make_studio(tmp_path_factory.mktemp("studio"))
    with serving(folder) as (address, _):
        yield address.rstrip("/"), opened(folder)


@contextmanager
def looking(address: str, width: int = 1280) -> Iterator[Any]:
    """Open the page, and see that the browser has nothing to complain about."""
    with browser.opened(address, width) as (page, problems):
        page.locator(".tree .pick").first.wait_for()
        yield page
        assert problems == []


def leaf_name(work: Workspace, index: int) -> str:
    board = work.board
    return board.names[sorted(board.leaves)[index]]


def test_groups_are_browsed_and_edited(served: tuple[str, Workspace], tmp_path: Path) -> None:
    address, work = served
    before = work.board.digest()
    with looking(address) as page:
        choose(page, leaf_name(work, 0))
        page.locator("#map canvas[data-drawn]").wait_for()
        field(page, "name").fill("my parcel")
        page.locator("#rename").click()
        page.get_by_text("Renamed").wait_for()
        page.locator(".tree [aria-current]").filter(has_text="my parcel").wait_for()
        page.locator("#messages input[type=checkbox]").nth(1).check()
        page.locator("#discard").click()
        page.get_by_text("Discarded 1 message").wait_for()
        page.locator("#make-intent").click()
        page.get_by_text("an intent with 10 examples").wait_for()
        assert [work.board.names[group] for group in work.board.intents] == ["my parcel"]
        field(page, "query").fill("where is my refund")
        field(page, "query").press("Enter")
        page.get_by_text("Nearest to").wait_for()
        assert serious_violations(page) == []
        assert overflow(page) <= 0
        for _ in range(3):
            assert "Undone" in press(page, "undo")
        page.screenshot(path=str(tmp_path / "groups.png"), full_page=True)
    assert work.board.digest() == before


def test_what_others_do_and_write_is_shown_as_text(served: tuple[str, Workspace]) -> None:
    address, work = served
    row = next(row for row, text in enumerate(work.texts) if HOSTILE in text)
    group, other = int(work.board.group[row]), leaf_name(work, 1)
    with looking(address, 390) as page:
        watch(page)
        choose(page, other)
        page.locator("#move").click()
        page.get_by_role("alert").get_by_text("No message is checked").wait_for()
        assert serious_violations(page) == []
        assert overflow(page) <= 0
        field(page, "new-name").fill("half typed")
        work.edits.do(Rename(group=group, name=HOSTILE_NAME))  # As another browser would.
        page.locator(".tree .pick").filter(has_text="<img").wait_for()
        assert field(page, "new-name").input_value() == "half typed"
        page.locator(f".tree [data-group='{group}']").click()
        page.locator(".group-title h2").filter(has_text="<img").wait_for()
        field(page, "query").fill(HOSTILE)
        field(page, "query").press("Enter")
        page.get_by_text("Nearest to").wait_for()
        assert hostile_nodes(page) == []
    work.edits.undo()


def test_every_tab_is_usable_by_everyone(served: tuple[str, Workspace], tmp_path: Path) -> None:
    address, work = served
    _, *others = sorted(work.board.leaves)
    for group in others:
        work.edits.do(MakeIntent(group=group, examples=tuple(work.typical(work.board, group)[:4].tolist())))
    with looking(address) as page:
        watch(page)
        for name in use_tabs(page, work):
            assert serious_violations(page) == [], name
            assert overflow(page) <= 0, name
            assert hostile_nodes(page) == [], name
            page.screenshot(path=str(tmp_path / f"{name}.png"), full_page=True)
    assert len(work.board.labels) == 2
    assert httpx.get(f"{address}/studio/nlu.yml").text.startswith('version: "3.1"')


def test_only_this_machines_own_pages_may_ask(served: tuple[str, Workspace]) -> None:
    address, _ = served
    page = httpx.get(address)
    assert page.status_code == 200
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert httpx.get(address, headers={"Host": "evil.example"}).status_code == 403
    foreign = httpx.post(f"{address}/gradio_api/queue/join", headers={"Origin": "http://evil.example"}, json={})
    assert foreign.status_code == 403


def test_beyond_this_machine_a_key_is_asked_for(served: tuple[str, Workspace]) -> None:
    with serving(served[1].files.folder, "0.0.0.0") as (opening, _):
        address, key = opening.replace("0.0.0.0", "127.0.0.1").split("/?key=")
        assert len(key) > 40
        for path in ("/", "/studio/points", "/config", "/gradio_api/info", "/?key=wrong"):
            refused = httpx.get(address + path)
            assert refused.status_code == 401
            assert "refund" not in refused.text
        with httpx.Client(follow_redirects=True) as client:
            assert client.post(f"{address}/", data={"key": "nope"}).status_code == 401
            assert client.post(f"{address}/", data={"key": key}).status_code == 200
            assert client.get(f"{address}/studio/points").status_code == 200
            opened_page = client.get(f"{address}/?key={key}")
            assert (opened_page.status_code, key in str(opened_page.url)) == (200, False)


@pytest.mark.nightly
def test_edits_of_two_browsers_and_before_a_kill_are_kept(tmp_path: Path) -> None:
    folder = make_studio(tmp_path)
    work = opened(folder)
    group = leaf_name(work, 0)
    with serving(folder) as (address, _):
        renamed, split = edited_at_once(address.rstrip("/"), group, 3)
    assert (len(renamed), len(split)) == (9, 3)
    assert lost(work, [*renamed, *split]) == []
    assert set(split) <= set(work.board.names.values())
    acknowledged = edited_until_killed(folder, leaf_name(work, 1), 5)
    assert acknowledged
    assert lost(opened(folder), acknowledged) == []
