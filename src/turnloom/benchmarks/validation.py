"""Validation scores for choices during training: on validation splits only, in seconds rather than minutes."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import Pool, labelled, turns_of
from turnloom.benchmarks.suites import dialogues_of_table, reply_tasks
from turnloom.benchmarks.task import Task
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.reranking import Candidates, dialogue_turns, form_scores, reranking_examples
from turnloom.benchmarks.tasks.response_selection import ResponseSelection, Selection, blocks, next_turns
from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.encoder import SentenceTransformerEncoder, computes_bf16_fast
from turnloom.runtime.scorer import CrossEncoderScorer

DRAWS, REPLIES = 3, 1_000
INTENTS = {"clinc150": ("train", "val"), "hwu64": ("train", "valid")}
DIALOGUES = {"sgd": "dev", "multiwoz21": "val"}
RERANKED = ("ubuntu_irc", "sgd", "multiwoz21")
CONTEXTS = 150
Score = Callable[[Any], dict[str, float]]


def sampled_replies(dataset: str, turns: int) -> list[Selection]:
    """Return a fixed sample of the validation split's replies."""
    pairs = list(next_turns(turns_of(dataset, DIALOGUES[dataset]), turns))
    return [pair for block in blocks(pairs, seed=0, limit=REPLIES) for pair in block]


def _scored(tasks: Sequence[Task]) -> Score:
    """Return a function for the means of families and their mean; reply tasks use the model's heads if it has any."""
    numbers = itertools.count()

    def score(model: Any) -> dict[str, float]:
        fast, step = computes_bf16_fast(), f"step-{next(numbers)}"
        encoder = CachedEncoder(SentenceTransformerEncoder(model, name="model", fingerprint=step, bf16=fast))
        families: dict[str, list[float]] = {}
        for task in tasks:
            if (task.space == "heads") == encoder.has_heads or task.info.family == "intent":
                drawn = task.evaluate(encoder, DRAWS, 0)
                mean = statistics.fmean(draw.scores[task.info.main_score] for draw in drawn)
                families.setdefault(task.info.family.replace(" ", "_"), []).append(mean)
        means = {family: statistics.fmean(values) for family, values in families.items()}
        return {**means, "score": statistics.fmean(means.values())}

    return score


def benchmark_score() -> Score:
    """Return a score by few-shot intents and next turns, on the validation splits of public sets."""

    def pool(dataset: str) -> Pool:
        return Pool(*(labelled(dataset, split) for split in INTENTS[dataset]))

    tasks: list[Task] = [IntentPrototypes(name, 1, partial(pool, name)) for name in INTENTS]
    for name in DIALOGUES:
        pairs: Callable[[], list[Selection]] = partial(list, sampled_replies(name, 1))
        tasks += [ResponseSelection(name, 1, "plain", pairs), ResponseSelection(name, 1, "heads", pairs)]
    return _scored(tasks)


def reply_score(table: Path) -> Score:
    """Return a score by the true reply among 100, in held-out conversations."""
    return _scored(reply_tasks(table))


def rerank_score(context: ContextFormat, table: Path | None = None) -> Score:
    """Return a score for a CrossEncoder by the true reply among ten, also if one of them is a turn of the context.

    R10@1 decides. Without a dialogue table, the validation splits of the suite `ums` are used.
    """
    sets = [dialogue_turns(name, "dev") for name in RERANKED] if table is None else [list(dialogues_of_table(table))]
    examples = [reranking_examples(dialogues, 0, limit=CONTEXTS) for dialogues in sets]
    if not all(examples):
        raise TurnloomError(
            f"{table} has no replies after two turns, or fewer than ten different ones", "prepare more conversations"
        )

    def score(model: Any) -> dict[str, float]:
        fast = computes_bf16_fast()
        scorer = CrossEncoderScorer(model, name="model", fingerprint="", context_format=context, bf16=fast)
        found = [_rerank_scores(scorer, each) for each in examples]
        means = {name: statistics.fmean(each[name] for each in found) for name in found[0]}
        return {**means, "score": means["r10_at_1"]}

    return score


def _rerank_scores(scorer: CrossEncoderScorer, examples: list[Candidates]) -> dict[str, float]:
    outputs = [scorer.score(example.context, example.replies) for example in examples]
    plain, planted = (form_scores(outputs, examples, adversarial=form, tops=(1,)).scores for form in (False, True))
    return {
        "r10_at_1": plain["r10_at_1"],
        "adversarial_r10_at_1": planted["r10_at_1"],
        "planted_first": planted["planted_first"],
    }
