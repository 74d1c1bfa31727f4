"""Views: pick training pairs from a dialogue table."""

from __future__ import annotations

from turnloom.views.build import ViewOptions, build_view
from turnloom.views.consecutive import Consecutive, Windows
from turnloom.views.context_response import ContextResponse
from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans
from turnloom.views.dropout import Dropout
from turnloom.views.labelled_pairs import LabelledPairs
from turnloom.views.load import ViewManifest, load_view, read_view_manifest, stream_view
from turnloom.views.manipulations import Manipulations
from turnloom.views.matching import Matching
from turnloom.views.packed import Packed
from turnloom.views.shared_intents import SharedIntents
from turnloom.views.shared_replies import SharedReplies
from turnloom.views.template_rows import Templates

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
    "SharedIntents",
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
