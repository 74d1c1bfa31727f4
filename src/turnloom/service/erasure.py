"""Erase conversations from what a service keeps besides its index and intents: what waits, and feedback."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from turnloom.corpus.erasure import Conversation, Erased, Erasure
from turnloom.feedback import Feedback, IntentFeedback, Said
from turnloom.intents.erasure import is_among, normalised
from turnloom.journal import Journal

INDEXING = "indexing.lock"
"""Held by whoever indexes what waits, in the folder `replies` of a service's `state`."""


def _is_named(record: dict[str, Any], erasure: Erasure) -> bool:
    return erasure.names(record["source"], record["id"], [turn["speaker"] for turn in record["turns"]])


def find_in_waiting(journal: Journal, erasure: Erasure) -> Erased:
    """Find the conversations that wait to be indexed and are to be erased, and what was said in them."""
    records = journal.read()[0]
    gone = [record for record in records if _is_named(record, erasure)]
    said = {turn["text"] for record in gone for turn in record["turns"]}
    left = {turn["text"] for record in records if not _is_named(record, erasure) for turn in record["turns"]}
    conversations = frozenset(Conversation(record["source"], record["id"]) for record in gone)
    return Erased(conversations, frozenset(said - left), frozenset(said & left))


def erase_from_waiting(journal: Journal, erasure: Erasure) -> None:
    """Erase conversations from those that wait to be indexed."""
    with journal.writing():
        if find_in_waiting(journal, erasure).conversations or journal.damaged:
            journal.rewrite(lambda record: None if _is_named(record, erasure) else record)


def erase_from_feedback(feedback: Feedback, erasure: Erasure, texts: Collection[str]) -> int:
    """Erase what was said of conversations and persons, and whatever repeats their texts; return how much there was."""
    wanted = normalised(texts)

    def is_meant(said: Said) -> bool:
        source, speakers = said.source or "", [said.speaker] if said.speaker else []
        turns = said.turns if isinstance(said, IntentFeedback) else (*said.context, said.text)
        return erasure.names(source, said.conversation or "", speakers) or is_among(turns, wanted)

    return feedback.erase(is_meant)
