"""Few-shot intent classification that knows when no intent fits."""

from __future__ import annotations

from turnloom.corpus.labelled import OUT_OF_SCOPE, LabelledMessage, read_messages
from turnloom.intents.answers import Answer, Candidate, Neighbour, Suggestion
from turnloom.intents.classifier import IntentClassifier
from turnloom.intents.discover import Cluster
from turnloom.intents.evaluation import evaluate
from turnloom.intents.evidence import PoolReport
from turnloom.intents.examples import Message
from turnloom.intents.scope import Rate, Scope

__all__ = [
    "OUT_OF_SCOPE",
    "Answer",
    "Candidate",
    "Cluster",
    "IntentClassifier",
    "LabelledMessage",
    "Message",
    "Neighbour",
    "PoolReport",
    "Rate",
    "Scope",
    "Suggestion",
    "evaluate",
    "read_messages",
]
