"""Collects the scores of all baselines from their results into figures.json.

Usage: python -m studies.baselines.figures
"""

from __future__ import annotations

import statistics

from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks import RunResult

RESULTS = Results("baselines")
INTENTS = ("clinc150", "banking77", "hwu64", "snips")
SCORES = {
    "knn_snips": ("knn-snips", "accuracy_k1"),
    "knn_atis": ("knn-atis", "accuracy_k1"),
    "oos_auroc_clinc150": ("oos-5shot-clinc150", "auroc"),
    "amazonqa_top1": ("select-amazon_qa", "top1"),
    "medquad_top1": ("select-medquad", "top1"),
    "ubuntu_irc_top1": ("select-ubuntu_irc-next", "top1"),
    "sgd_next_top1": ("select-sgd-next", "top1"),
    "multiwoz_next_top1": ("select-multiwoz21-next", "top1"),
    "sgd_context3_top1": ("select-sgd-context3", "top1"),
    "multiwoz_context3_top1": ("select-multiwoz21-context3", "top1"),
    "retrieval_map": ("retrieve-multidogo", "map"),
    "stsb_spearman": ("sts-stsb_en", "spearman"),
    "uniformity": ("geometry-clinc150", "uniformity"),
    "alignment": ("geometry-clinc150", "alignment"),
}
PROBES = {
    "action_macro_f1_mean": (("action-sgd", "action-star", "action-gsim"), "macro_f1"),
    "action_micro_f1_mean": (("action-sgd", "action-star", "action-gsim"), "micro_f1"),
    "inference_accuracy": (("inference-ci_tod",), "accuracy"),
}
MODELS = ("all-MiniLM-L6-v2", "gte-small", "whitening", "static", "bm25")


def scores_of(result: RunResult) -> dict[str, float]:
    """The named scores that a run has."""
    wanted = {figure: ((task,), score) for figure, (task, score) in SCORES.items()} | PROBES
    for shots in (1, 5):
        wanted[f"intent_{shots}shot_mean"] = (tuple(f"intent-{shots}shot-{name}" for name in INTENTS), "accuracy")
        wanted |= {f"intent_{shots}shot_{name}": ((f"intent-{shots}shot-{name}",), "accuracy") for name in INTENTS}
    found = {}
    for figure, (tasks, score) in wanted.items():
        if all(task in result.tasks and result.tasks[task].error is None for task in tasks):
            found[figure] = statistics.fmean(result.tasks[task].mean(score) for task in tasks)
    return found


def main() -> None:
    for model in MODELS:
        result = RESULTS.scores(model)
        if result is not None:
            record("baselines", {f"{model}.{name}": value for name, value in scores_of(result).items()})


if __name__ == "__main__":
    main()
