"""Train `privacy/judge.py`: which numbers and mixed words go that the patterns leave.

Examples are the candidates of the labelled texts of all authors but the newest, of texts made from `templates`, and of
public dialogues, whose candidates stay if the patterns leave them. The threshold is the lowest at which, each author
held out in turn, at most `MOST_CHANGED` of that author's texts without personal data are changed.

Usage: TURNLOOM_DATA=... python -m studies.corpus.learn_privacy
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from tests.corpus.labelled_privacy import Labelled, read_half

from studies.corpus.privacy import HEADLINE, PREFIXES
from studies.corpus.templates import made_texts
from studies.lib.figures import record
from turnloom.corpus.privacy.candidates import candidates, features, kind_features
from turnloom.corpus.privacy.judge import BUCKETS, JUDGED_KINDS, KIND_BUCKETS, WEIGHTS, hashed
from turnloom.corpus.privacy.patterns import find_personal

AUTHORS = [[half] for half in PREFIXES if half not in ("development", "held_back", HEADLINE)]
AUTHORS.append(["development", "held_back"])
PLACEHOLDERS = {
    "account bank_account routing_number": "ACCOUNT",
    "address street_address": "ADDRESS",
    "birth_date": "BIRTHDATE",
    "card card_number": "CARD",
    "ip_address": "IP",
    "mac mac_address": "MAC",
    "national_id passport": "ID",
    "phone": "PHONE",
    "postcode": "POSTCODE",
}
KIND_OF = {category: kind for categories, kind in PLACEHOLDERS.items() for category in categories.split()}
PUBLIC = """
    twitter_airlines_twacs/all bitext_support/all taskmaster/tm3_part taskmaster/tm4 ubuntu_irc/* star/* sgd/*
    banking77/* self_dialogue/* dailydialog/* cicero_v2/* casino/* medquad/*
""".split()  # noqa: SIM905
"""Public sets with few personal numbers that the patterns could leave."""
PUBLIC_TEXTS = 2400
PER_TEMPLATE = 8
STRENGTH = 2.0
MOST_CHANGED = 0.0075
SEED = 0


@dataclass(frozen=True)
class Example:
    """A candidate in a text, and the placeholder it gets; "" if it stays."""

    text: str
    start: int
    end: int
    kind: str


def _partly_scrubbed(row: Labelled, pick: random.Random) -> tuple[str, list[tuple[int, int]]]:
    """Replace half of a text's values by their placeholder, as the patterns may have done."""
    text, spans, at = "", [], 0
    for start, end in sorted(row.spans):
        text += row.text[at:start]
        value = f"<{KIND_OF.get(row.category, 'SECRET')}>" if pick.random() < 0.5 else row.text[start:end]
        if value == row.text[start:end]:
            spans.append((len(text), len(text) + len(value)))
        text, at = text + value, end
    return text + row.text[at:], spans


def _labelled(text: str, spans: Sequence[tuple[int, int]], category: str) -> Iterator[Example]:
    """Label the candidates of a text; one goes if spans cover most of its letters and digits."""
    for start, end in candidates(text):
        inside = [any(a <= at < b for a, b in spans) for at in range(start, end) if text[at].isalnum()]
        goes = sum(inside) >= 0.6 * max(1, len(inside))
        yield Example(text, start, end, KIND_OF.get(category, "SECRET") if goes else "")


def examples_of(rows: Sequence[Labelled]) -> list[Example]:
    pick = random.Random(SEED)
    found: list[Example] = []
    for row in rows:
        found += _labelled(row.text, row.spans, row.category)
        if row.spans:
            text, spans = _partly_scrubbed(row, pick)
            found += _labelled(text, spans, row.category)
    return found


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name in ("turns", "text", "utterance", "utterances", "question", "answer", "response", "instruction"):
                yield from _strings(one)


def public_examples(folder: Path) -> list[Example]:
    """The candidates of public dialogues in which the patterns find nothing: they stay."""
    pick = random.Random(SEED)
    found: list[Example] = []
    for name in PUBLIC:
        texts: dict[str, None] = {}
        for path in sorted(folder.glob(f"{name}.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for _, line in zip(range(4000), lines, strict=False):
                    texts |= dict.fromkeys(text for text in _strings(json.loads(line)) if 8 < len(text) < 400)
        likely = [text for text in texts if " " in text and candidates(text)]
        for text in pick.sample(likely, min(len(likely), PUBLIC_TEXTS // len(PUBLIC))):
            if not find_personal(text):
                found += _labelled(text, [], "none")
    return found


def _matrix(rows: list[npt.NDArray[np.int64]], buckets: int, *, normed: bool) -> sparse.csr_matrix:
    lengths = np.array([len(row) for row in rows])
    values = np.repeat(1 / np.sqrt(lengths) if normed else np.ones(len(rows)), lengths)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((values, np.concatenate(rows), pointers), shape=(len(rows), buckets))


def _judged(examples: Sequence[Example]) -> sparse.csr_matrix:
    return _matrix([hashed(features(one.text, one.start, one.end), BUCKETS) for one in examples], BUCKETS, normed=True)


def trained(examples: Sequence[Example]) -> LogisticRegression:
    # Rows have length one; sixteen times the strength is as if they had length four.
    model = LogisticRegression(C=16 * STRENGTH, solver="liblinear", max_iter=300)
    return model.fit(_judged(examples), np.array([bool(one.kind) for one in examples]))


def _quantised(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int8], float]:
    scale = float(np.abs(weights).max() / 127)
    return np.round(weights / scale).astype(np.int8), scale


def threshold_by_author(others: list[Example]) -> tuple[float, dict[str, float]]:
    """Hold out each author; return the lowest score that changes few texts, and what is found at it."""
    by_author = [[row for half in halves for row in read_half(half)] for halves in AUTHORS]
    negatives, marked = [], []
    for held_out, rows in enumerate(by_author):
        training = [row for author, rows in enumerate(by_author) if author != held_out for row in rows]
        model = trained([*examples_of(training), *others])
        for row in rows:
            own = list(_labelled(row.text, row.spans, row.category))
            scores = model.decision_function(_judged(own)) if own else np.zeros(0)
            goes = np.array([bool(one.kind) for one in own], bool)
            if row.category == "none":
                negatives.append(max(scores, default=-np.inf))
            marked += scores[goes].tolist()
    least = float(np.sort(negatives)[::-1][int(MOST_CHANGED * len(negatives))]) + 1e-6
    found = sum(score >= least for score in marked) / len(marked)
    changed = sum(score >= least for score in negatives) / len(negatives)
    return least, {"judge_authors_recall": found, "judge_authors_changed": changed}


def main() -> None:
    others = [*examples_of(made_texts(PER_TEMPLATE, SEED)), *public_examples(Path(os.environ["TURNLOOM_DATA"]))]
    least, figures = threshold_by_author(others)
    rows = [row for halves in AUTHORS for half in halves for row in read_half(half)]
    examples = [*examples_of(rows), *others]
    model = trained(examples)
    goes, goes_scale = _quantised(model.coef_[0])
    personal = [one for one in examples if one.kind in JUDGED_KINDS]
    described = [hashed(kind_features(one.text, one.start, one.end), KIND_BUCKETS) for one in personal]
    choice = LogisticRegression(C=1.0, max_iter=200).fit(
        _matrix(described, KIND_BUCKETS, normed=False), [JUDGED_KINDS.index(one.kind) for one in personal]
    )
    kinds = np.zeros((KIND_BUCKETS, len(JUDGED_KINDS)))
    kinds[:, choice.classes_] = choice.coef_.T
    np.savez_compressed(
        WEIGHTS,
        goes=goes,
        goes_scale=goes_scale,
        intercept=float(model.intercept_[0]),
        least=least,
        kinds=_quantised(kinds)[0],
    )
    print(len(examples), "examples,", len(personal), "of them go; least score", least, figures)
    record("corpus", figures)


if __name__ == "__main__":
    main()
