"""What the studio promises, tried in Chromium: python -m studies.studio.proofs FOLDER [NAME...].

Studios of toy chats, with an encoder that knows words: what is tried is the page and the journal, not a model.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.cli import browser
from tests.studio.browsers import edited_at_once, edited_until_killed, lost
from tests.studio.serving import serving
from tests.studio.toy import make_studio, opened
from tests.studio.visits import TABS, hostile_nodes, use_tabs, watch

from studies.lib.figures import record
from turnloom.discovery import Messages, save_discovery
from turnloom.studio.actions import MakeIntent
from turnloom.studio.folder import DISCOVERY, DRAWN, VECTORS
from turnloom.studio.folder import POINTS as POINTS_FILE

EDITS_EACH, KILLS, POINTS = 20, 10, 50_000
LONGEST_MS = 100
SCREENS: tuple[tuple[int, Any], ...] = ((1280, "light"), (390, "light"), (1280, "dark"))


def fresh(folder: Path, hostile: Any = (7,)) -> Path:
    """Make a studio of toy chats where nothing is left of an earlier one."""
    shutil.rmtree(folder, ignore_errors=True)
    return make_studio(folder, hostile)


def two_browsers(folder: Path) -> dict[str, float]:
    """Let two browsers edit the same group at the same time."""
    studio = fresh(folder)
    work = opened(studio)
    group = work.board.names[min(work.board.leaves)]
    with serving(studio) as (address, _):
        renamed, split = edited_at_once(address.rstrip("/"), group, EDITS_EACH)
    missing = lost(work, [*renamed, *split])
    missing += [name for name in split if name not in work.board.names.values()]
    return {"two_browsers_edits": len(renamed) + len(split), "two_browsers_lost_edits": len(missing)}


def kills(folder: Path) -> dict[str, float]:
    """Kill the studio in the middle of edits, again and again."""
    studio, rng, edits, missing = fresh(folder), random.Random(0), 0, 0
    for number in range(KILLS):
        work = opened(studio)
        group = work.board.names[sorted(work.board.leaves)[number % len(work.board.leaves)]]
        acknowledged = edited_until_killed(studio, group, rng.uniform(3, 8))
        edits += len(acknowledged)
        missing += len(lost(opened(studio), acknowledged))
    return {"kills": KILLS, "kill_edits": edits, "kill_lost_edits": missing}


def safety(folder: Path) -> dict[str, float]:
    """Use every tab with hostile texts in every field and every message, at several sizes."""
    violations = nodes = outside = checked = 0
    for width, scheme in SCREENS:
        seen = folder / f"{width}-{scheme}"
        studio = fresh(seen, range(120))
        work = opened(studio)
        for group in sorted(work.board.leaves)[1:]:
            work.edits.do(MakeIntent(group=group, examples=tuple(work.typical(work.board, group)[:4].tolist())))
        with serving(studio) as (address, _), browser.opened(address.rstrip("/"), width, scheme) as (page, problems):
            page.set_default_timeout(120_000)
            watch(page)
            for name in use_tabs(page, work):
                found, became = browser.serious_violations(page), hostile_nodes(page)
                print(width, scheme, name, found, became, flush=True)
                violations, nodes, checked = violations + len(found), nodes + len(became), checked + 1
                page.screenshot(path=str(seen / f"{name}.png"), full_page=True)
            outside += sum(problem.startswith("http") for problem in problems)
            print(problems, flush=True)
    assert checked == len(SCREENS) * len(TABS)
    return {"axe_serious_violations": violations, "xss_nodes": nodes, "outside_requests": outside}


MEASURE = """() => {
  const canvas = document.querySelector("#map canvas");
  window.took = [];
  let since = 0;
  for (const name of ["wheel", "pointermove"])
    canvas.addEventListener(name, (event) => { since ||= event.timeStamp; }, { capture: true });
  new MutationObserver(() => {
    if (since) window.took.push(performance.now() - since);
    since = 0;
  }).observe(canvas, { attributes: true, attributeFilter: ["data-drawn"] });
}"""


def with_points(folder: Path) -> Path:
    """Make a studio whose map has 50,000 points: each message many times, in a cloud around its place."""
    studio = fresh(folder)
    files, rng = opened(studio).files, np.random.default_rng(0)
    again = rng.integers(0, len(files.vectors), POINTS)
    texts = [f"{files.found.messages.texts[row]} #{number}" for number, row in enumerate(again)]
    messages = Messages(texts, [""] * POINTS, files.found.messages.occurrences[again], POINTS)
    group, reasons = files.found.group[again], [files.found.reasons[row] for row in again]
    summary = files.found.summary.model_copy(update={"messages": POINTS})
    many = replace(
        files.found,
        summary=summary,
        messages=messages,
        group=group,
        reasons=reasons,
        similarity=files.found.similarity[again],
    )
    shutil.rmtree(studio / DISCOVERY)
    save_discovery(many, studio / DISCOVERY)
    places = np.clip(files.points[again] + rng.normal(0, 0.08, (POINTS, 2)), -1, 1)
    np.save(studio / DRAWN / VECTORS, files.vectors[again].astype(np.float16))
    np.save(studio / DRAWN / POINTS_FILE, places.astype(np.float32))
    return studio


def smooth(folder: Path) -> dict[str, float]:
    """Zoom and drag the map of many points, and time from each input to the drawn image."""
    studio = with_points(folder)
    with serving(studio) as (address, _), browser.opened(address.rstrip("/"), 1280) as (page, _):
        page.locator("#map canvas[data-drawn]").wait_for(timeout=120_000)
        page.wait_for_timeout(3_000)
        page.evaluate(MEASURE)
        box = page.locator("#map canvas").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        for direction in (-1, 1):
            for _ in range(30):
                page.mouse.wheel(0, direction * 60)
                page.wait_for_timeout(30)
            page.mouse.down()
            for step in range(30):
                page.mouse.move(x + 4 * step, y + 2 * step)
                page.wait_for_timeout(30)
            page.mouse.up()
            page.mouse.move(x, y)
        took = page.evaluate("window.took")
        page.screenshot(path=str(folder / "points.png"))
    p95 = float(np.percentile(took, 95))
    shown = len(opened(studio).shown)
    return {"points_p95_ms": p95, "points_frames": len(took), "points_smooth": shown if p95 < LONGEST_MS else 0}


PROOFS: dict[str, Callable[[Path], dict[str, float]]] = {
    "two_browsers": two_browsers,
    "kills": kills,
    "safety": safety,
    "smooth": smooth,
}


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or PROOFS:
        record("studio", PROOFS[name](folder / name))


if __name__ == "__main__":
    main()
