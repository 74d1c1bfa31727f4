"""Take the pictures of the guide: python -m studies.studio.pictures STUDIO FOLDER.

`turnloom studio STUDIO --table TABLE` made the studio, and some of its groups are intents.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.studio.browser import opened_studio

SETTLED = 3_000
WIDTHS = {"": 1280, "-phone": 390}


def main() -> None:
    studio, out = Path(sys.argv[1]), Path(sys.argv[2])
    for suffix, width in WIDTHS.items():
        with opened_studio(studio, width) as (page, _):
            page.locator(".tree .badge").first.wait_for()
            page.locator("#map canvas[data-drawn]").wait_for()
            page.wait_for_timeout(SETTLED)
            page.screenshot(path=str(out / f"studio-groups{suffix}.png"))
            page.get_by_role("tab", name="Try").click()
            page.locator("#try-message textarea").fill("hello, where is my refund")
            page.locator("#try").click()
            page.locator("#answer .decision").wait_for()
            page.wait_for_timeout(SETTLED)
            page.screenshot(path=str(out / f"studio-try{suffix}.png"), full_page=True)


if __name__ == "__main__":
    main()
