"""Collects the flagship, its start, a larger encoder and the best single methods into figures.json.

Usage: python -m studies.flagship.figures
"""

from __future__ import annotations

import math
import statistics
from pathlib import Path

from studies.baselines.figures import RESULTS as BASELINES
from studies.flagship.arms import RESULTS, SEEDS
from studies.lib.figures import STUDIES, record
from studies.lib.tables import mean_run
from studies.methods.arms import MATCHING, METHODS
from studies.methods.figures import all_scores, as_used, method_figures
from turnloom.benchmarks import RunResult

HELD_OUT = {
    "dstc11_1shot": "intent-1shot-dstc11_intent",
    "dstc11_5shot": "intent-5shot-dstc11_intent",
    "bitext_1shot": "intent-1shot-bitext_support",
    "bitext_5shot": "intent-5shot-bitext_support",
    "topical_chat_next_top1": "select-topical_chat-next",
}


def held_out_scores(result: RunResult) -> dict[str, float]:
    """What was looked at once, in the end; next turns in the space of contexts and replies where the model has one."""
    tasks = as_used(result).tasks
    return {name: tasks[task].mean() for name, task in HELD_OUT.items() if task in tasks and tasks[task].error is None}


def _named(prefix: str, scores: dict[str, float]) -> dict[str, float]:
    return {f"{prefix}.{name}": value for name, value in scores.items()}


def _minutes(run: str) -> float:
    """From beginning to end, where that was noted: refitting heads and looking at validation take time too."""
    times = RESULTS.get(run, "times")
    return float(times["wall_minutes"] if times else RESULTS.get(run, "training")["minutes"])


def _parameters(model: Path) -> int:
    """Of the encoder and its heads."""
    from safetensors import safe_open

    count = 0
    for path in model.rglob("*.safetensors"):
        with safe_open(path, "pt") as file:
            count += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    return count


def best_single() -> dict[str, float]:
    """For each score the best of the single methods: no method is best at all of them."""
    each = [method_figures(method) for method in (*METHODS, *MATCHING)]
    names = {name for scores in each for name in scores} - {"pairs", "seeds", "uniformity", "alignment"}
    return {name: max(scores[name] for scores in each if name in scores) for name in sorted(names)}


def main() -> None:
    figures = _named("best-single", best_single())
    for model, name in (("start", "all-MiniLM-L6-v2"), ("gte-small", "gte-small")):
        if (result := BASELINES.scores(name)) is not None:
            figures |= _named(model, all_scores(result))
    if (start := RESULTS.scores("start")) is not None:
        figures |= _named("heldout.start", held_out_scores(start))
    finished = [run for seed in SEEDS if RESULTS.is_done(run := f"final-seed{seed}")]
    results = [result for run in finished if (result := RESULTS.scores(run)) is not None]
    if results:
        mean = mean_run(results)
        figures |= _named("turnloom", all_scores(mean))
        figures |= _named("heldout.turnloom", held_out_scores(mean))
        figures["turnloom.seeds"] = len(results)
        figures["parameters_millions"] = _parameters(STUDIES.parent / "models" / "turnloom-mini") / 1e6
        figures["training_hours"] = statistics.fmean(_minutes(run) for run in finished) / 60
    record("flagship", figures)


if __name__ == "__main__":
    main()
