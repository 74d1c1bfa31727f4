"""A page that shows a hierarchy: one section per top group, its groups with sizes and typical messages."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from turnloom.discovery.hierarchy import Group, Summary
from turnloom.pages import page

MOST_SHOWN = 400
"""The page shows at most this many groups of the lowest level; `discovery.json` has all."""


def discovery_page(found: Summary) -> str:
    """Render a discovery as one self-contained HTML page."""
    children: defaultdict[int | None, list[Group]] = defaultdict(list)
    for group in found.groups:
        children[group.parent].append(group)
    shown = {group.id for group in sorted(found.leaves(), key=lambda group: -group.size)[:MOST_SHOWN]}
    lost = sum(found.unassigned.values())
    warnings = [f"{count:,} messages are in no group: {reason}" for reason, count in found.unassigned.items()]
    if len(found.leaves()) > len(shown):
        warnings.append(f"The {len(shown)} largest of {len(found.leaves())} groups are shown; discovery.json has all.")
    numbers = {
        "messages": f"{found.occurrences:,}",
        "distinct": f"{found.messages:,}",
        "groups": " › ".join(f"{count:,}" for count in found.levels),
        "in a group": f"{100 * (1 - lost / max(found.occurrences, 1)):.1f} %",
    }
    sections = {
        f"{group.name} · {100 * group.share:.1f} %": _branch(group, children, shown, len(found.levels))
        for group in children[None]
    }
    lead = "Messages that mean the same, in groups of groups. Names come from what the members say."
    return page("What people say", lead, numbers, warnings, sections, wide=True)


def _branch(group: Group, children: dict[int | None, list[Group]], shown: set[int], levels: int) -> Markup:
    below = [child for child in children.get(group.id, []) if child.level < levels - 1 or child.id in shown]
    if not below:
        return _typical(group)
    items = Markup("").join(
        Markup(
            "<li><details{}><summary><strong><bdi>{}</bdi></strong> · {:,} messages</summary>{}</details></li>"
        ).format(
            Markup(" open") if child.level < levels - 1 else "",
            child.name,
            child.size,
            _branch(child, children, shown, levels),
        )
        for child in below
    )
    return Markup("<ul>{}</ul>").format(items)


def _typical(group: Group) -> Markup:
    items = Markup("").join(Markup('<li dir="auto">{}</li>').format(text[:200]) for text in group.typical)
    return Markup('<p dir="auto">{}</p><ul>{}</ul>').format(" · ".join(group.keywords), items)
