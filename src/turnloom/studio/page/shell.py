"""The studio's page as a whole."""

from __future__ import annotations

from typing import Any

import gradio as gr

from turnloom.studio.learning import Learner
from turnloom.studio.page.edits_panel import wire_edits
from turnloom.studio.page.flow import FlowTab
from turnloom.studio.page.groups import GroupsTab
from turnloom.studio.page.labelling import LabelTab
from turnloom.studio.page.publishing import PublishTab
from turnloom.studio.page.tryout import TryTab
from turnloom.studio.replying import Replier
from turnloom.studio.workspace import Workspace


def build_page(work: Workspace, learner: Learner, *, publishes: bool = True) -> gr.Blocks:
    """Build the page of an opened studio; `publishes` says whether it can publish to services."""
    groups, labels = GroupsTab(work), LabelTab(learner)
    with gr.Blocks(title="Turnloom Studio", analytics_enabled=False) as page:
        groups.build_head()
        with gr.Tabs():
            with gr.Tab("Groups", id="groups"):
                groups.build()
            with gr.Tab("Flow", id="flow"):
                FlowTab(work).build()
            with gr.Tab("Try", id="try"):
                TryTab(learner, Replier(work)).build()
            with gr.Tab("Label next", id="label") as label_tab:
                labels.build()
            if publishes:
                with gr.Tab("Publish", id="publish"):
                    PublishTab(learner).build()
        groups.wire(page.load)
        wire_edits(groups)
        labels.wire(label_tab.select)
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
