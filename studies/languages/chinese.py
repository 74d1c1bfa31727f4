"""DialogueCSE's Chinese tables in kind: similarity and retrieval on JDDC and ECD, before and after training heads.

Usage: TURNLOOM_DATA=... python -m studies.languages.chinese VECTORS... --cache FOLDER

VECTORS are vector tables of the Universal Sentence Encoder over Chinese conversations, without what the tasks test. The
share of the heads in a text's vector is chosen on the dev splits of JDDC and ECD, one for both, seed by seed; the test
splits are measured once. CDConv's probe is tuned on its dev split by the task itself.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from studies.languages.heads import SHARES, HeadedEncoder, train_heads
from studies.lib.figures import record
from studies.lib.tables import mean_run
from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.compare import compare_runs
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.run import RunResult, TaskResult
from turnloom.benchmarks.task import Task
from turnloom.benchmarks.tasks.dialogue_inference import DialogueInference
from turnloom.benchmarks.tasks.retrieval import SemanticRetrieval
from turnloom.benchmarks.tasks.similarity import SentenceSimilarity
from turnloom.runtime import load_encoder

FROZEN = "universal-sentence-encoder"
SETS = {"jddc": "dialoguecse_jddc", "ecd": "dialoguecse_ecd"}
SEEDS = (0, 1, 2)
PAPER = {"jddc_sts": 81.22, "ecd_sts": 83.94, "jddc_map": 68.02, "ecd_map": 69.32, "jddc_mrr": 79.52, "ecd_mrr": 81.20}
"""DialogueCSE, Table 2, the better of its two forms (I2)."""
PAPER_BERT = {"jddc_sts": 50.89, "ecd_sts": 43.68, "jddc_map": 49.08, "ecd_map": 51.77}
"""The same table: BERT as it is, mean over tokens, which is where DialogueCSE begins."""


def tasks(split: str) -> dict[str, Task]:
    """The tasks by figure."""
    found: dict[str, Task] = {}
    for short, name in SETS.items():
        found[f"{short}_sts"] = SentenceSimilarity(name, f"{split}.sts")
        found[f"{short}_map"] = SemanticRetrieval(name, f"{split}.select")
    return found


def run(encoder: HeadedEncoder | CachedEncoder, wanted: dict[str, Task]) -> RunResult:
    """Evaluate on tasks, by figure; frozen vectors come from the cache."""
    cached = encoder if isinstance(encoder, CachedEncoder) else CachedEncoder(encoder)
    result = RunResult(model=cached.name, fingerprint=cached.fingerprint, languages=["zh"])
    for figure, task in wanted.items():
        drawn = task.evaluate(cached, task.info.draws, 0)
        scores, groups = [draw.scores for draw in drawn], [draw.groups() for draw in drawn]
        result.tasks[figure] = TaskResult(info=task.info, draws=scores, groups=groups)
        print(f"{cached.name}: {figure} {result.tasks[figure].mean():.2f}", flush=True)
    return result


def mean(result: RunResult) -> float:
    return statistics.fmean(task.mean() for task in result.tasks.values())


def choose_share(make: partial[HeadedEncoder]) -> tuple[float, dict[float, float]]:
    """Return the share with the best mean over the dev splits, and the mean of each."""
    found = {share: mean(run(make(share=share), tasks("dev"))) for share in SHARES}
    return max(found, key=lambda share: found[share]), found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("vectors", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path, required=True)
    given = parser.parse_args()
    frozen = CachedEncoder(load_encoder(FROZEN), given.cache)
    test: dict[str, Task] = {**tasks("test"), "cdconv_accuracy": DialogueInference("cdconv_zh")}
    before, after, shares = run(frozen, test), [], []
    for seed in SEEDS:
        make = partial(HeadedEncoder, frozen, train_heads(given.vectors, seed), seed=seed)
        share, dev = choose_share(make)
        print(f"seed {seed}: share {share}, dev {dev}", flush=True)
        record("languages", {f"dev.share_{one}_seed{seed}": value for one, value in dev.items()})
        after.append(run(make(share=share), test))
        shares.append(share)
    found = {"heads.share": statistics.fmean(shares), "cdconv_most_frequent": most_frequent("cdconv_zh")}
    record("languages", figures(before, after) | found)


def most_frequent(dataset: str) -> float:
    """How often the most frequent label of the test split occurs, in percent."""
    labels = Counter(row["label"] for row in split_rows(dataset, "test"))
    return 100 * max(labels.values()) / labels.total()


def figures(before: RunResult, after: Sequence[RunResult]) -> dict[str, float]:
    compared = compare_runs(before, mean_run(after))
    found = {f"paper.{figure}": value for figure, value in PAPER.items()}
    found |= {f"paper.bert_{figure}": value for figure, value in PAPER_BERT.items()}
    for figure, task in before.tasks.items():
        each, gain = [one.tasks[figure].mean() for one in after], compared.tasks[figure].interval
        found |= {
            f"frozen.{figure}": task.mean(),
            f"heads.{figure}": statistics.fmean(each),
            f"heads.{figure}_spread": max(each) - min(each),
            f"heads.{figure}_gain_low": gain.low,
            f"heads.{figure}_gain_high": gain.high,
        }
        if figure.endswith("_map"):
            mrr = figure.replace("_map", "_mrr")
            found[f"frozen.{mrr}"] = task.mean("mrr")
            found[f"heads.{mrr}"] = statistics.fmean(one.tasks[figure].mean("mrr") for one in after)
    return found


if __name__ == "__main__":
    main()
