"""Visits to the studio in a real browser: every tab used, with hostile texts in every field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.studio.toy import HOSTILE
from turnloom.studio.workspace import Workspace

HOSTILE_NAME = HOSTILE[:80]
_ALERTED = "window.alerted = []; window.alert = (text) => window.alerted.push(`alert ${text}`);"
_HOSTILE_NODES = """[
  ...[...document.querySelectorAll("img[src=x], [onerror]")].map((node) => node.parentElement.outerHTML),
  ...[...document.scripts].map((node) => node.textContent).filter((text) => text.trim() === "alert(2)"),
  ...(window.alerted ?? []),
]"""
_FIELDS = (
    "textarea:visible:enabled, "
    "input:not([type=checkbox], [type=radio], [type=range], [type=number], [readonly]):visible:enabled"
)
TABS = ("Groups", "Flow", "Try", "Label next", "Publish")


def watch(page: Any) -> None:
    """Open the page again so that whatever a text would run is noticed."""
    page.add_init_script(_ALERTED)
    page.reload()
    page.locator(".tree .pick").first.wait_for()


def hostile_nodes(page: Any) -> list[str]:
    """What texts became that should only be shown: elements, and scripts that ran."""
    page.wait_for_timeout(300)
    found: list[str] = page.evaluate(_HOSTILE_NODES)
    return found


def fill_fields(page: Any, text: str) -> int:
    """Type a text into every field that is shown, lists that can be searched too; return how many there are."""
    fields = page.locator(_FIELDS)
    for number in range(fields.count()):
        fields.nth(number).fill(text)
        page.keyboard.press("Escape")
    return int(fields.count())


def choose(page: Any, name: str) -> None:
    """Open a group."""
    page.locator(".tree .pick").filter(has_text=name).last.click()
    page.locator(".group-title h2").filter(has_text=name).wait_for()


def open_tab(page: Any, name: str) -> None:
    """Open a tab; on a narrow page it may be in the menu beside the others."""
    tab = page.locator("button[role=tab]:visible").filter(has_text=name)
    if not tab.count():
        page.locator(".overflow-menu > button").first.click()
        tab = page.locator(".overflow-dropdown button").filter(has_text=name)
    tab.first.click()


def field(page: Any, name: str) -> Any:
    """Return where one types."""
    return page.locator(f"#{name} textarea, #{name} input").first


def press(page: Any, name: str) -> str:
    """Press a button of the groups, and return what is then said of it."""
    before = page.locator("#said").inner_text()
    page.locator(f"#{name}").click()
    page.wait_for_function(
        # While Gradio waits for an answer, it counts the seconds there.
        """was => {
            const said = document.querySelector('#said').innerText.trim()
            return ![was, ''].includes(said) && !/^[0-9.]+s$/.test(said)
        }""",
        arg=before.strip(),
    )
    return str(page.locator("#said").inner_text())


def settle(page: Any) -> None:
    """Wait until the page draws nothing anew: a list that is drawn again forgets what was ticked."""
    page.evaluate(
        """() => new Promise(done => {
            let quiet = setTimeout(done, 500)
            const seen = new MutationObserver(() => { clearTimeout(quiet); quiet = setTimeout(done, 500) })
            seen.observe(document.body, {childList: true, subtree: true})
        })"""
    )


def _edit_groups(page: Any, work: Workspace) -> None:
    board = work.board
    choose(page, board.names[next(leaf for leaf in sorted(board.leaves) if leaf not in board.intents)])
    field(page, "name").fill(HOSTILE_NAME)
    press(page, "rename")
    field(page, "description").fill(HOSTILE)
    press(page, "make-intent")
    settle(page)
    page.locator("#messages input[type=checkbox]").first.check()
    field(page, "new-name").fill(f"new {HOSTILE_NAME}"[:80])
    press(page, "split")
    field(page, "query").fill(HOSTILE)
    field(page, "query").press("Enter")
    page.get_by_text("Nearest to").wait_for()


def _read_flow(page: Any) -> None:
    page.locator("#flow path[data-edge][stroke=transparent]").first.dispatch_event("click")
    page.locator("#behind .chat").first.wait_for()


def _try_message(page: Any) -> None:
    page.locator("#try-message textarea").fill(f"hello {HOSTILE}\nwhere is my refund {HOSTILE}")
    page.locator("#try").click()
    page.locator("#answer .decision li").first.wait_for()
    page.locator("#away h2").wait_for()
    page.locator("#intent-right").click()
    page.get_by_text("Learned: this is").wait_for()


def _answer_questions(page: Any) -> None:
    page.locator("#question blockquote").wait_for()
    page.locator("#answer-1").wait_for()
    page.wait_for_timeout(1_000)  # The page listens to keys a moment after it shows them.
    for _ in range(2):
        asked = page.locator("#question blockquote").inner_text()
        page.keyboard.press("1")
        page.wait_for_function("was => document.querySelector('#question blockquote').innerText !== was", arg=asked)


def _compare(page: Any) -> None:
    field(page, "service-url").fill(f"http://127.0.0.1:9/{HOSTILE}")
    page.locator("#compare").click()
    page.locator("#published [role=alert]").wait_for()


def use_tabs(page: Any, work: Workspace) -> Iterator[str]:
    """Use each tab, with hostile texts wherever one can type, and yield its name when the result is shown.

    Some groups are intents already, and one is not.
    """
    _edit_groups(page, work)
    for name in TABS:
        open_tab(page, name)
        if name == "Flow":
            _read_flow(page)
        elif name == "Try":
            _try_message(page)
        elif name == "Label next":
            _answer_questions(page)
        elif name == "Publish":
            _compare(page)
        fill_fields(page, HOSTILE)
        yield name
