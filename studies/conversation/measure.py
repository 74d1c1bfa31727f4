"""How good conversation encoders are: all turns, ten candidates, appropriate replies, and conversations never seen.

Usage: TURNLOOM_DATA=... python -m studies.conversation.measure {seen|unseen|figures} BASE TODAY [SEED...]

BASE is the base model, TODAY turnloom-mini without its conversation encoder (`--without` makes it), each SEED a model
trained with another seed. `seen` measures what choices may be made on beforehand, by their validation splits. `unseen`
looks at Topical-Chat, which decides nothing; each look is counted in `results.json`. What is measured is kept there,
and `figures` writes `figures.json` from it.
"""

from __future__ import annotations

import shutil
import statistics
import sys

from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks import RunResult
from turnloom.benchmarks.compare import compare_runs
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.runtime.model_folder import CONVERSATION

RESULTS = Results("conversation")
SETS = {"sgd": "sgd", "multiwoz": "multiwoz21", "ubuntu": "ubuntu_irc"}
ACTS = ("sgd", "multiwoz21", "star")
TURNS = ("next", "context3", "all")


def names(*, heads: bool) -> list[str]:
    """What is measured on sets whose training part was learned from."""
    end = "-heads" if heads else ""
    found = [f"select-{name}-{turns}{end}" for name in SETS.values() for turns in TURNS]
    found += [f"rerank-{name}" for name in SETS.values()]
    found += [f"appropriate-{name}{end}" for name in ACTS]
    return [*found, "conversations-sgd", "conversations-multiwoz21"]


def evaluate(run: str, model: str, *options: str) -> None:
    """Measure a model, unless it was; with the cache that all runs share: turns are encoded once."""
    precision = ["--bf16"] if computes_bf16_fast() else []
    RESULTS.evaluate(run, model, *options, *precision)


def look(run: str, model: str, what: str, *options: str) -> None:
    """The same for conversations that decide nothing, and count it."""
    if RESULTS.get(run, "results") is None:
        looks = RESULTS.get("looks", "count") or {}
        RESULTS.put("looks", {"count": {**looks, what: looks.get(what, 0) + 1}})
    evaluate(run, model, *options)


def without_conversation(model: str, out: str) -> None:
    """A copy of a model's folder without its conversation encoder."""
    shutil.copytree(model, out, ignore=shutil.ignore_patterns(CONVERSATION), dirs_exist_ok=True)


def scores(run: str) -> RunResult:
    found = RESULTS.scores(run)
    assert found is not None, f"{run} is not measured yet"
    return found


def best(run: str, stem: str) -> float:
    """The best of one turn, three and all of them, by the heads where the model has them."""
    tasks = scores(run).tasks
    every = [
        tasks[name].mean() for turns in TURNS for name in (f"{stem}-{turns}", f"{stem}-{turns}-heads") if name in tasks
    ]
    return max(every)


def mean(runs: list[str], task: str) -> float:
    return statistics.fmean(scores(run).tasks[task].mean() for run in runs)


def seen_figures(seeds: list[str]) -> dict[str, float]:
    figures = {}
    for short, name in SETS.items():
        every = [scores(seed).tasks[f"select-{name}-all-heads"].mean() for seed in seeds]
        figures[f"{short}_all_top1"] = statistics.fmean(every)
        figures[f"{short}_all_top1_spread"] = max(every) - min(every)
        for turns in ("next", "context3"):
            figures[f"{short}_{turns}_top1"] = mean(seeds, f"select-{name}-{turns}-heads")
        for run in ("start", "today"):
            figures[f"{run}.{short}_all_top1"] = best(run, f"select-{name}")
    for prefix, runs in (("", seeds), ("today.", ["today"]), ("start.", ["start"])):
        figures[f"{prefix}r10_at_1"] = statistics.fmean(mean(runs, f"rerank-{name}") for name in SETS.values())
        end = "" if prefix == "start." else "-heads"
        figures[f"{prefix}appropriate_top1"] = statistics.fmean(mean(runs, f"appropriate-{name}{end}") for name in ACTS)
        for name in ("sgd", "multiwoz21"):
            figures[f"{prefix}conversations_{name}_map"] = mean(runs, f"conversations-{name}")
    figures["bm25.appropriate_top1"] = statistics.fmean(mean(["bm25"], f"appropriate-{name}") for name in ACTS)
    return figures | appropriate_interval(seeds)


def appropriate_interval(seeds: list[str]) -> dict[str, float]:
    """How far ours is ahead of the best other one on appropriate replies, with the ends of its interval."""
    wanted = {f"appropriate-{name}-heads": f"appropriate-{name}" for name in ACTS}
    ours = scores(seeds[0])
    low = []
    for run in ("today", "start", "bm25"):
        other = scores(run)
        named = {task: other.tasks[task if task in other.tasks else plain] for task, plain in wanted.items()}
        mine = {task: ours.tasks[task] for task in wanted}
        compared = compare_runs(other.model_copy(update={"tasks": named}), ours.model_copy(update={"tasks": mine}))
        low.append(compared.overall.interval.low)
    return {"appropriate_margin_low": min(low)}


def unseen_figures(seeds: list[str]) -> dict[str, float]:
    task = "select-topical_chat-all-heads"
    every = [scores(f"{seed}-topical_chat").tasks[task].mean() for seed in seeds]
    return {
        "heldout.topical_chat_top1": statistics.fmean(every),
        "heldout.topical_chat_top1_spread": max(every) - min(every),
        **{
            f"{run}.topical_chat_top1": best(f"{run}-topical_chat", "select-topical_chat") for run in ("start", "today")
        },
        **looks(),
    }


def looks() -> dict[str, float]:
    """How often each set that decides nothing was looked at."""
    return {f"looks_{what}": float(count) for what, count in RESULTS.get("looks", "count").items()}


def models_by_name(base: str, today: str, *seeds: str) -> dict[str, str]:
    return {"start": base, "today": today, **{f"seed{number}": model for number, model in enumerate(seeds)}}


def main(what: str, *arguments: str) -> None:
    models = models_by_name(*arguments)
    if what == "seen":
        for run, model in models.items():
            evaluate(run, model, "--tasks", ",".join(names(heads=run != "start")))
        evaluate("bm25", "bm25", "--tasks", ",".join(f"appropriate-{name}" for name in ACTS))
    elif what == "unseen":
        for run, model in models.items():
            end = "" if run == "start" else "-heads"
            turns = TURNS if run in ("start", "today") else ("all",)
            look(
                f"{run}-topical_chat",
                model,
                "topical_chat",
                "--tasks",
                ",".join(f"select-topical_chat-{one}{end}" for one in turns),
            )
    elif what == "figures":
        seeds = [run for run in models if run.startswith("seed")]
        record("conversation", seen_figures(seeds) | unseen_figures(seeds))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
