"""The page in a real browser: typed into, answered, by keyboard alone, at desk and phone width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.cli.browser import opened, overflow, serious_violations
from tests.service.toy import (
    KEYS,
    HeadedEncoder,
    keys,
    listening,
    loaders,
    settings,
    with_intents,
    with_replies,
)
from turnloom.service.app import create_app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("page")
    encoder = HeadedEncoder()
    config = settings(folder, **with_intents(folder, encoder), **with_replies(folder, encoder))
    with listening(create_app(config, loaders(encoder))) as found:
        yield found


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_conversation_by_keyboard_alone(
    address: str, width: int, scheme: Literal["light", "dark"], tmp_path: Path
) -> None:
    with opened(address, width, scheme) as (page, problems):
        page.get_by_text("Model toy, 32 dimensions").wait_for()
        assert serious_violations(page) == []
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "conversation"
        page.keyboard.press("Control+a")
        page.keyboard.type("customer: hello\nagent: how can I help?\ncustomer: i lost my card")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Accepted: lost card").wait_for()
        assert page.locator("#intent table").nth(1).get_by_text("i lost my card").count() == 1
        page.locator("#replies li").first.wait_for()
        assert "chats d" in page.locator("#replies li .help").first.inner_text()
        page.locator("#conversation").fill("zeppelin timetable")
        for _ in range(2):
            page.keyboard.press("Tab")
        page.locator("#conversation-form button").press("Enter")
        page.get_by_text("Out of scope: no intent fits").wait_for()
        page.locator("#first").fill("where is my lamp")
        page.locator("#second").fill("where is my lamp")
        page.locator("#second").press("Enter")
        page.get_by_text("Cosine similarity: 1.000").wait_for()
        assert serious_violations(page) == []
        assert overflow(page) <= 0
        page.screenshot(path=str(tmp_path / f"page-{width}.png"), full_page=True)
        assert problems == []


def test_what_users_type_is_never_html(address: str) -> None:
    with opened(address, 1200) as (page, problems):
        page.get_by_text("Model toy").wait_for()
        page.locator("#conversation").fill("<img src=x onerror=alert(1)>")
        page.locator("#conversation").press("Control+Enter")
        page.locator("#intent .decision").wait_for()
        assert page.locator("#intent img").count() == 0
        assert problems == []


def test_a_key_is_asked_for_and_kept_for_the_visit(tmp_path: Path) -> None:
    with (
        listening(create_app(settings(tmp_path, keys=keys()), loaders(HeadedEncoder()))) as address,
        opened(address, 1200) as (page, _),
    ):
        page.locator("#key").fill(KEYS["all"])
        page.locator("#key").press("Enter")
        page.get_by_text("Model toy").wait_for()
        assert page.get_by_text("No intents are served.").count() == 1
