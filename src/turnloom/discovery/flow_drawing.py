"""A flow graph as a picture (SVG), a page, Mermaid and DOT."""

from __future__ import annotations

import html
import re

from markupsafe import Markup

from turnloom.discovery.flow import Flow, FlowNode
from turnloom.discovery.transitions import FlowEdge
from turnloom.pages import figure, page, wide_table

LANES = {"customer": 170, "": 450, "agent": 730}
"""The middle of each role's column; the start and the end stand between them."""
BOX, BOX_HEIGHT, ROW, TOP, PICTURE_WIDTH = 260, 40, 66, 60, 900
THICKEST = 6.0
LONGEST_NAME = 34


def _places(flow: Flow) -> dict[int, tuple[int, int]]:
    """Return the middle of each box: a column per role, time from top to bottom."""
    rows: dict[str, int] = {}
    places = {}
    for node in sorted((node for node in flow.nodes if node.role), key=lambda node: (node.place, node.id)):
        row = rows.get(node.role, 0)
        rows[node.role] = row + 1
        places[node.id] = (LANES.get(node.role, LANES["agent"]), TOP + ROW * (row + 1))
    bottom = TOP + ROW * (max(rows.values(), default=0) + 1)
    return {**places, 0: (LANES[""], TOP), 1: (LANES[""], bottom)}


def flow_svg(flow: Flow) -> Markup:
    """Draw a flow graph: customers on the left, agents on the right, time from top to bottom.

    A line is as wide as the transition is frequent. It leaves a box at its right or left and carries its share.
    """
    places = _places(flow)
    height = places[1][1] + ROW
    most = max((edge.count for edge in flow.edges), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PICTURE_WIDTH} {height}" role="img" '
        f'aria-label="Flow of {flow.dialogues} conversations" font-family="system-ui, sans-serif" font-size="13">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="#7a869a"/></marker></defs>',
        f'<rect width="{PICTURE_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [
        f'<text x="{x}" y="24" text-anchor="middle" font-weight="600" fill="#334155">{html.escape(role)}</text>'
        for role, x in LANES.items()
        if role
    ]
    parts += [_line(edge, places, most) for edge in sorted(flow.edges, key=lambda edge: edge.count)]
    parts += [_box(node, *places[node.id]) for node in flow.nodes]
    return Markup("\n".join([*parts, "</svg>"]))


def _line(edge: FlowEdge, places: dict[int, tuple[int, int]], most: int) -> str:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    width = 0.8 + (THICKEST - 0.8) * edge.count / most
    half = BOX // 2
    if x1 == x2:  # Within a role: around the outside.
        side = -1 if x1 < LANES[""] else 1
        x1 = x2 = x1 + side * half
        bend = x1 + side * (20 + min(abs(y2 - y1) // 12, 20))
        y1, y2 = (y1 - 8, y2 + 8) if edge.source == edge.target else (y1, y2)
        path = f"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}"
    else:
        side = 1 if x2 > x1 else -1
        x1 += side * (half if edge.source > 1 else 40)
        x2 -= side * (half if edge.target > 1 else 40)
        bend = (x1 + x2) // 2
        path = f"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}"
    label = f"<title>{100 * edge.share:.0f} %, {edge.count:,} times</title>"
    return (
        f'<path data-edge="{edge.source}-{edge.target}" d="{path}" fill="none" stroke="#7a869a" stroke-opacity=".75" '
        f'stroke-width="{width:.1f}" '
        f'marker-end="url(#arrow)">{label}</path>'
    )


def _box(node: FlowNode, x: int, y: int) -> str:
    if not node.role:
        return (
            f'<rect x="{x - 40}" y="{y - 16}" width="80" height="32" rx="16" fill="#334155"/>'
            f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="#ffffff">{node.name}</text>'
        )
    fill, line = ("#e0f2fe", "#0369a1") if node.role == "customer" else ("#fef3c7", "#92400e")
    name = node.name if len(node.name) <= LONGEST_NAME else node.name[: LONGEST_NAME - 1] + "…"
    typical = html.escape("\n".join(node.typical))
    return (
        f'<g><title>{typical}</title><rect x="{x - BOX // 2}" y="{y - BOX_HEIGHT // 2}" width="{BOX}" '
        f'height="{BOX_HEIGHT}" rx="6" fill="{fill}" stroke="{line}"/>'
        f'<text x="{x}" y="{y - 1}" text-anchor="middle" fill="#0f172a">{html.escape(name)}</text>'
        f'<text x="{x}" y="{y + 14}" text-anchor="middle" font-size="11" fill="#475569">{100 * node.share:.0f} % of '
        f"{html.escape(node.role)} turns</text></g>"
    )


def flow_page(flow: Flow) -> str:
    """Render a flow graph as one self-contained HTML page, with a table of what follows what."""
    name = {node.id: node.name for node in flow.nodes}
    numbers = {
        "conversations": f"{flow.dialogues:,}",
        "turns": f"{flow.turns:,}",
        "states": str(len(flow.nodes)),
        "transitions shown": f"{100 * flow.shown:.0f} %",
    }
    ranked = sorted(flow.edges, key=lambda edge: (edge.source, -edge.share))
    rows = [(f"{name[e.source]} → {name[e.target]}", f"{100 * e.share:.0f} %", f"{e.count:,}") for e in ranked]
    typical = [
        (f"{node.name} ({node.role})", f"{node.size:,}", node.typical[0][:120] if node.typical else "")
        for node in flow.nodes
        if node.role
    ]
    caption = "Time runs from top to bottom. A wider line is a more frequent transition; point at a box for examples."
    sections = {
        "The graph": figure(flow_svg(flow), caption),
        "What follows what": wide_table("Transitions", ("transition", "share", "times"), rows),
        "States": wide_table("States", ("state", "turns", "typical"), typical),
    }
    lead = "Turns grouped by what they do in the conversation, and what follows them."
    return page("How conversations go", lead, numbers, [], sections, wide=True)


def _quoted(text: str) -> str:
    return re.sub(r'["\\\n\r<>{}|`#;]', " ", text)


def flow_mermaid(flow: Flow) -> str:
    """Return a flow graph as a Mermaid flowchart, which GitHub and many wikis draw."""
    lines = ["flowchart TD"]
    for node in flow.nodes:
        box = f'(["{node.name}"])' if not node.role else f'["{_quoted(node.name)}"]'
        lines.append(f"  n{node.id}{box}{f':::{node.role}' if node.role else ''}")
    lines += [f"  n{edge.source} -->|{100 * edge.share:.0f} %| n{edge.target}" for edge in flow.edges]
    lines += ["  classDef customer fill:#e0f2fe,stroke:#0369a1", "  classDef agent fill:#fef3c7,stroke:#92400e"]
    return "\n".join(lines) + "\n"


def flow_dot(flow: Flow) -> str:
    """Return a flow graph in the DOT language of Graphviz."""
    colours = {"": "white", "customer": "#e0f2fe", "agent": "#fef3c7"}
    lines = ["digraph flow {", '  node [shape=box, style="rounded,filled"];']
    lines += [
        f'  n{node.id} [label="{_quoted(node.name)}", fillcolor="{colours.get(node.role, "white")}"];'
        for node in flow.nodes
    ]
    lines += [
        f'  n{edge.source} -> n{edge.target} [label="{100 * edge.share:.0f} %", penwidth={1 + 4 * edge.share:.1f}];'
        for edge in flow.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"
