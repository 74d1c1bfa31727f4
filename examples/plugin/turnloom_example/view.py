"""A view: which turns are contexts and which are replies, as places in the flat array of a batch's turns."""

from typing import Literal

import numpy as np
import pyarrow.compute as pc

from turnloom.views import Dialogues, DialogueView, Spans


class Questions(DialogueView):
    """A turn that ends with a mark, and the turn after it. Fields are what a recipe may say."""

    kind: Literal["questions"] = "questions"
    mark: str = "?"

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        asks = np.asarray(pc.ends_with(dialogues.texts, self.mark))
        replies = np.flatnonzero((dialogues.positions > 0) & np.roll(asks, 1))
        return Spans(replies - 1, replies, replies)
