"""Search past replies: a LanceDB index, queried by vectors and words, re-ranked by a cross-encoder."""

from __future__ import annotations

from turnloom.replies.evaluate import ReplyScores, evaluate_replies
from turnloom.replies.index import ReplyIndex
from turnloom.replies.manifest import IndexVersion
from turnloom.replies.occurrences import ReplyOptions
from turnloom.replies.suggestion import Conversation, Suggestion

__all__ = [
    "Conversation",
    "IndexVersion",
    "ReplyIndex",
    "ReplyOptions",
    "ReplyScores",
    "Suggestion",
    "evaluate_replies",
]
