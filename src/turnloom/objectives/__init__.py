"""The losses of dialogue contrastive learning: one file a paper's idea, on one shared core.

Each is a `torch.nn.Module` that takes the SentenceTransformer to train and goes into a plain
`SentenceTransformerTrainer` as its `loss`; nothing else of Turnloom is needed. `UtteranceManipulation` is for a
CrossEncoder and its trainer.
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
    "TemplatePair",
    "UtteranceManipulation",
    "small_transformer",
]
