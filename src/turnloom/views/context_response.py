"""The whole context and a system response (TOD-BERT)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans, drawn_turns

SYSTEM_SPEAKERS = (
    *("system", "assistant", "agent", "bot", "gpt", "model", "wizard", "operator", "support"),
    *("客服", "坐席", "机器人", "オペレーター", "担当者", "サポート", "الموظف", "الدعم", "وكيل", "एजेंट", "सहायक"),
    *("mitarbeiter", "berater", "agente", "asesor", "soporte", "conseiller", "operatore", "atendente", "оператор"),
)
"""Lower-case speaker names that mean the answering side."""
USER_MARK, SYSTEM_MARK = "[USR] ", "[SYS] "


class ContextResponse(DialogueView):
    """TOD-BERT: a system turn and all turns before it, each marked with its speaker (Wu et al. 2020).

    System turns are the turns of `system_speakers` or, in a dialogue without any, of everyone but the first speaker.
    Turns of the context start with "[USR] " or "[SYS] "; the reply does not.

    Attributes:
        per_dialogue: How many system turns to sample per dialogue, or "all". The sample depends only on the seed and
            the dialogue.
        max_turns: The maximum number of turns to keep before the reply; None for all.
        system_speakers: The names of system speakers; case does not matter.
    """

    tokens: ClassVar[list[str]] = [USER_MARK.strip(), SYSTEM_MARK.strip()]

    kind: Literal["context_response"] = "context_response"
    per_dialogue: Annotated[int, Field(ge=1)] | Literal["all"] = 1
    max_turns: int | None = Field(None, ge=1)
    system_speakers: tuple[str, ...] = SYSTEM_SPEAKERS

    @property
    def context_turns(self) -> int | None:
        """The maximum number of turns kept."""
        return self.max_turns

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        """Sample system turns, each with the turns before it."""
        system = self._system_turns(dialogues)
        reply = np.flatnonzero(system & (dialogues.positions > 0))
        if self.per_dialogue != "all":
            reply = drawn_turns(reply, dialogues, self.per_dialogue, seed)
        start = dialogues.context_starts(reply, self.max_turns)
        marks = pc.if_else(pa.array(system), SYSTEM_MARK, USER_MARK).cast(pa.large_string())
        marked = pc.binary_join_element_wise(marks, dialogues.texts, pa.scalar("", pa.large_string()))
        return Spans(start, reply, reply, contexts=marked)

    def texts(self, turns: int, dialogues: int) -> int:
        """Assume that a context has about as many turns as its dialogue."""
        if self.per_dialogue != "all":
            return turns * self.per_dialogue
        return turns * (1 + min(self.max_turns or turns, turns // max(dialogues, 1)))

    def _system_turns(self, dialogues: Dialogues) -> npt.NDArray[np.bool_]:
        names = pa.array([name.lower() for name in self.system_speakers], pa.large_string())
        named = np.asarray(pc.is_in(pc.utf8_lower(dialogues.speakers), names))
        has_named = np.zeros(len(dialogues.keys), bool)
        has_named[dialogues.owners[named]] = True
        codes = dialogues.speaker_codes
        return np.where(has_named[dialogues.owners], named, codes != codes[dialogues.firsts])
