"""Losses for contrastive learning on dialogue: one file per paper, on a shared core.

Each is a `torch.nn.Module` that takes the SentenceTransformer to train. Pass it to a plain `SentenceTransformerTrainer`
as `loss`; you need nothing else from Turnloom. `UtteranceManipulation` is for a CrossEncoder and its trainer.
"""

from __future__ import annotations

from turnloom.objectives.contrast import Contrast
from turnloom.objectives.hard_negative import HardNegativeContrast
from turnloom.objectives.inverse_frequency import InverseFrequencyContrast
from turnloom.objectives.loss import ContextReplyHeads, Sum, small_transformer
from turnloom.objectives.manipulation import UtteranceManipulation
from turnloom.objectives.masked_language import MaskedLanguage
from turnloom.objectives.matching_guided import MatchingGuided
from turnloom.objectives.nt_xent import NTXent
from turnloom.objectives.paraphrases import Paraphrases
from turnloom.objectives.reply_and_meaning import ReplyAndMeaning
from turnloom.objectives.response_contrast import ResponseContrast
from turnloom.objectives.siamese import Siamese
from turnloom.objectives.taught import Taught
from turnloom.objectives.template_pair import TemplatePair

__all__ = [
    "ContextReplyHeads",
    "Contrast",
    "HardNegativeContrast",
    "InverseFrequencyContrast",
    "MaskedLanguage",
    "MatchingGuided",
    "NTXent",
    "Paraphrases",
    "ReplyAndMeaning",
    "ResponseContrast",
    "Siamese",
    "Sum",
    "Taught",
    "TemplatePair",
    "UtteranceManipulation",
    "small_transformer",
]
