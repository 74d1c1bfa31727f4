"""Tables of scores, and of differences with their intervals, for pages that the results write themselves."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from studies.baselines.figures import INTENTS, PROBES, SCORES
from turnloom.benchmarks import RunResult
from turnloom.benchmarks.compare import compare_runs
from turnloom.benchmarks.run import TaskResult

__all__ = ["ROWS", "Rows", "differences_table", "mean_run", "put_tables", "scores_table", "transposed"]

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
Rows = Mapping[str, tuple[str, ...]]
ROWS: Rows = {
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
    "AmazonQA (meaning)": (SCORES["amazonqa_top1"][0],),
    "MedQuAD (meaning)": (SCORES["medquad_top1"][0],),
    "STS-B (meaning)": (SCORES["stsb_spearman"][0],),
}
"""What a row is called, and the tasks that it is the mean of."""


def mean_run(seeds: Sequence[RunResult]) -> RunResult:
    """One run that stands for all training seeds of a model: the mean of each draw's scores and of each group's.

    Seeds saw the same draws and the same test messages, so what it is compared with stays paired. Intervals then say
    how far the means of *these* seeds are known; how far seeds lie apart is told by `scores_table`. A seed that lacks a
    task, or failed at it, has no part in that task's mean.
    """
    found: dict[str, list[TaskResult]] = {}
    for seed in seeds:
        for name, task in seed.tasks.items():
            if task.error is None:
                found.setdefault(name, []).append(task)
    return seeds[0].model_copy(update={"tasks": {name: _mean_task(tasks) for name, tasks in found.items()}})


def _mean_task(seeds: Sequence[TaskResult]) -> TaskResult:
    draws = [
        {score: statistics.fmean(draw[score] for draw in each) for score in each[0]}
        for each in zip(*(task.draws for task in seeds), strict=True)
    ]
    groups = [
        [statistics.fmean(group) for group in zip(*each, strict=True)]
        for each in zip(*(task.groups for task in seeds), strict=True)
    ]
    return seeds[0].model_copy(update={"draws": draws, "groups": groups})


def _only(result: RunResult, names: tuple[str, ...]) -> RunResult | None:
    if any(name not in result.tasks or result.tasks[name].error is not None for name in names):
        return None
    return result.model_copy(update={"tasks": {name: result.tasks[name] for name in names}})


def _mean(result: RunResult, names: tuple[str, ...]) -> float:
    return sum(result.tasks[name].mean() for name in names) / len(names)


def _head(titles: Iterable[str]) -> list[str]:
    titles = list(titles)
    return ["| | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]


def scores_table(runs: Mapping[str, Sequence[RunResult]], rows: Rows) -> list[str]:
    """A column a model: its score, or the mean of its seeds ± their standard deviation."""
    lines = _head(runs)
    for title, names in rows.items():
        lines.append(f"| {title} | " + " | ".join(_score(seeds, names) for seeds in runs.values()) + " |")
    return lines


def _score(seeds: Sequence[RunResult], names: tuple[str, ...]) -> str:
    scores = [_mean(part, names) for seed in seeds if (part := _only(seed, names)) is not None]
    if not scores:
        return ""
    spread = f" ± {statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
    return f"{round(statistics.fmean(scores), 6):.1f}{spread}"  # As figures.json rounds, so that pages agree.


def differences_table(columns: Mapping[str, tuple[RunResult, RunResult]], rows: Rows) -> list[str]:
    """The first run of each column less its second, with 95 % intervals; a star where the interval leaves 0 out."""
    lines = _head(columns)
    for title, names in rows.items():
        cells = [_difference(*pair, names) for pair in columns.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def _difference(one: RunResult, other: RunResult, names: tuple[str, ...]) -> str:
    mine, theirs = _only(one, names), _only(other, names)
    if mine is None or theirs is None:
        return ""
    gain = compare_runs(theirs, mine, names).overall.interval
    star = " \\*" if gain.low > 0 or gain.high < 0 else ""
    return f"{gain.mean:+.1f} ({gain.low:+.1f} to {gain.high:+.1f}){star}"


def transposed(table: Sequence[str], columns: int) -> list[list[str]]:
    """A table on its side, in several that fit a page: what were rows are columns, at most so many in each."""
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    found = []
    for first in range(0, len(rows), columns):
        shown = rows[first : first + columns]
        lines = _head(row[0] for row in shown)
        for place, name in enumerate(head[1:], 1):
            cells = [row[place] for row in shown]
            if any(cells):
                lines.append(f"| {name} | " + " | ".join(cells) + " |")
        found.append(lines)
    return found


def put_tables(page: Path, *tables: list[str]) -> None:
    """Write tables between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    written = "\n\n".join("\n".join(table) for table in tables)
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")
