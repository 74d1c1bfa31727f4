"""Draw which packages may import which, and which do: the import contract's layers, with actual imports per box.

Usage: python -m tools.architecture

Layers come from import-linter's contract in pyproject.toml, imports from the source itself (including those in
functions). A test fails when docs/images/architecture.svg is out of date.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
DRAWING = ROOT / "docs" / "images" / "architecture.svg"
WIDTH, MARGIN, GAP = 960, 70, 16
LINE, HEAD, FOOT = 17, 26, 12


@dataclass(frozen=True)
class Package:
    """A box: a package, its number of modules, and how many of them import each other package."""

    name: str
    modules: int
    imports: dict[str, int]

    @property
    def lines(self) -> list[str]:
        """Return the lines below its name: the imports, most frequent first, three per line."""
        ordered = sorted(self.imports.items(), key=lambda item: (-item[1], item[0]))
        words = [f"{name} {count}" for name, count in ordered]
        return [", ".join(words[place : place + 3]) for place in range(0, len(words), 3)] or ["imports nothing of ours"]


def contract_layers() -> list[list[str]]:
    """Return the packages of each layer, topmost first."""
    from importlinter import api

    contracts = api.read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.findall(r"turnloom\.(\w+)", str(layer)) for layer in layers]


def packages(names: set[str]) -> dict[str, Package]:
    """Count the imports between packages, by module."""
    import grimp

    graph = grimp.build_graph("turnloom", cache_dir=None)
    modules: Counter[str] = Counter()
    imports: dict[str, Counter[str]] = {name: Counter() for name in names}
    for module in graph.modules:
        home = module.split(".")[1] if "." in module else ""
        if home not in names:
            continue
        modules[home] += 1
        others = {found.split(".")[1] for found in graph.find_modules_directly_imported_by(module) if "." in found}
        imports[home].update(others & names - {home})
    return {name: Package(name, modules[name], dict(imports[name])) for name in names}


def _box(package: Package, left: float, top: float, width: float, height: float) -> str:
    count = "1 module" if package.modules == 1 else f"{package.modules} modules"
    texts = [f'<text class="name" x="{left + 10:.0f}" y="{top + 19:.0f}">{escape(package.name)}</text>']
    texts.append(f'<text class="small end" x="{left + width - 10:.0f}" y="{top + 19:.0f}">{count}</text>')
    for number, line in enumerate(package.lines):
        y = top + HEAD + LINE * (number + 0.8)
        texts.append(f'<text class="small" x="{left + 10:.0f}" y="{y:.0f}">{escape(line)}</text>')
    frame = f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5"/>'
    return "\n".join([frame, *texts])


def draw() -> str:
    """Draw the diagram; the same source gives the same drawing."""
    layers = contract_layers()
    found = packages({name for layer in layers for name in layer})
    parts, top = [], 12.0
    for layer in layers:
        boxes = [found[name] for name in layer]
        height = HEAD + FOOT + LINE * max(len(box.lines) for box in boxes)
        width = (WIDTH - MARGIN - GAP * len(boxes)) / len(boxes)
        for place, box in enumerate(boxes):
            parts.append(_box(box, MARGIN + place * (width + GAP), top, width, height))
        top += height + GAP
    bottom = top - GAP
    arrow = f'<path d="M30 14 V{bottom - 12:.0f} m-6 -10 l6 10 l6 -10"/>'
    turned = f'transform="translate(20 {bottom / 2:.0f}) rotate(-90)" text-anchor="middle"'
    side = f'<text class="small" {turned}>may import</text>'
    style = (
        "rect{fill:#eceff1;stroke:#546e7a}path{fill:none;stroke:#546e7a;stroke-width:2}"
        "text{font-family:sans-serif;fill:#263238}.name{font-size:15px;font-weight:bold}.small{font-size:12px}"
        ".end{text-anchor:end}"
    )
    title = "<title>The layers of Turnloom, and how many modules of each package import which others</title>"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 12:.0f}" role="img">'
    return "\n".join([opening, title, f"<style>{style}</style>", arrow, side, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")
    print(f"wrote {DRAWING.relative_to(ROOT)}")
