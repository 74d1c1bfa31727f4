"""The studio's page as a whole."""

from __future__ import annotations

from typing import Any

import gradio as gr

from turnloom.studio.page.edits_panel import wire_edits
from turnloom.studio.page.groups import GroupsTab
from turnloom.studio.workspace import Workspace


def build_page(work: Workspace) -> gr.Blocks:
    """Build the page of an opened studio."""
    groups = GroupsTab(work)
    with gr.Blocks(title="Turnloom Studio", analytics_enabled=False) as page:
        groups.build_head()
        with gr.Tabs(), gr.Tab("Groups", id="groups"):
            groups.build()
        groups.wire(page.load)
        wire_edits(groups)
    return page


def theme() -> Any:
    """Return the page's looks, with fonts that every machine has."""
    return gr.themes.Default(
        primary_hue="sky",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        button_primary_background_fill="#0369a1",
        button_primary_background_fill_hover="#075985",
        button_primary_background_fill_dark="#0369a1",
        button_primary_background_fill_hover_dark="#075985",
    )
