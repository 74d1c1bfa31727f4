"""The tab of groups: the map, the hierarchy, the messages of a group, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from turnloom.errors import TurnloomError
from turnloom.studio.actions import Action
from turnloom.studio.board import NOWHERE, Board
from turnloom.studio.page.inputs import Checks, Pick
from turnloom.studio.page.look import (
    PER_PAGE,
    VIEWS,
    Look,
    choices_of,
    map_value,
    rows_of,
    tree_value,
)
from turnloom.studio.page.parts import asset, notice, refusal, shortened
from turnloom.studio.page.words import counted, sentence
from turnloom.studio.workspace import Workspace

MAP = (
    '<div class="map"><canvas role="img" tabindex="0" aria-label="Map of messages, coloured by group. '
    'The list of groups has the same as text."></canvas><div class="tip" hidden></div>'
    '<p class="help">Drag to move, scroll or press + and − to zoom, 0 for all; click a point to open its group.</p>'
    "</div>"
)
TREE = '<nav class="tree" aria-label="Groups"></nav>'
Updates = dict[Any, Any]


class GroupsTab:
    """Browse and edit groups.

    Args:
        work: The opened studio.
    """

    def __init__(self, work: Workspace) -> None:
        self.work = work

    def build_head(self) -> None:
        """Lay out what is above the tabs: what there is, undo and redo."""
        with gr.Row(elem_classes="studio-head"):
            self.status = gr.HTML(elem_classes="studio-title", scale=6)
            self.undo = gr.Button("Undo", size="sm", min_width=70, scale=0, elem_id="undo")
            self.redo = gr.Button("Redo", size="sm", min_width=70, scale=0, elem_id="redo")
        self.said = gr.HTML(elem_id="said")

    def build(self) -> None:
        """Lay out the tab."""
        self.look = gr.State(Look())
        with gr.Row():
            with gr.Column(scale=3, min_width=290):
                self.query = gr.Textbox(
                    label="Search by meaning", placeholder="money back", elem_id="query", max_length=500
                )
                self.tree = gr.HTML(
                    {"rows": []},
                    html_template=TREE,
                    js_on_load=asset("tree.js"),
                    apply_default_css=False,
                    elem_id="groups",
                )
            with gr.Column(scale=6, min_width=340):
                self.map = gr.HTML(
                    {"version": -1, "chosen": [], "hits": [], "labels": [], "colours": {}},
                    html_template=MAP,
                    js_on_load=asset("map.js"),
                    server_functions=[_message_server(self.work)],
                    apply_default_css=False,
                    elem_id="map",
                )
                self._build_messages()
            with gr.Column(scale=3, min_width=290):
                self._build_edits()

    def _build_messages(self) -> None:
        self.title = gr.HTML(elem_classes="group-title", apply_default_css=False)
        self.view = gr.Radio(VIEWS, value=VIEWS[0], show_label=False, label="Order", container=False)
        self.messages = Checks([], label="Messages", elem_classes="messages", elem_id="messages")
        with gr.Row():
            self.previous = gr.Button("Previous", size="sm", min_width=90)
            self.next = gr.Button("Next", size="sm", min_width=90, elem_id="next")

    def _build_edits(self) -> None:
        self.name = gr.Textbox(label="Name of the group", max_length=80, elem_id="name")
        self.rename = gr.Button("Rename", size="sm", elem_id="rename")
        self.other = Pick([], label="Another group", elem_id="other", filterable=True)
        with gr.Row():
            self.merge = gr.Button("Merge group into it", size="sm", min_width=120, elem_id="merge")
            self.move = gr.Button("Move checked to it", size="sm", min_width=120, elem_id="move")
        self.new_name = gr.Textbox(label="Name of a new group", max_length=80, elem_id="new-name")
        with gr.Row():
            self.split = gr.Button("New group of checked", size="sm", min_width=120, elem_id="split")
            self.halve = gr.Button("Split by meaning", size="sm", min_width=120, elem_id="halve")
        with gr.Row():
            self.discard = gr.Button("Discard checked", size="sm", min_width=120, elem_id="discard")
            self.discard_group = gr.Button("Discard group", size="sm", min_width=120, elem_id="discard-group")
        self.description = gr.Textbox(
            label="Description of the intent, if its name says too little", max_length=500, elem_id="description"
        )
        self.make_intent = gr.Button("Make it an intent", variant="primary", elem_id="make-intent")
        self.drop_intent = gr.Button("No intent any more", size="sm", visible=False, elem_id="drop-intent")

    @property
    def outputs(self) -> list[Any]:
        """Everything that an event may change."""
        return [
            *(self.look, self.status, self.said, self.undo, self.redo, self.tree, self.map, self.title, self.messages),
            *(self.previous, self.next, self.name, self.rename, self.other, self.merge, self.move, self.split),
            *(self.halve, self.discard, self.discard_group, self.description, self.make_intent, self.drop_intent),
            *(self.new_name, self.query),
        ]

    def wire(self, opened: Any) -> None:
        """Connect what looks at groups; `opened` happens when a browser opens the page."""
        out, look = self.outputs, self.look
        opened(lambda: self.shown(Look()), None, out, show_progress="hidden")
        for picked in (self.tree, self.map):
            picked.select(self.choose, look, out, show_progress="hidden")
        self.query.submit(self.find, [self.query, look], out, show_progress="hidden")
        self.view.change(self.order, [self.view, look], out, show_progress="hidden")
        for button, step in ((self.previous, -1), (self.next, 1)):
            button.click(self._turner(step), look, out, show_progress="hidden")
        gr.Timer(1.5).tick(self.follow, [look, self.name], out, show_progress="hidden")

    def choose(self, look: Look, event: gr.EventData) -> Updates:
        """Show a group."""
        wanted = int(event.id)
        return self.shown(replace(look, group=wanted, page=0, query=""), {self.query: ""})

    def find(self, query: str, look: Look) -> Updates:
        """Show the messages nearest to a text."""
        return self.guarded(look, lambda: self.shown(replace(look, query=query.strip(), page=0)))

    def order(self, view: str, look: Look) -> Updates:
        """Show the messages of a group in another order."""
        return self.shown(replace(look, view=view, page=0))

    def _turner(self, step: int) -> Callable[[Look], Updates]:
        return lambda look: self.shown(replace(look, page=max(0, look.page + step)))

    def follow(self, look: Look, typed: str) -> Updates:
        """Show what others did, if they did anything; what is typed, checked, chosen and said stays."""
        if self.work.edits.version == look.version:
            return gr.skip()  # type: ignore[no-any-return, unused-ignore]
        updates = self.shown(look)
        for choice in (self.messages, self.other):
            del updates[choice]["value"]  # Whatever somebody chose since is not taken back.
        kept = [self.said, self.description, *([self.name] if typed != look.name else [])]
        return {shown: update for shown, update in updates.items() if shown not in kept}

    def guarded(self, look: Look, act: Callable[[], Updates]) -> Updates:
        """Do something, or show why it was refused and what the groups are now."""
        try:
            return act()
        except TurnloomError as error:
            return self.shown(look, {self.said: refusal(error)})

    def done(self, look: Look, action: Action) -> Updates:
        """Do an action, and show what came of it."""
        before = self.work.board
        self.work.edits.do(action)
        return self.shown(look, {self.said: notice(f"{sentence(action, before)}. Undo takes it back.")})

    def shown(self, look: Look, more: Updates | None = None) -> Updates:
        """Return everything that a look shows."""
        look = look.at(self.work)
        board = self.work.board
        rows = rows_of(self.work, board, look)
        return {
            self.look: look,
            self.status: self._status(board),
            self.said: "",
            self.undo: gr.Button(interactive=bool(self.work.edits.history)),
            self.redo: gr.Button(interactive=self.work.edits.can_redo),
            self.tree: tree_value(self.work, board, look),
            self.map: map_value(self.work, board, look, rows),
            **self._shown_messages(board, look, rows),
            **self._shown_edits(board, look),
            **(more or {}),
        }

    def _status(self, board: Board) -> str:
        from markupsafe import Markup

        people = int(self.work.occurrences.sum())
        numbers = f"{counted(people, 'message')} · {counted(len(board.leaves), 'group')}"
        numbers += f" · {counted(len(board.intents), 'intent')}"
        return Markup("<h1>{}</h1><p>{}</p>").format(self.work.files.folder.resolve().name, numbers)

    def _shown_messages(self, board: Board, look: Look, rows: Any) -> Updates:
        from markupsafe import Markup

        first, pages = look.page * PER_PAGE, max(1, -(-len(rows) // PER_PAGE))
        if look.query:
            title = f"Nearest to “{shortened(look.query, 60)}”"
        elif look.group == NOWHERE:
            title = "In no group"
        else:
            title = board.names[look.group] if look.group is not None else "Choose a group"
        label = (
            f"Messages {first + 1:,}–{min(first + PER_PAGE, len(rows)):,} of {len(rows):,}" if len(rows) else "Messages"
        )
        return {
            self.title: Markup("<h2><bdi>{}</bdi></h2>").format(title),
            self.messages: gr.update(choices=choices_of(self.work, board, look, rows), value=[], label=label),
            self.previous: gr.Button(interactive=look.page > 0),
            self.next: gr.Button(interactive=look.page + 1 < pages),
        }

    def _shown_edits(self, board: Board, look: Look) -> Updates:
        leaf, named = look.group in board.leaves and not look.query, look.group in board.names
        counts = self.work.counts(board)
        others = sorted((board.names[one], counts[one], one) for one in board.leaves if one != look.group)
        intent = board.intents.get(look.group) if look.group is not None else None
        some = bool(look.query) or look.group is not None
        return {
            self.name: gr.Textbox(value=look.name, interactive=named),
            self.rename: gr.Button(interactive=named),
            self.other: gr.update(choices=[(f"{name} ({count:,})", one) for name, count, one in others], value=None),
            self.merge: gr.Button(interactive=leaf),
            self.move: gr.Button(interactive=some),
            self.split: gr.Button(interactive=some),
            self.halve: gr.Button(interactive=leaf),
            self.discard: gr.Button(interactive=some),
            self.discard_group: gr.Button(interactive=leaf),
            self.description: gr.Textbox(value=intent.description if intent else "", interactive=leaf),
            self.make_intent: gr.Button("Change the intent" if intent else "Make it an intent", interactive=leaf),
            self.drop_intent: gr.Button(visible=intent is not None),
        }


def _message_server(work: Workspace) -> Callable[[int], list[str]]:
    """Return what the map asks about a point; Gradio marks it, which a method cannot be."""

    def message_at(point: int) -> list[str]:
        if not 0 <= int(point) < len(work.shown):
            return ["", ""]
        row, board = int(work.shown[int(point)]), work.board
        return [shortened(work.texts[row], 160), board.names.get(int(board.group[row]), "In no group")]

    return message_at
