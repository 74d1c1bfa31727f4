"""The tab of the flow: what follows what, and the conversations behind each arrow."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from turnloom.discovery.flow_drawing import flow_svg
from turnloom.discovery.transitions import FlowEdge, FlowExample
from turnloom.studio.folder import conversation_key
from turnloom.studio.page.inputs import Pick
from turnloom.studio.page.parts import asset, shortened
from turnloom.studio.workspace import Workspace

AROUND = 3
"""How many turns are shown before and after a transition."""


class FlowTab:
    """Look at the flow of conversations.

    Args:
        work: The opened studio.
    """

    def __init__(self, work: Workspace) -> None:
        self.work, self.flow = work, work.files.flow
        self.names = {node.id: node.name for node in self.flow.nodes}

    def build(self) -> None:
        """Lay out the tab and connect it."""
        ranked = sorted(self.flow.edges, key=lambda edge: -edge.count)
        choices = [
            (f"{self._name(edge)} ({100 * edge.share:.0f} %, {edge.count:,} times)", f"{edge.source}-{edge.target}")
            for edge in ranked
        ]
        with gr.Row():
            with gr.Column(scale=5, min_width=340):
                drawing = gr.HTML(
                    f'<div class="flow" tabindex="0" role="region" aria-label="Flow graph">{flow_svg(self.flow)}</div>',
                    js_on_load=asset("flow.js"),
                    apply_default_css=False,
                    elem_id="flow",
                )
            with gr.Column(scale=4, min_width=340):
                picked = Pick(choices, value=None, label="What follows what", elem_id="transition")
                behind = gr.HTML(
                    "<p>Click an arrow, or choose what follows what, to read conversations in which it happens.</p>",
                    elem_id="behind",
                    apply_default_css=False,
                )
        picked.change(self.behind, picked, behind, show_progress="hidden")
        drawing.select(_picked, None, picked, show_progress="hidden")

    def _name(self, edge: FlowEdge) -> str:
        return f"{self.names[edge.source]} → {self.names[edge.target]}"

    def behind(self, transition: str | None) -> str:
        """Render the conversations behind an arrow."""
        edge = next((edge for edge in self.flow.edges if f"{edge.source}-{edge.target}" == transition), None)
        if edge is None:
            return ""
        heading = Markup("<h2>{}</h2>").format(self._name(edge))
        return heading + Markup("").join(self._conversation(example) for example in edge.examples)

    def _conversation(self, example: FlowExample) -> Markup:
        turns = self.work.files.conversations.get(conversation_key(example.source, example.dialogue_id), [])
        first = max(0, example.turn - AROUND)
        items = Markup("").join(
            Markup('<li{}><b>{}</b> <span dir="auto">{}</span></li>').format(
                Markup(' class="here"') if number in (example.turn - 1, example.turn) else "",
                speaker or "speaker",
                shortened(text, 400),
            )
            for number, (speaker, text) in enumerate(turns[first : example.turn + AROUND], first)
        )
        return Markup('<section class="chat"><h3>{}</h3><ol start="{}">{}</ol></section>').format(
            example.dialogue_id, first + 1, items
        )


def _picked(event: gr.EventData) -> str:
    return str(event.id)
