"""The losses of dialogue contrastive learning: one file a paper's idea, on one shared core.

Each is a `torch.nn.Module` that takes the SentenceTransformer to train and goes into a plain
`SentenceTransformerTrainer` as its `loss`; nothing else of Turnwise is needed. `UtteranceManipulation` is for a
CrossEncoder and its trainer.
"""

from __future__ import annotations

from turnwise.objectives.contrast import Contrast
from turnwise.objectives.hard_negative import HardNegativeContrast
from turnwise.objectives.heads import ContextReplyHeads
from turnwise.objectives.inverse_frequency import InverseFrequencyContrast
from turnwise.objectives.manipulation import UtteranceManipulation
from turnwise.objectives.masked_language import MaskedLanguage
from turnwise.objectives.matching_guided import MatchingGuided
from turnwise.objectives.nt_xent import NTXent
from turnwise.objectives.paraphrases import Paraphrases
from turnwise.objectives.reply_and_meaning import ReplyAndMeaning
from turnwise.objectives.response_contrast import ResponseContrast
from turnwise.objectives.siamese import Siamese
from turnwise.objectives.small_model import small_transformer
from turnwise.objectives.sum import Sum
from turnwise.objectives.template_pair import TemplatePair

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
