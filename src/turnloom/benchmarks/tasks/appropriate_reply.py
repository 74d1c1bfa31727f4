"""Appropriate reply: among all replies of a split, any that does what the true reply does counts as right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.metrics import Floats, cosine_similarity, expected_precision, expected_top_k
from turnloom.benchmarks.task import Draw, Draws, Space, Task, TaskInfo

CONTEXTS = 2_000
BLOCK = 200
"""Contexts per search, which is also the number of rows of similarities in memory."""
Purpose = tuple[frozenset[str], frozenset[str]]
"""The acts of a reply with the names of their slots, and its topic."""


@dataclass(frozen=True)
class JudgedReply:
    """A reply, all turns before it, and what it does."""

    context: tuple[str, ...]
    reply: str
    purpose: Purpose


Turns = Sequence[Mapping[str, Any]]


def _sgd_topic(row: Mapping[str, Any], place: int) -> frozenset[str]:
    """Return the user's active intents before the reply; a dialogue's services would include later ones."""
    return frozenset(row["turns"][place - 1].get("intent") or ())


def _named_domains(turn: Mapping[str, Any]) -> frozenset[str]:
    names = {act.split("-")[0] for act in turn.get("acts") or () if "-" in act}
    return frozenset(names - {"general", "booking"})


def _multiwoz_topic(row: Mapping[str, Any], place: int) -> frozenset[str]:
    """Return the domains that acts name, none for general acts; a booking belongs to the domain named last."""
    turns: Turns = row["turns"]
    own = _named_domains(turns[place])
    if own or not any(act.startswith("booking-") for act in turns[place]["acts"]):
        return own
    return next((named for turn in reversed(turns[:place]) if (named := _named_domains(turn))), own)


def _star_topic(row: Mapping[str, Any], place: int) -> frozenset[str]:
    """Return the domain in the act's name, or all domains of the dialogue if the act occurs in every domain."""
    domains = frozenset(name for name in row.get("domains") or () if name)
    return domains & {act.split("_")[0] for act in row["turns"][place]["acts"]} or domains


TOPICS = {"sgd": _sgd_topic, "multiwoz21": _multiwoz_topic, "star": _star_topic}
UNJUDGED = {"custom"}
"""Acts that don't say what a reply does: STAR uses this one for free text by the wizard."""


def judged_replies(dataset: str, split: str = "test") -> list[JudgedReply]:
    """Return each system turn that has acts and at least one turn before it."""
    found = []
    for row in split_rows(dataset, split):
        turns: Turns = row["turns"]
        for place, turn in enumerate(turns):
            acts = frozenset(turn.get("acts") or ()) - UNJUDGED
            if place and turn["speaker"] == "system" and acts:
                context = tuple(before["text"] for before in turns[:place])
                found.append(JudgedReply(context, turn["text"], (acts, TOPICS[dataset](row, place))))
    return found


class AppropriateReply(Task):
    """Search all distinct replies of the split with known acts, with all turns before the true reply.

    A reply is right if at least one of its occurrences has the acts and the topic of the true one. `space` selects the
    outputs to compare, as in `ResponseSelection`. `replies` returns your own replies.
    """

    def __init__(
        self, dataset: str, space: Space = "plain", replies: Callable[[], list[JudgedReply]] | None = None
    ) -> None:
        self.replies = replies or (lambda: judged_replies(dataset))
        self.space = space
        self.info = TaskInfo(
            name=f"appropriate-{dataset}" + ("" if space == "plain" else "-heads"),
            family="appropriate reply",
            level="dialogue",
            dataset=dataset,
            language="en",
            main_score="appropriate_top1",
            own_data=replies is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return in percent how often the first reply is right, how often it is the true one, and precision at five."""
        judged = self.replies()
        number = {text: place for place, text in enumerate(dict.fromkeys(one.reply for one in judged))}
        members: dict[Purpose, list[int]] = {}
        for one in judged:
            members.setdefault(one.purpose, []).append(number[one.reply])
        found = []
        for draw in range(draws):
            order = np.random.default_rng(seed + draw).permutation(len(judged))[:CONTEXTS]
            sample = [judged[place] for place in order]
            rows = self._scores(encoder, [one.context for one in sample], list(number))
            each = []
            for one, row in zip(sample, rows, strict=True):
                right = np.zeros(len(number), bool)
                right[members[one.purpose]] = True
                each.append(_reply_scores(row, right, number[one.reply]))
            means = {name: float(np.mean([scores[name] for scores in each])) for name in each[0]}
            found.append(Draw(means, [scores["appropriate_top1"] for scores in each]))
        return found

    def _scores(self, encoder: CachedEncoder, contexts: list[tuple[str, ...]], replies: list[str]) -> Iterator[Floats]:
        """Yield how well every reply fits, for each context."""
        heads = self.space == "heads"
        known = encoder.encode_document(replies) if heads else encoder.encode(replies)
        asked = encoder.encode_contexts(contexts, heads)
        for start in range(0, len(asked), BLOCK):
            yield from cosine_similarity(asked[start : start + BLOCK], known)


def _reply_scores(row: Floats, right: npt.NDArray[np.bool_], truth: int) -> dict[str, float]:
    return {
        "appropriate_top1": 100 * expected_precision(row, right, 1),
        "exact_top1": 100 * expected_top_k(row, truth, 1),
        "appropriate_p_at_5": 100 * expected_precision(row, right, 5),
    }
