"""Build the site and check that all links work and every page fits a phone.

Usage: python -m tools.site_check

Records `broken_links` (internal links and anchors of the built site, and of the Markdown in the repository; it makes no
network requests) and `horizontal_scroll_pages_390px` (pages that scroll sideways in Chromium at 390 px).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from studies.lib.figures import record

ROOT = Path(__file__).parents[1]
PHONE = 390
READ_IN_THE_REPOSITORY = ("*.md", "studies/*.md", "studies/*/*.md", "models/*/README.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|a)[^>]+(?:src|href)=\"([^\"]+)\"")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


class _Page(HTMLParser):
    """The links of a page, and its link targets."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element's links and its id."""
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def build(site: Path) -> None:
    """Build the site into a folder."""
    subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)], cwd=ROOT, check=True)


def html_pages(site: Path) -> list[Path]:
    """Return the pages of a built site, except the 404 page."""
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


def _read(path: Path) -> _Page:
    found = _Page()
    found.feed(path.read_text(encoding="utf-8"))
    return found


def broken_in_site(site: Path) -> list[str]:
    """Find links between pages whose file or anchor does not exist."""
    parsed = {path.resolve(): _read(path) for path in html_pages(site)}
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = parsed[target].anchors if target in parsed else {unquote(parts.fragment)}
            if not target.exists() or unquote(parts.fragment) not in anchors:
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


def _slugs(text: str) -> set[str]:
    """Return the anchors that a forge gives to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken_in_repository(root: Path = ROOT) -> list[str]:
    """Find broken relative links in the README and other Markdown outside the site."""
    broken = []
    for path in sorted(found for pattern in READ_IN_THE_REPOSITORY for found in root.glob(pattern)):
        for match in _LINK.finditer(_FENCE.sub("", path.read_text(encoding="utf-8"))):
            link = match[1] or match[2]
            place, _, anchor = link.partition("#")
            if "://" in link or link.startswith("mailto:"):
                continue
            target = path.parent / unquote(place) if place else path
            missing = anchor and target.suffix == ".md" and anchor not in _slugs(target.read_text(encoding="utf-8"))
            if not target.exists() or missing:
                broken.append(f"{path.relative_to(root)}: {link}")
    return broken


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site on this machine, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def sideways(site: Path) -> list[str]:
    """Return the pages that are wider than a phone."""
    from tests.cli.browser import opened, overflow

    found = []
    with served(site) as address, opened(address, PHONE) as (page, _):
        for path in html_pages(site):
            page.goto(address + path.relative_to(site).as_posix())
            if (more := overflow(page)) > 0:
                found.append(f"{path.relative_to(site)}: {more} px")
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        build(site)
        broken, wide = [*broken_in_site(site), *broken_in_repository()], sideways(site)
    print(*broken, *wide, sep="\n", file=sys.stderr)
    record("onboarding", {"broken_links": len(broken), "horizontal_scroll_pages_390px": len(wide)})


if __name__ == "__main__":
    main()
