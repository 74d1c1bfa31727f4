"""Few-shot intents that know what they don't know."""

from __future__ import annotations

from turnwise.intents.answers import Answer, Candidate, Neighbour
from turnwise.intents.classifier import IntentClassifier
from turnwise.intents.discover import Cluster
from turnwise.intents.evaluation import evaluate
from turnwise.intents.examples import OUT_OF_SCOPE, Message
from turnwise.intents.reading import LabelledMessage, read_messages
from turnwise.intents.scope import Rate, Scope
from turnwise.intents.suggest import Suggestion

__all__ = [
    "OUT_OF_SCOPE",
    "Answer",
    "Candidate",
    "Cluster",
    "IntentClassifier",
    "LabelledMessage",
    "Message",
    "Neighbour",
    "Rate",
    "Scope",
    "Suggestion",
    "evaluate",
    "read_messages",
]
