"""Replies from past conversations: an index on LanceDB, searched by vectors and words, re-ranked by a cross-encoder."""

from __future__ import annotations

from turnwise.replies.evaluate import ReplyScores, evaluate_replies
from turnwise.replies.index import ReplyIndex
from turnwise.replies.manifest import IndexVersion
from turnwise.replies.occurrences import ReplyOptions
from turnwise.replies.suggestion import Conversation, Suggestion

__all__ = [
    "Conversation",
    "IndexVersion",
    "ReplyIndex",
    "ReplyOptions",
    "ReplyScores",
    "Suggestion",
    "evaluate_replies",
]
