"""The tab to publish intents to a running service, and to download them."""

from __future__ import annotations

from typing import Any

import gradio as gr

from turnloom.errors import TurnloomError
from turnloom.studio.learning import Learner
from turnloom.studio.page.parts import notice, refusal
from turnloom.studio.page.words import counted
from turnloom.studio.publishing import Examples, Publisher, Service, difference, wanted_of

DOWNLOADS = (
    '<p>Download the intents and their examples: <a href="studio/intents.csv" download>CSV</a>, '
    '<a href="studio/intents.jsonl" download>JSON lines</a> (both for <code>turnloom intents fit</code>), '
    '<a href="studio/nlu.yml" download>Rasa NLU YAML</a>.</p>'
)


class PublishTab:
    """Publish what the studio has.

    Args:
        learner: Fits the intents.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner, self.publisher = learner, Publisher(learner.work.files.folder)

    def build(self) -> None:
        """Lay out the tab and connect it."""
        gr.HTML(DOWNLOADS, elem_id="downloads", apply_default_css=False)
        with gr.Row():
            url = gr.Textbox(
                label="Address of a service", value="http://127.0.0.1:8000", max_length=500, elem_id="service-url"
            )
            key = gr.Textbox(
                label="Key, if it needs one; it is not kept", type="password", max_length=500, elem_id="service-key"
            )
        with gr.Row():
            compare = gr.Button("See what would change", min_width=160, elem_id="compare")
            publish = gr.Button("Publish", variant="primary", min_width=160, elem_id="publish")
            back = gr.Button("Go back by one publication", min_width=160, elem_id="go-back")
        said = gr.HTML(elem_id="published")
        for button, act in ((compare, self.compare), (publish, self.publish), (back, self.go_back)):
            button.click(_shown(act), [url, key], said, show_progress="full")

    def _wanted(self) -> tuple[Examples, dict[str, str]]:
        board = self.learner.work.board
        examples, _ = self.learner.examples(board)
        said = {board.names[group]: intent.description for group, intent in board.intents.items()}
        return wanted_of(examples), {name: text for name, text in said.items() if text}

    def compare(self, service: Service) -> str:
        """Say what publishing would change."""
        return f"{difference(service.examples(), self._wanted()[0]).sentence()}."

    def publish(self, service: Service) -> str:
        """Publish, and say what it was."""
        version = self.publisher.publish(service, *self._wanted())
        changed = difference(version.before, version.after).sentence()
        return f"Published version {version.version} to {version.url}. It changed: {changed}."

    def go_back(self, service: Service) -> str:
        """Publish what the service had before."""
        version = self.publisher.go_back(service)
        held = counted(len(version.after), "intent")
        return f"{version.url} has what it had before, {held} (version {version.version})."


def _shown(act: Any) -> Any:
    def shown(url: str, key: str) -> str:
        try:
            return notice(act(Service(url.strip(), key.strip())))
        except TurnloomError as error:
            return refusal(error)

    return shown
