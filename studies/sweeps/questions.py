"""The papers' own questions, answered on our data: the paper's direction, ours, and whether they agree.

Usage: python -m studies.sweeps.questions

Writes figures.json, answers.json, a plot and the table of README.md beside this file.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from studies.baselines.figures import RESULTS as BASELINES
from studies.baselines.figures import scores_of
from studies.lib.figures import record
from studies.lib.tables import put_tables
from studies.sweeps.points import POINTS, RESULTS, SEEDS

HERE = Path(__file__).parent
Score = Callable[[str], list[float]]
"""From a point's name to its score with each seed."""


def done_runs(point: str) -> list[str]:
    """The runs of a point, for each seed that has results."""
    return [run for seed in SEEDS if RESULTS.is_done(run := f"{point}-seed{seed}")]


def mean_of(*figures: str) -> Score:
    """The mean of some scores of a point."""

    def score(point: str) -> list[float]:
        found = []
        for run in done_runs(point):
            result = RESULTS.scores(run)
            if result is not None:
                scores = scores_of(result)
                found.append(statistics.fmean(scores[figure] for figure in figures))
        return found

    return score


def last_against_first(family: str) -> Score:
    """How much a validation score changes from the first look, after one pass, to the last."""

    def score(point: str) -> list[float]:
        curves = [RESULTS.curve(run) for run in done_runs(point)]
        return [curve[-1][family] - curve[0][family] for curve in curves]

    return score


def start_of(model: str) -> list[float]:
    """The 1-shot intents of a model before training."""
    result = BASELINES.scores(model)
    assert result is not None
    return [scores_of(result)["intent_1shot_mean"]]


@dataclass(frozen=True)
class Question:
    """A question, the score that answers it, and two points of which the paper says that the second is better."""

    name: str
    paper: str
    says: str
    score: Score
    worse: str
    better: str


CONTEXTS = mean_of("sgd_context3_top1", "multiwoz_context3_top1")
NEXT = mean_of("sgd_next_top1", "multiwoz_next_top1", "sgd_context3_top1", "multiwoz_context3_top1")
RETRIEVAL = mean_of("retrieval_map")
SIMILARITY, INTENTS = mean_of("stsb_spearman"), mean_of("intent_1shot_mean")
NEIGHBOURS = mean_of("knn_snips", "knn_atis")
INTENTS_CHANGE, REPLIES_CHANGE = last_against_first("intent"), last_against_first("response_selection")
FAMILIES: dict[str, tuple[str, Score]] = {  # By the first word of a point's name: what the page shows of it.
    "windows": ("reply after three turns, SGD and MultiWOZ, top 1", CONTEXTS),
    "matching": ("MAP of semantic retrieval", RETRIEVAL),
    "passes": ("validation intents, last look less first", INTENTS_CHANGE),
    "templates": ("nearest neighbour, SNIPS and ATIS", NEIGHBOURS),
    "gte": ("1-shot intents, mean of four", INTENTS),
}
QUESTIONS = [
    Question("windows", "WMDC, Figure 3", "more window sizes help", CONTEXTS, "windows-1", "windows-123"),
    Question("reweighting", "WMDC, Figure 3", "inverse frequency helps", NEXT, "windows-123-plain", "windows-123"),
    Question("turns", "DialogueCSE, Figure 2", "three turns beat one", RETRIEVAL, "matching-turns-1", "matching"),
    Question("more turns", "DialogueCSE, Figure 2", "beyond three it drops", RETRIEVAL, "matching-turns-5", "matching"),
    Question("data", "DialogueCSE, Figure 3", "more dialogues help", RETRIEVAL, "matching-rows-1000", "matching"),
    Question(
        "temperature", "DialogueCSE, Table 3", "0.1 beats 0.5 (STS)", SIMILARITY, "matching-temperature-0.5", "matching"
    ),
    Question(
        "negatives", "DialogueCSE, Table 4", "nine beat one", RETRIEVAL, "matching-negatives-1", "matching-negatives-9"
    ),
    Question(
        "passes", "DSE, Figure 3", "intents gain over passes, with dropout they lose", INTENTS_CHANGE,
        "passes-dropout", "passes-consecutive",
    ),
    Question(
        "passes, replies", "DSE, Figure 3", "so does the choice of replies", REPLIES_CHANGE,
        "passes-dropout", "passes-consecutive",
    ),
    Question(
        "augmentation", "TaDSE, Table 4", "top 5 helps when pairs are learned", NEIGHBOURS,
        "templates-pair-top0", "templates-pair-top5",
    ),
    Question(
        "pairs", "TaDSE, Table 4", "pairs beat utterances alone", NEIGHBOURS,
        "templates-utterance-top5", "templates-pair-top5",
    ),
    Question(
        "losses", "TaDSE, Table 5", "the pair loss adds to the other two", NEIGHBOURS,
        "templates-both-top5", "templates-pair-top5",
    ),
    Question(
        "backbone", "DSE, Tables 10 and 11", "DSE helps another backbone", INTENTS, "gte-small", "gte-dse"
    ),
]  # fmt: skip


