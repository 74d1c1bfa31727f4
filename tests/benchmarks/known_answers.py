"""Small sets in the form of every public set, and encoders whose score on them is known beforehand."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from turnloom.benchmarks import CachedEncoder, Task, suite_tasks
from turnloom.benchmarks.data import split_pool, split_rows
from turnloom.benchmarks.metrics import average_precision
from turnloom.benchmarks.tasks.action_prediction import ActionPrediction, action_splits
from turnloom.benchmarks.tasks.appropriate_reply import AppropriateReply
from turnloom.benchmarks.tasks.conversation_retrieval import ConversationRetrieval
from turnloom.benchmarks.tasks.dialogue_inference import DialogueInference
from turnloom.benchmarks.tasks.intent_knn import IntentNeighbours
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope
from turnloom.benchmarks.tasks.reranking import Reranking
from turnloom.benchmarks.tasks.response_selection import ResponseSelection
from turnloom.benchmarks.tasks.retrieval import SemanticRetrieval, retrieval_queries
from turnloom.benchmarks.tasks.similarity import SentenceSimilarity
from turnloom.runtime.object_encoder import ObjectEncoder

CLASSES, DIMENSIONS = 8, 512


def _write(root: Path, name: str, rows: Sequence[Any]) -> None:
    path = root / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def _intents(split: str, each: int, rng: random.Random | None) -> list[dict[str, Any]]:
    rows = [
        {"text": f"{split} example {n} of key{c}", "label": f"label{c}"} for c in range(CLASSES) for n in range(each)
    ]
    if rng:
        labels = [row["label"] for row in rows]
        rng.shuffle(labels)
        rows = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    return rows


def _strangers(split: str, count: int, rng: random.Random | None = None) -> list[dict[str, Any]]:
    """Messages without an intent; those of one number in different splits are alike, unless shuffled."""
    first = rng.randrange(1_000_000) if rng else 1_000
    return [{"text": f"{split} stranger key{first + n}", "label": "oos"} for n in range(count)]


def _acts(key: int) -> list[str]:
    """What the system does next: three quarters of the time something common, and one of four other things."""
    return [f"ACT{key % 4}:slot", *(["COMMON"] if key % 4 else [])]


def _dialogues(count: int, rng: random.Random | None, keys: int | None = None) -> list[dict[str, Any]]:
    """Three turns of one speaker and an answer: one context and one reply each, for one turn and for three."""
    replies = [n % (keys or count) for n in range(count)]
    acts = [_acts(key) for key in replies]
    said = list(replies)
    services = [key % CLASSES for key in replies]
    if rng:
        rng.shuffle(replies)
        rng.shuffle(acts)
        rng.shuffle(services)
    return [
        {
            "id": str(n),
            "services": [f"service{services[n]}"],
            "turns": [
                *[{"speaker": "a", "text": f"said {part} in key{said[n]}"} for part in "xyz"],
                {"speaker": "system", "text": f"answer to key{replies[n]}", "acts": acts[n]},
            ],
        }
        for n in range(count)
    ]


def _inferences(count: int, rng: random.Random | None) -> list[dict[str, Any]]:
    """Dialogues of which two fifths contradict their query or their history."""
    wrong = [n % 5 for n in range(count)]
    if rng:
        rng.shuffle(wrong)
    return [
        {
            "turns": [{"speaker": "a", "text": f"{part} about key{n % 20}"} for part in ("asked", "told")],
            "qi": int(wrong[n] == 3),
            "hi": int(wrong[n] == 4),
            "kbi": 1,
        }
        for n in range(count)
    ]


def write_sets(root: Path, *, shuffled: bool = False) -> None:
    """Every set that a task reads; shuffled, what belongs together is torn apart in the test splits."""
    rng = random.Random(0) if shuffled else None
    for name, valid in (
        ("banking77", None),
        ("hwu64", "valid"),
        ("snips", "valid"),
        ("atis", "valid"),
        ("clinc150", "val"),
    ):
        _write(root, f"{name}/train", _intents("train", 12, None))
        _write(root, f"{name}/test", _intents("test", 30, rng))
        if valid:
            _write(root, f"{name}/{valid}", _intents("valid", 6, None))
    for part in ("insurance", "banking", "finance"):
        _write(root, f"dstc11_intent/{part}", _intents(part, 40, rng))
    _write(root, "bitext_support/all", _intents("all", 120, rng))
    for part in ("train", "val", "test"):
        _write(root, f"clinc150/oos_{part}", _strangers(part, 60, rng))
    _write(root, "banking77_oos/train", _intents("train", 12, None))
    _write(root, "banking77_oos/valid", _intents("valid", 6, None))
    _write(root, "banking77_oos/test", _intents("test", 30, rng))
    for part in ("id_oos_valid", "ood_oos_valid", "id_oos_test", "ood_oos_test"):
        _write(root, f"banking77_oos/{part}", _strangers(part, 40))
    for name, files in (("amazon_qa", ("Appliances", "Video_Games")), ("medquad", ("all",))):
        for number, file in enumerate(files):
            answers = list(range(200 * number, 200 * number + 200))
            questions = list(answers)
            if rng:
                rng.shuffle(answers)
            pairs = zip(questions, answers, strict=True)
            _write(root, f"{name}/{file}", [{"question": f"ask key{q}", "answer": f"tell key{a}"} for q, a in pairs])
    for name, file in (("ubuntu_irc", "test.conv"), ("sgd", "test"), ("multiwoz21", "test")):
        _write(root, f"{name}/{file}", _dialogues(400, rng))
    for file in ("sgd/train", "sgd/dev"):
        _write(root, file, _dialogues(400, rng))
    for file in ("star/all", "gsim/sim-M.train", "gsim/sim-M.dev", "gsim/sim-M.test"):
        _write(root, file, _dialogues(600, rng, 20))
    for split in ("train", "dev", "test"):
        rows = _inferences(300, rng)
        _write(root, f"ci_tod/{split}", rows)
        _write(
            root, f"cdconv_zh/{split}", [{"turns": row["turns"], "label": row["qi"] + 2 * row["hi"]} for row in rows]
        )
    for name in ("dialoguecse_jddc", "dialoguecse_ecd"):
        _write_published(root, name, rng)
    sentences = [
        {"text": f"test example {n} about shared words of key{c}", "label": [f"label{c}"], "domain": "d"}
        for c in range(CLASSES)
        for n in range(30)
    ]
    if rng:
        labels = [row["label"] for row in sentences]
        rng.shuffle(labels)
        sentences = [{**row, "label": label} for row, label in zip(sentences, labels, strict=True)]
    _write(root, "multidogo/test", sentences)
    _write(root, "stsb_en/test", _scored(rng))


def _write_published(root: Path, name: str, rng: random.Random | None) -> None:
    rows = _intents("select", 30, None)
    keys = [row["label"] for row in rows]
    if rng:
        rng.shuffle(keys)
    selects = []
    for n, row in enumerate(rows):
        same = [m for m in range(len(rows)) if m != n and keys[m] == keys[n]][:10]
        other = [m for m in range(len(rows)) if keys[m] != keys[n]][n % 40 : n % 40 + 30]
        selects.append({"id": n, "text": row["text"], "topic": keys[n], "positives": same, "negatives": other})
    _write(root, f"{name}/test.select", selects)
    _write(root, f"{name}/test.sts", _scored(rng))


def _scored(rng: random.Random | None) -> list[dict[str, Any]]:
    """Pairs whose angle is what people say: the oracle reads the angle from the text."""
    scores = [n / 40 for n in range(200)]
    said = list(scores)
    if rng:
        rng.shuffle(said)
    return [
        {"a": "angle 0", "b": f"angle {5 - score}", "score": value} for score, value in zip(scores, said, strict=True)
    ]


class Oracle:
    """Looks the answer up: texts of one key get one vector, and an angle is an angle."""

    name = fingerprint = "oracle"
    languages = ("en", "zh")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> np.ndarray:
        vector = np.zeros(DIMENSIONS)
        angle = re.fullmatch(r"angle ([\d.]+)", text)
        if angle:
            turn = float(angle[1]) * np.pi / 10
            vector[0], vector[1] = np.cos(turn), np.sin(turn)
            return vector
        key = int(re.findall(r"key(\d+)", text)[-1])
        return np.random.default_rng(key).normal(size=DIMENSIONS)


class Constant:
    """Cannot tell anything apart."""

    name = fingerprint = "constant"
    languages = ("en", "zh")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 4))


def known_tasks() -> list[Task]:
    """The ranking and classification tasks of all suites; spaces of heads need a model that has them."""
    return [
        task for task in suite_tasks("all") if task.info.family != "geometry" and not task.info.name.endswith("-heads")
    ]


class OracleScorer:
    """Knows that what was said before is no answer."""

    name = fingerprint = "oracle scorer"
    languages = frozenset({"en"})

    def score(self, context: Sequence[str], replies: Sequence[str]) -> np.ndarray:
        key = context[-1].split()[-1]
        return np.array([float(reply == f"answer to {key}") for reply in replies])


class ConversationOracle(ObjectEncoder):
    """Knows what a whole conversation is about, which its turns alone do not say."""

    def encode_conversations(self, contexts: Sequence[Sequence[str]]) -> np.ndarray:
        keys = [int(context[0].split("key")[1]) for context in contexts]
        return np.eye(CLASSES)[[key % CLASSES for key in keys]]


def encoder_for(task: Task, model: Any) -> CachedEncoder:
    if isinstance(model, Oracle):
        if isinstance(task, Reranking):
            return CachedEncoder(OracleScorer())
        if isinstance(task, ConversationRetrieval):
            return CachedEncoder(ConversationOracle(model))
    return CachedEncoder(ObjectEncoder(model))


def score(task: Task, model: Any) -> float:
    encoder = encoder_for(task, model)
    draws = task.evaluate(encoder, 2, 0)
    return float(np.mean([draw.scores[task.info.main_score] for draw in draws]))


def chance(task: Task) -> float:
    """What guessing gets, by the rule for ties, worked out from the data alone."""
    if isinstance(task, IntentPrototypes):
        return 100 / len(set(split_pool(task.info.dataset).train.labels))
    if isinstance(task, IntentNeighbours):
        return _neighbour_chance(task)
    if isinstance(task, OutOfScope):
        return 50.0
    if isinstance(task, ResponseSelection):
        return 1.0
    if isinstance(task, SentenceSimilarity):
        return 0.0
    if isinstance(task, Reranking):
        return 10.0
    if isinstance(task, ActionPrediction):
        return _majority_f1(task)
    if isinstance(task, DialogueInference):
        return 60.0
    if isinstance(task, AppropriateReply):
        return _share_of_same_acts(task)
    if isinstance(task, ConversationRetrieval):
        return _tied_precision(right=400 // CLASSES - 1, others=399)
    assert isinstance(task, SemanticRetrieval)
    queries = retrieval_queries(task.info.dataset)
    return 100 * float(np.mean([average_precision(np.zeros(len(q.relevant)), np.array(q.relevant)) for q in queries]))


def _majority_f1(task: ActionPrediction) -> float:
    """Every label that more than half of the training examples have is predicted, the others never are."""
    splits = action_splits(task.info.dataset)
    train, test = splits["train"].labels, splits["test"].labels
    each = []
    for name in set().union(*test):
        common = sum(name in labels for labels in train) / len(train) > 0.5
        share = sum(name in labels for labels in test) / len(test)
        each.append(2 * share / (1 + share) if common else 0.0)
    return 100 * float(np.mean(each))


def _share_of_same_acts(task: Task) -> float:
    """One of all replies is drawn: the chance that it was said with the acts of the true one."""
    said: dict[str, set[str]] = {}
    wanted = []
    for row in split_rows(task.info.dataset, "test"):
        turn = row["turns"][-1]
        wanted.append(str(sorted(turn["acts"])))
        said.setdefault(turn["text"], set()).add(wanted[-1])
    return 100 * float(np.mean([acts in each for acts in wanted for each in said.values()]))


def _tied_precision(right: int, others: int) -> float:
    """Average precision in percent when `others` candidates tie: at each rank is a right one or not, by chance.

    A right one at rank r has r - 1 before it, of which (right - 1) in (others - 1) are right.
    """
    ranks = np.arange(1, others + 1)
    return 100 * float(np.mean((1 + (ranks - 1) * (right - 1) / (others - 1)) / ranks))


def _neighbour_chance(task: Task) -> float:
    """One of all training messages is drawn: the chance that it has the right label."""
    train = 12 * CLASSES
    if task.info.dataset != "clinc150":
        return 100 / CLASSES
    whole = train + 60
    tests = 30 * CLASSES
    return 100 * (tests * 12 / whole + 60 * 60 / whole) / (tests + 60)
