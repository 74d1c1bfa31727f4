"""Find intents without knowing how many: Turnloom, BERTopic and k-means that is told, on the same vectors.

Usage: ``python -m studies.discovery.induction validation | test | kmeans | names | export FOLDER | bertopic FOLDER``
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from studies.discovery.sets import (
    SAMPLES,
    TEST,
    VALIDATION,
    Codes,
    Grouped,
    accuracy,
    draw_sample,
    encode_once,
    nmi,
    read_grouped,
)
from studies.lib.figures import record
from turnloom.discovery import Discovery, Messages, Namer, discover, find_parser
from turnloom.discovery.grouping import centred, find_groups
from turnloom.intents.names import label_words
from turnloom.runtime import load_encoder

SEEDS = 5
Scores = dict[str, dict[str, list[float]]]


def validation() -> None:
    """Print what settings were chosen by."""
    known = [read_grouped(*file) for file in VALIDATION]
    drawn = [draw_sample(read_grouped(name, file), intents, size) for name, file, intents, size in SAMPLES]
    scores = []
    for data in [*known, *drawn]:
        groups = find_groups(centred(data.vectors))
        scores.append(accuracy(data.codes, groups))
        print(f"{data.name}: {len(data.intents)} intents, {groups.max() + 1} groups, ", end="")
        print(f"accuracy {scores[-1]:.1f}, nmi {nmi(data.codes, groups):.1f}", flush=True)
    print(f"mean accuracy {np.mean(scores):.1f}")


def _discover(data: Grouped, namer: Namer | None = None) -> Discovery:
    count = len(data.texts)
    messages = Messages(data.texts, [""] * count, np.ones(count, np.int64), count)
    encoder = load_encoder("models/turnloom-mini") if namer else None
    return discover(messages, data.vectors, namer=namer, encoder=encoder)


def _record(prefix: str, by_set: dict[str, list[tuple[Codes, Codes]]]) -> None:
    """Record accuracy and NMI per set, a mean over its files and draws, and the mean of the sets."""
    figures = {}
    for name, pairs in by_set.items():
        figures[f"{prefix}{name}_accuracy"] = float(np.mean([accuracy(*pair) for pair in pairs]))
        figures[f"{prefix}{name}_nmi"] = float(np.mean([nmi(*pair) for pair in pairs]))
    for what in ("accuracy", "nmi"):
        figures[f"{prefix}mean_{what}"] = float(np.mean([figures[f"{prefix}{name}_{what}"] for name in by_set]))
    record("discovery", figures)


def measure_test() -> None:
    """Record Turnloom's groups."""
    ours: dict[str, list[tuple[Codes, Codes]]] = {}
    lost, count = 0, 0
    for name, files in TEST.items():
        for file in files:
            data = read_grouped(*file)
            found = _discover(data).group
            ours.setdefault(name, []).append((data.codes, found))
            lost, count = lost + int((found < 0).sum()), count + len(found)
            groups = len(np.unique(found[found >= 0]))
            print(
                f"{data.name}: {len(data.intents)} intents, {groups} groups, {accuracy(data.codes, found):.1f}",
                flush=True,
            )
    _record("", ours)
    record("discovery", {"unassigned_percent": 100 * lost / count})


def measure_kmeans() -> None:
    """Record the groups of k-means with the true number."""
    told: dict[str, list[tuple[Codes, Codes]]] = {}
    for name, files in TEST.items():
        for file in files:
            data = read_grouped(*file)
            for seed in range(SEEDS):
                groups = KMeans(len(data.intents), n_init=1, random_state=seed).fit_predict(data.vectors)
                told.setdefault(name, []).append((data.codes, groups.astype(np.int64)))
    _record("kmeans_true_k.", told)


def measure_names() -> None:
    """Record how often a group's name is nearest, by gte-small, to the name of its majority intent."""
    judge = load_encoder(Path(os.environ["MODELS"]) / "gte-small")
    parsers = {"": find_parser(os.environ.get("SPACY_PIPELINE")), "patterns.": Namer().parser}
    for prefix, parser in parsers.items():
        hits: dict[str, list[bool]] = {}
        for name, files in TEST.items():
            for file in files:
                data = read_grouped(*file)
                found = _discover(data, Namer(parser))
                leaves = found.summary.leaves()
                gold = encode_once(judge, [label_words(intent) for intent in data.intents])
                named = encode_once(judge, [leaf.name for leaf in leaves])
                nearest = (named @ gold.T).argmax(axis=1)
                for leaf, intent in zip(leaves, nearest, strict=True):
                    majority = np.bincount(data.codes[found.group == leaf.id]).argmax()
                    hits.setdefault(name, []).append(bool(majority == intent))
        figures = {f"{prefix}{name}_name_hit_percent": 100 * float(np.mean(found)) for name, found in hits.items()}
        figures[f"{prefix}name_hit_percent"] = float(np.mean(list(figures.values())))
        record("discovery", figures)


def export(folder: Path) -> None:
    """Write texts and vectors for BERTopic, which runs in an environment of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for files in TEST.values():
        for file in files:
            data = read_grouped(*file)
            (folder / f"{data.name}.json").write_text(json.dumps(data.texts))
            np.save(folder / f"{data.name}.npy", data.vectors)


def measure_bertopic(folder: Path) -> None:
    """Record BERTopic's groups; messages in its bin -1 are a group of their own."""
    found: dict[str, list[tuple[Codes, Codes]]] = {}
    lost, count = 0, 0
    for name, files in TEST.items():
        for file in files:
            data = read_grouped(*file)
            for topics in json.loads((folder / f"{data.name}.topics.json").read_text()):
                groups = np.array(topics, np.int64)
                found.setdefault(name, []).append((data.codes, groups))
                lost, count = lost + int((groups < 0).sum()), count + len(groups)
    _record("bertopic.", found)
    record("discovery", {"bertopic.unassigned_percent": 100 * lost / count})


if __name__ == "__main__":
    step, *rest = sys.argv[1:]
    if step in ("export", "bertopic"):
        {"export": export, "bertopic": measure_bertopic}[step](Path(rest[0]))
    else:
        {"validation": validation, "test": measure_test, "kmeans": measure_kmeans, "names": measure_names}[step]()
