"""Measure a classifier on labelled messages that it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from turnloom.intents.answers import Answer
from turnloom.intents.calibration import expected_calibration_error, micro_f1
from turnloom.intents.classifier import IntentClassifier
from turnloom.intents.examples import Labels, Message, label_sets
from turnloom.intents.scope import Rate

MOST_CONFUSED = 10


def _rate(hits: Sequence[bool]) -> dict[str, float]:
    found = Rate.of(float(np.mean(hits)), len(hits))
    return {"rate": found.rate, "low": found.low, "high": found.high}


def _in_scope(answers: Sequence[Answer], truth: Sequence[tuple[str, ...]], multi_label: bool) -> dict[str, Any]:
    """Score the messages that have an intent."""
    likeliest = [answer.candidates[0].intent in names for answer, names in zip(answers, truth, strict=True)]
    accepted = [(answer, names) for answer, names in zip(answers, truth, strict=True) if answer.decision == "accept"]
    asked = [(answer, names) for answer, names in zip(answers, truth, strict=True) if answer.decision == "ask"]
    found: dict[str, Any] = {
        "in_scope": len(answers),
        "accuracy": float(np.mean(likeliest)),
        "false_reject": _rate([answer.decision == "out_of_scope" for answer in answers]),
        "asked": len(asked) / len(answers),
    }
    if accepted:
        found["accepted_right"] = float(np.mean([set(answer.intents) <= set(names) for answer, names in accepted]))
    if asked:
        pairs = [any(each.intent in names for each in answer.candidates[:2]) for answer, names in asked]
        found["asked_has_right_one"] = float(np.mean(pairs))
    if multi_label:
        found["micro_f1"] = micro_f1(truth, [answer.intents for answer in answers])
    else:
        sure = np.array([answer.candidates[0].probability for answer in answers])
        found["expected_calibration_error"] = expected_calibration_error(sure, np.array(likeliest))
    return found


def evaluate(classifier: IntentClassifier, messages: Sequence[Message], labels: Labels) -> dict[str, Any]:
    """Evaluate a classifier on labelled messages, out-of-scope ones included.

    Returns:
        `accuracy` (of the most likely intent, in scope), `false_reject` and, with out-of-scope messages,
        `false_accept`, `out_of_scope_recall` and `auroc`; how often it asks, and how often one of the two candidates is
        right; the expected calibration error; the most confused intents.
    """
    truth = label_sets(labels)
    answers = classifier.answer(messages, examples=0)
    inside = [place for place, names in enumerate(truth) if names]
    outside = [place for place, names in enumerate(truth) if not names]
    found: dict[str, Any] = {}
    if inside:
        names = [truth[place] for place in inside]
        found.update(_in_scope([answers[place] for place in inside], names, classifier.multi_label))
    if outside:
        let_in = [answers[place].decision != "out_of_scope" for place in outside]
        found |= {"out_of_scope": len(outside), "false_accept": _rate(let_in)}
        found["out_of_scope_recall"] = 1 - found["false_accept"]["rate"]
    if inside and outside:
        from sklearn.metrics import roc_auc_score

        found["auroc"] = float(roc_auc_score([bool(names) for names in truth], [each.familiarity for each in answers]))
    pairs = Counter(
        (truth[place][0], answers[place].candidates[0].intent)
        for place in inside
        if len(truth[place]) == 1 and answers[place].candidates[0].intent not in truth[place]
    )
    found["confused"] = [
        {"is": one, "said": other, "times": times} for (one, other), times in pairs.most_common(MOST_CONFUSED)
    ]
    return found
