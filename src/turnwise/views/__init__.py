"""What counts as a positive: from a dialogue table to the columns that training reads."""

from __future__ import annotations

from turnwise.views.build import build_view
from turnwise.views.consecutive import Consecutive
from turnwise.views.context_response import ContextResponse
from turnwise.views.dropout import Dropout
from turnwise.views.labelled_pairs import LabelledPairs
from turnwise.views.load import load_view, stream_view
from turnwise.views.manifest import ViewManifest, read_view_manifest
from turnwise.views.manipulations import Manipulations
from turnwise.views.matching import Matching
from turnwise.views.options import ViewOptions
from turnwise.views.packed import Packed
from turnwise.views.shared_replies import SharedReplies
from turnwise.views.spans import Dialogues, DialogueView, Spans
from turnwise.views.template_rows import Templates
from turnwise.views.windows import Windows

__all__ = [
    "Consecutive",
    "ContextResponse",
    "DialogueView",
    "Dialogues",
    "Dropout",
    "LabelledPairs",
    "Manipulations",
    "Matching",
    "Packed",
    "SharedReplies",
    "Spans",
    "Templates",
    "ViewManifest",
    "ViewOptions",
    "Windows",
    "build_view",
    "load_view",
    "read_view_manifest",
    "stream_view",
]
