"""Writes the tables of docs/results.md from the results: scores, and differences with their intervals.

Usage: python -m studies.flagship.page
"""

from __future__ import annotations

from pathlib import Path

from studies.baselines.figures import INTENTS, PROBES, SCORES
from studies.figures import STUDIES
from studies.flagship.arms import RESULTS, SEEDS
from studies.flagship.figures import HELD_OUT
from studies.methods.arms import METHODS
from studies.methods.arms import RESULTS as METHOD_RESULTS
from studies.methods.figures import as_used
from turnwise.benchmarks import RunResult, read_results
from turnwise.benchmarks.compare import compare_runs

PAGE = Path("docs/results.md")
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
ROWS: dict[str, tuple[str, ...]] = {
    "1-shot intents, mean of four": tuple(f"intent-1shot-{name}" for name in INTENTS),
    **{f"1-shot {name}": (f"intent-1shot-{name}",) for name in INTENTS},
    "5-shot intents, mean of four": tuple(f"intent-5shot-{name}" for name in INTENTS),
    "out of scope, CLINC150, AUROC": (SCORES["oos_auroc_clinc150"][0],),
    "next turn, SGD": (SCORES["sgd_next_top1"][0],),
    "next turn, MultiWOZ": (SCORES["multiwoz_next_top1"][0],),
    "after three turns, SGD": (SCORES["sgd_context3_top1"][0],),
    "after three turns, MultiWOZ": (SCORES["multiwoz_context3_top1"][0],),
    "next turn, Ubuntu IRC": (SCORES["ubuntu_irc_top1"][0],),
    "actions, macro F1": PROBES["action_macro_f1_mean"][0],
    "AmazonQA, plain space": (SCORES["amazonqa_top1"][0],),
    "MedQuAD, plain space": (SCORES["medquad_top1"][0],),
    "STS-B, plain space": (SCORES["stsb_spearman"][0],),
    "held out: DSTC11, 1-shot": (HELD_OUT["dstc11_1shot"],),
    "held out: Bitext, 1-shot": (HELD_OUT["bitext_1shot"],),
    "held out: Topical-Chat, next turn": (HELD_OUT["topical_chat_next_top1"],),
}


def _only(result: RunResult, names: tuple[str, ...]) -> RunResult | None:
    if any(name not in result.tasks or result.tasks[name].error is not None for name in names):
        return None
    return result.model_copy(update={"tasks": {name: result.tasks[name] for name in names}})


def runs() -> dict[str, RunResult]:
    """The flagship first, then what it is compared with."""
    folders = {f"turnwise, seed {seed}": RESULTS / f"final-seed{seed}" for seed in SEEDS}
    folders |= {"start": STUDIES / "baselines" / "all-MiniLM-L6-v2", "gte-small": STUDIES / "baselines" / "gte-small"}
    folders |= {method: METHOD_RESULTS / method for method in METHODS}
    found = {name: read_results(folder) for name, folder in folders.items()}
    more = read_results(RESULTS / "start")  # What the baselines' suites do not have.
    if more is not None and (start := found["start"]) is not None:
        found["start"] = start.model_copy(update={"tasks": {**more.tasks, **start.tasks}})
    return {name: as_used(result) for name, result in found.items() if result is not None}


def _mean(result: RunResult, names: tuple[str, ...]) -> float:
    return sum(result.tasks[name].mean() for name in names) / len(names)


def scores_table(all_runs: dict[str, RunResult]) -> list[str]:
    lines = ["| | " + " | ".join(all_runs) + " |", "|---" * (len(all_runs) + 1) + "|"]
    for title, names in ROWS.items():
        parts = [_only(result, names) for result in all_runs.values()]
        lines.append(f"| {title} | " + " | ".join(f"{_mean(one, names):.1f}" if one else "" for one in parts) + " |")
    return lines


def differences_table(all_runs: dict[str, RunResult]) -> list[str]:
    """The first run less each other, with 95 % intervals; a star where the interval leaves 0 out."""
    (_, ours), *others = all_runs.items()
    lines = ["| | " + " | ".join(f"over {name}" for name, _ in others) + " |", "|---" * (len(others) + 1) + "|"]
    for title, names in ROWS.items():
        cells = []
        for _, other in others:
            mine, theirs = _only(ours, names), _only(other, names)
            if mine is None or theirs is None:
                cells.append("")
                continue
            gain = compare_runs(theirs, mine, names).overall.interval
            star = " \\*" if gain.low > 0 or gain.high < 0 else ""
            cells.append(f"{gain.mean:+.1f} ({gain.low:+.1f} to {gain.high:+.1f}){star}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    found = runs()
    text = PAGE.read_text()
    tables = "\n".join([*scores_table(found), "", "**Differences**", "", *differences_table(found)])
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}")


if __name__ == "__main__":
    main()
