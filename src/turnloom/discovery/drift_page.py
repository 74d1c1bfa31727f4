"""A page that shows what changed."""

from __future__ import annotations

from markupsafe import Markup

from turnloom.discovery.drift import Drift, GroupChange
from turnloom.pages import page, paragraph, wide_table

SECTIONS = {"Appeared": "appeared", "Grew": "grew", "Shrank": "shrank", "Disappeared": "disappeared"}


def drift_page(drift: Drift) -> str:
    """Render what changed as one self-contained HTML page."""
    changed = [one for one in drift.groups if one.verdict != "steady"]
    numbers = {
        "messages before": f"{drift.old_messages:,}",
        "messages now": f"{drift.new_messages:,}",
        "groups changed": f"{len(changed)} of {len(drift.groups)}",
        "like nothing before": f"{100 * drift.unfamiliar:.1f} %",
    }
    sections = {
        title: _table([one for one in changed if one.verdict == verdict], title)
        for title, verdict in SECTIONS.items()
        if any(one.verdict == verdict for one in changed)
    }
    lost = [one for one in drift.intents if one.lost]
    if lost:
        rows = [
            (
                one.intent,
                f"{100 * one.old_confidence:.0f} %",
                f"{100 * one.new_confidence:.0f} %",
                _share(one.new_share),
            )
            for one in lost
        ]
        sections["Intents that lost confidence"] = wide_table("Intents", ("intent", "before", "now", "share now"), rows)
    if not sections:
        sections = {"Nothing changed": paragraph("No difference is larger than chance explains.")}
    lead = "Groups whose share of all messages changed by more than chance explains, the largest change first."
    return page("What changed", lead, numbers, [], sections, wide=True)


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _table(changes: list[GroupChange], label: str) -> Markup:
    rows = [
        (one.name, _share(one.old_share), _share(one.new_share), f"{one.new_size:,}", one.typical[0][:120])
        for one in changes
    ]
    return wide_table(label, ("group", "before", "now", "messages now", "typical"), rows)
