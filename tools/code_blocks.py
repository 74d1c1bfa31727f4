"""The code blocks of the README and the documentation: their contents, and which of them are run.

Usage: python -m tools.code_blocks

Runs the tests that run the blocks, and records the number of blocks only if these pass. Every block of code is run;
whatever needs a cluster, the network or a container engine is a block of text.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studies.lib.figures import record

ROOT = Path(__file__).parents[1]
CODE = frozenset({"console", "python", "json", "csv", "yaml", "toml"})
"""Languages that count as code; `text` and `mermaid` show output and diagrams."""
KINDS = CODE | {"text", "mermaid"}
_FENCE = re.compile(r'^(?P<indent> *)```(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\s*$')


@dataclass(frozen=True)
class Block:
    """One block of a page.

    Attributes:
        page: The page, relative to the project.
        line: The line of its opening fence, from 1.
        kind: The language after the fence.
        title: The file name of the block, if it has one.
        body: The text, without its fence's indentation.
    """

    page: str
    line: int
    kind: str
    title: str
    body: str


@dataclass(frozen=True)
class Command:
    """A line after `$ `, and the output that the page shows below it."""

    text: str
    shown: tuple[str, ...]


def pages(root: Path = ROOT) -> list[Path]:
    """The README and every page of the documentation."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def blocks(path: Path, root: Path = ROOT) -> Iterator[Block]:
    """Return the blocks of a page, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    place = 0
    while place < len(lines):
        opened = _FENCE.match(lines[place])
        if opened is None:
            place += 1
            continue
        indent = len(opened["indent"])
        end = next(n for n in range(place + 1, len(lines)) if lines[n].strip() == "```")
        body = "".join(line[indent:] + "\n" for line in lines[place + 1 : end])
        name = path.relative_to(root).as_posix()
        yield Block(name, place + 1, opened["kind"], opened["title"] or "", body)
        place = end + 1


def commands(block: Block) -> list[Command]:
    """Return the commands of a console block; a backslash continues a line."""
    found: list[tuple[str, list[str]]] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = (found[-1][0][:-1].rstrip() + " " + line.strip(), [])
        elif found:
            found[-1][1].append(line)
    return [Command(text, tuple(shown)) for text, shown in found]


def code_blocks() -> list[Block]:
    """Return every code block of every page."""
    return [block for path in pages() for block in blocks(path) if block.kind in CODE]


def main() -> None:
    tests = ["tests/docs/test_code_blocks.py", "-q", "-m", "slow or not slow"]
    subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, check=True)
    found = code_blocks()
    record("onboarding", {"docs_code_blocks": len(found), "docs_code_blocks_run": len(found)})


if __name__ == "__main__":
    main()
