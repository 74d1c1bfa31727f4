"""Take the pictures of the guide: python -m studies.studio.pictures STUDIO FOLDER.

`python -m studies.studio.afternoon shop` made the studio; an index of replies, if it names one, is shown, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from tests.studio.visits import open_tab

from studies.studio.browser import opened_studio

SETTLED = 2_500
LOOKS: dict[str, tuple[int, Literal["light", "dark"]]] = {
    "": (1280, "light"),
    "-phone": (390, "light"),
    "-dark": (1280, "dark"),
}
"""By the end of a picture's name: how wide the window is, and its colours."""


def tabs(page: Any) -> Iterator[str]:
    """Show something in each tab, and yield its name."""
    page.locator("#map canvas[data-drawn]").wait_for()
    page.locator(".tree .pick").filter(has_text="refund").last.click()
    page.locator(".group-title h2").filter(has_text="refund").wait_for()
    yield "groups"
    open_tab(page, "Flow")
    page.locator("#flow path[data-edge][stroke=transparent]").first.dispatch_event("click")
    page.locator("#behind .chat").first.wait_for()
    yield "flow"
    open_tab(page, "Try")
    page.locator("#try-message textarea").fill("hello, when do i get my money back")
    page.locator("#try").click()
    page.locator("#answer .decision").wait_for()
    yield "try"
    open_tab(page, "Label next")
    page.locator("#question blockquote").wait_for()
    yield "label"
    open_tab(page, "Publish")
    yield "publish"


def main() -> None:
    studio, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for suffix, (width, scheme) in LOOKS.items():
        with opened_studio(studio, width, scheme) as (page, _):
            for name in tabs(page):
                page.wait_for_timeout(SETTLED)
                picture = out / f"studio-{name}{suffix}"
                page.screenshot(path=str(picture.with_suffix(".png")), full_page=True)
                Image.open(picture.with_suffix(".png")).save(picture.with_suffix(".webp"), quality=80, method=6)


if __name__ == "__main__":
    main()