def answer(question: Question) -> dict[str, Any] | None:
    """What our points say; nothing while one is missing."""
    worse = start_of(question.worse) if question.worse == "gte-small" else question.score(question.worse)
    better = question.score(question.better)
    if not worse or not better:
        return None
    difference = statistics.fmean(better) - statistics.fmean(worse)
    sides = ((question.worse, worse), (question.better, better))
    whole = all(len(scores) == len(SEEDS) for point, scores in sides if point in POINTS)  # A start has no seeds.
    return {
        "question": question.name,
        "paper": question.paper,
        "says": question.says,
        "worse": question.worse,
        "better": question.better,
        "worse_scores": worse,
        "better_scores": better,
        "difference": difference,
        "agrees": difference > 0,
        # With two seeds a side, a gap between all of one and all of the other is the most one can ask for.
        "clear": whole and (min(better) > max(worse) or max(better) < min(worse)),
    }


def table(found: list[dict[str, Any]]) -> list[str]:
    """A row a question: the paper's direction, ours, and whether they agree."""
    lines = ["| paper | says | ours, without | ours, with | difference | agrees |", "|---" * 6 + "|"]
    for one in found:
        sides = [
            f"{statistics.fmean(one[f'{side}_scores']):.2f} (`{one[side]}`, {len(one[f'{side}_scores'])})"
            for side in ("worse", "better")
        ]
        agrees = ("yes" if one["agrees"] else "no") + ("" if one["clear"] else ", unclear")
        lines.append(f"| {one['paper']} | {one['says']} | {' | '.join(sides)} | {one['difference']:+.2f} | {agrees} |")
    return lines


def points_table() -> list[str]:
    """A row a point: the score that its questions go by, with each seed."""
    lines = ["| point | score | each seed | mean |", "|---" * 4 + "|"]
    for point in POINTS:
        title, score = FAMILIES[point.split("-")[0]]
        seeds = score(point)
        if seeds:
            each = ", ".join(f"{one:.2f}" for one in seeds)
            lines.append(f"| `{point}` | {title} | {each} | {statistics.fmean(seeds):.2f} |")
    return lines


def plot(found: list[dict[str, Any]]) -> None:
    """One bar for each question: our difference in the paper's direction, with a dot for each seed."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "turnloom"})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.4 * len(found) + 1))
    values = [one["difference"] for one in found]
    axes.barh([one["says"] for one in found], values, color=["#3b7" if value > 0 else "#c54" for value in values])
    for row, one in enumerate(found):
        # A model before training has one score for all seeds; while points are missing, a side has fewer.
        starts = cycle(one["worse_scores"]) if one["worse"] == "gte-small" else one["worse_scores"]
        each = [better - worse for worse, better in zip(starts, one["better_scores"], strict=False)]
        axes.plot(each, [row] * len(each), "o", color="black", markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("points in the paper's direction")
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(HERE / "questions.svg", metadata={"Date": None})


def main() -> None:
    found = [one for question in QUESTIONS if (one := answer(question)) is not None]
    (HERE / "answers.json").write_text(json.dumps(found, indent=1) + "\n")
    if found:
        plot(found)
        put_tables(HERE / "README.md", table(found), ["![The differences of the table](questions.svg)"], points_table())
    agreeing = sum(bool(one["agrees"]) for one in found)
    record("sweeps", {"questions": len(found), "questions_same_direction": agreeing})


if __name__ == "__main__":
    main()
