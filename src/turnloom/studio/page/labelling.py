"""The tab to label next: the messages whose label would help most, one key per answer."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from turnloom.errors import TurnloomError
from turnloom.studio.actions import OUTSIDE, Label
from turnloom.studio.board import Board
from turnloom.studio.learning import Learner
from turnloom.studio.page.inputs import Pick
from turnloom.studio.page.parts import asset, refusal
from turnloom.studio.page.words import counted

MOST_KEYS = 9


class LabelTab:
    """Label the messages that help most.

    Args:
        learner: Fits the intents.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def build(self) -> None:
        """Lay out the tab and connect it."""
        self.asked = gr.State(None)
        self.progress = gr.HTML(elem_id="label-progress", apply_default_css=False)
        self.question = gr.HTML(elem_id="question", apply_default_css=False)
        with gr.Column(elem_id="answers"):
            self.buttons = [gr.Button(visible=False, elem_id=f"answer-{key}") for key in range(1, MOST_KEYS + 1)]
            with gr.Row():
                self.other = Pick([], label="Another intent", elem_id="label-other", scale=3)
                self.none = gr.Button("0 · Fits none of them", elem_id="answer-0", min_width=140)
                self.skip = gr.Button("S · Skip", elem_id="answer-s", min_width=100)
                self.back = gr.Button("Z · Undo", elem_id="answer-z", min_width=100)
        gr.HTML("", js_on_load=asset("keys.js"))
        self.outputs = [self.asked, self.progress, self.question, *self.buttons, self.other]

    def wire(self, *opened: Any) -> None:
        """Connect the answers; `opened` happens when the tab is opened."""
        hidden = {"show_progress": "hidden"}
        for event in opened:
            event(self.shown, None, self.outputs, show_progress="full", show_progress_on=[self.question])
        for index, button in enumerate(self.buttons):
            button.click(self._answer(index), self.asked, self.outputs, **hidden)
        self.other.input(self.answered, [self.asked, self.other], self.outputs, **hidden)
        self.none.click(lambda asked: self.answered(asked, OUTSIDE), self.asked, self.outputs, **hidden)
        self.skip.click(lambda asked: self.answered(asked, None, skipped=True), self.asked, self.outputs, **hidden)
        self.back.click(self.undone, None, self.outputs, **hidden)

    def _answer(self, index: int) -> Any:
        return lambda asked: self.answered(asked, asked["groups"][index] if asked else None)

    def answered(self, asked: dict[str, Any] | None, group: int | None, skipped: bool = False) -> dict[Any, Any]:
        """Write down an answer, and ask for the next one."""
        if asked is None or (group is None and not skipped):
            return self.shown()
        try:
            self.learner.work.edits.do(Label(message=asked["row"], group=group))
        except TurnloomError as error:
            return {**self.shown(), self.progress: refusal(error)}
        return self.shown()

    def undone(self) -> dict[Any, Any]:
        """Undo the last answer, or whatever was done last."""
        try:
            self.learner.work.edits.undo()
        except TurnloomError as error:
            return {**self.shown(), self.progress: refusal(error)}
        return self.shown()

    def shown(self) -> dict[Any, Any]:
        """Return the next question."""
        try:
            asked = self.learner.next_to_label()
            expected = self.learner.learned().expected
        except TurnloomError as error:
            return self._nothing(refusal(error))
        board = self.learner.work.board
        if asked is None:
            return self._nothing("<p>Every message has a label.</p>")
        row, reason, intents = asked
        by_name = {board.names[group]: group for group in board.intents}
        groups = [by_name[intent] for intent in intents if intent in by_name]
        text = self.learner.work.texts[row]
        before = self.learner.work.files.found.messages.before[row]
        said = Markup('<blockquote dir="auto">{}</blockquote><p>{}</p>').format(text, f"Why this one: {reason}.")
        said = (Markup('<p dir="auto">{}</p>').format(before) if before else Markup("")) + said
        return {
            self.asked: {"row": row, "groups": groups},
            self.progress: _progress(board, expected),
            self.question: said,
            **{
                button: gr.Button(
                    f"{index + 1} · {board.names[groups[index]]}" if index < len(groups) else "",
                    visible=index < len(groups),
                )
                for index, button in enumerate(self.buttons)
            },
            self.other: gr.Dropdown(
                sorted((board.names[group], group) for group in groups[MOST_KEYS:]),
                value=None,
                visible=len(groups) > MOST_KEYS,
            ),
        }

    def _nothing(self, why: str) -> dict[Any, Any]:
        hidden = {button: gr.Button(visible=False) for button in self.buttons}
        return {
            self.asked: None,
            self.progress: why,
            self.question: "",
            **hidden,
            self.other: gr.Dropdown(visible=False),
        }


def _progress(board: Board, expected: float) -> str:
    labelled = sum(label is not None for label in board.labels.values())
    examples = sum(len(intent.examples) for intent in board.intents.values())
    return Markup("<p>{} and {} of {}. Expected accuracy on messages in scope: <strong>{:.0f} %</strong></p>").format(
        counted(labelled, "label"), counted(examples, "example"), counted(len(board.intents), "intent"), 100 * expected
    )
