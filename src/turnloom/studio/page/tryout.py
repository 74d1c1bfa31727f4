"""The tab to try the intents and replies: what happens to a message, why, and what could be answered."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from turnloom.corpus.labelled import OUT_OF_SCOPE
from turnloom.errors import TurnloomError
from turnloom.feedback import IntentFeedback, ReplyFeedback
from turnloom.intents import Answer
from turnloom.studio.learning import FALSE_REJECT, Learned, Learner
from turnloom.studio.page.inputs import Choice, Pick
from turnloom.studio.page.parts import notice, refusal, shortened
from turnloom.studio.replying import Replier

SHOWN = 20
REPLIES = 5


class TryTab:
    """Try what the intents say.

    Args:
        learner: Fits the intents.
        replier: Suggests replies.
    """

    def __init__(self, learner: Learner, replier: Replier) -> None:
        self.learner, self.replier = learner, replier

    def build(self) -> None:
        """Lay out the tab and connect it."""
        with gr.Row():
            with gr.Column(scale=5, min_width=340):
                self.message = gr.Textbox(
                    label="A message, or a conversation: a turn per line, the message last",
                    lines=4,
                    max_length=20_000,
                    elem_id="try-message",
                )
                ask = gr.Button("Try", variant="primary", elem_id="try")
                self.answer = gr.HTML(elem_id="answer", apply_default_css=False)
                self.right = Pick([], label="The right intent", elem_id="right-intent")
                with gr.Row():
                    yes = gr.Button("The answer is right", size="sm", min_width=120, elem_id="intent-right")
                    correct = gr.Button("Correct it", size="sm", min_width=120, elem_id="intent-correct")
                self.said = gr.HTML(elem_id="try-said")
                self.replies = Choice([], label="Suggested replies", elem_id="replies", elem_classes="messages")
                with gr.Row():
                    accept = gr.Button("Accept reply", size="sm", min_width=120, elem_id="accept-reply")
                    reject = gr.Button("Reject reply", size="sm", min_width=120, elem_id="reject-reply")
            with gr.Column(scale=4, min_width=340):
                self.rate = gr.Slider(
                    0,
                    0.4,
                    FALSE_REJECT,
                    step=0.01,
                    label="Share of in-scope messages that may be turned away",
                    elem_id="rate",
                )
                self.away = gr.HTML(elem_id="away", apply_default_css=False)
        everything = [self.answer, self.right, self.replies, self.away, self.said]
        asked, hidden = [self.message, self.rate], {"show_progress": "hidden"}
        ask.click(self.ask, asked, everything, show_progress="full", show_progress_on=[self.answer])
        self.rate.change(self.react, asked, [self.answer, self.away], **hidden)
        yes.click(self.judge, asked, self.said, **hidden)
        correct.click(self.judge, [*asked, self.right], self.said, **hidden)
        for button, what in ((accept, "accepted"), (reject, "rejected")):
            button.click(self._replier(what), [self.message, self.replies], [self.replies, self.said], **hidden)

    def ask(self, message: str, rate: float) -> tuple[Any, ...]:
        """Answer a message, and suggest replies."""
        turns = turns_of(message)
        try:
            learned = self.learner.learned()
            intents = [*learned.classifier.classes_.tolist(), (OUT_OF_SCOPE, OUT_OF_SCOPE)]
            shown, away = self.react(message, rate)
            replies = self.replier.suggest(turns, REPLIES) if turns else []
        except TurnloomError as error:
            return refusal(error), gr.Dropdown([]), gr.Radio([]), "", ""
        return shown, gr.Dropdown(intents, value=None), _choices(replies, self.replier), away, ""

    def react(self, message: str, rate: float) -> tuple[str, str]:
        """Answer with another false-reject rate, and show which known messages it turns away."""
        try:
            learned = self.learner.learned()
        except TurnloomError as error:
            return refusal(error), ""
        turns = turns_of(message)
        answer = learned.at(rate).answer([turns])[0] if turns else None
        return (_answered(answer, learned.threshold(rate)) if answer else ""), self._away(learned, rate)

    def _away(self, learned: Learned, rate: float) -> str:
        rows = learned.turned_away(rate).tolist()
        board, texts = self.learner.work.board, self.learner.work.texts
        items = Markup("").join(
            Markup('<li><span dir="auto">{}</span> <small>{}</small></li>').format(
                shortened(texts[row], 160), board.names.get(int(board.group[row]), "")
            )
            for row in rows[:SHOWN]
        )
        more = f", the {SHOWN} least familiar" if len(rows) > SHOWN else ""
        return Markup("<h2>Known messages it turns away</h2><p>{:,} of {:,}{}</p><ul>{}</ul>").format(
            len(rows), len(learned.rows), more, items
        )

    def judge(self, message: str, rate: float, right: str | None = None) -> str:
        """Write down that an answer was right, or what would have been."""
        turns = turns_of(message)
        try:
            if not turns:
                raise TurnloomError("there is no message", "write one first")
            answer = self.learner.learned().at(rate).answer([turns])[0]
            said = OUT_OF_SCOPE if answer.decision == "out_of_scope" else answer.candidates[0].intent
            if right is None or right == said:
                self.learner.feedback.add(IntentFeedback(answer="accepted", turns=turns, intent=said))
            else:
                self.learner.feedback.add(IntentFeedback(answer="corrected", turns=turns, intent=said, correct=right))
        except TurnloomError as error:
            return refusal(error)
        return notice(f"Learned: this is {right or said}.")

    def _replier(self, what: Any) -> Any:
        def judge(message: str, reply: str | None) -> tuple[Any, str]:
            try:
                if not reply:
                    raise TurnloomError("no reply is chosen", "choose one of the suggested replies")
                turns = turns_of(message)
                self.learner.feedback.add(ReplyFeedback(answer=what, context=turns, text=reply))
                found = self.replier.suggest(turns, REPLIES)
            except TurnloomError as error:
                return gr.skip(), refusal(error)
            effect = "more" if what == "accepted" else "less"
            return _choices(found, self.replier), notice(f"Noted: this reply will be suggested {effect}.")

        return judge


def turns_of(message: str) -> tuple[str, ...]:
    """Return the turns of a pasted conversation, the message last."""
    return tuple(line.strip() for line in message.splitlines() if line.strip())


def _choices(replies: list[str], replier: Replier) -> Any:
    label = "Suggested replies" if replier.ready else "Suggested replies (none: no index was named with --replies)"
    return gr.Radio([(shortened(reply), reply) for reply in replies], value=None, label=label)


_DECISIONS = {"accept": "Accepted", "ask": "Ask which is meant", "out_of_scope": "Out of scope: turned away"}


def _answered(answer: Answer, threshold: float) -> str:
    """Render a decision, with its probabilities, nearest examples and reason."""
    candidates = Markup("").join(
        Markup("<tr><th scope='row'><bdi>{}</bdi></th><td>{:.0f} %</td></tr>").format(
            each.intent, 100 * each.probability
        )
        for each in answer.candidates
    )
    near = Markup("").join(
        Markup('<li><span dir="auto">{}</span> <small>{} · {:.2f}</small></li>').format(
            shortened(each.text, 160), ", ".join(each.intents), each.similarity
        )
        for each in answer.nearest
    )
    why = f"It is {answer.familiarity:.2f} close to the closest intent, and needs {threshold:.2f}."
    if answer.decision == "out_of_scope":
        why = f"Turned away: {why.lower()} {100 * (1 - answer.rank):.0f} % of messages in scope are closer."
    elif answer.decision == "ask":
        why = f"In scope, but no intent has half of the probability. {why}"
    named = ", ".join(answer.intents)
    return Markup(
        '<div class="decision {}"><h2>{}<bdi>{}</bdi></h2><p>{}</p>'
        "<table><caption>If it is in scope</caption>{}</table><h3>Nearest examples</h3><ul>{}</ul></div>"
    ).format(answer.decision, _DECISIONS[answer.decision], f": {named}" if named else "", why, candidates, near)
