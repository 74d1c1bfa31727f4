"""Two pictures: the states of marks as t-SNE sees them (UMS, Figure 4), and the adversarial score over training time.

Usage: TURNLOOM_DATA=... python -m studies.reranker.plots RERANKER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from studies.reranker.arms import MAIN, RESULTS
from turnloom.benchmarks.tasks.reranking import dialogue_turns
from turnloom.objectives.manipulation import padded, scores_and_states
from turnloom.runtime.scorer import CrossEncoderScorer, load_scorer
from turnloom.views.utterance_tasks import MARKS, MarkedInput, Marker, Task, manipulate

HERE = Path(__file__).parent
SETS = ("ubuntu_irc", "sgd", "multiwoz21")
DIALOGUES, AT_A_TIME = 150, 16


def asked(dataset: str, task: Task, tokenizer: Any, limit: int) -> list[MarkedInput]:
    """A window of each of some test dialogues; what is foreign comes from the next one."""
    talks = [[text for _, text in turns] for turns in dialogue_turns(dataset, "test") if len(turns) >= 5][:DIALOGUES]
    marker, found = Marker(tokenizer, limit), []
    for number, talk in enumerate(talks):
        foreign = talks[(number + 1) % len(talks)][number % 5]
        ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (*talk, foreign)]
        given = manipulate(task, ids[:-1], np.random.default_rng([0, number]), foreign=ids[-1])
        assert given is not None
        found.append(marker(given))
    return found


def mark_states(model: Any, given: list[MarkedInput]) -> tuple[Any, Any]:
    """The states of all marks, and whether each is the answer."""
    states = []
    model.eval()
    for start in range(0, len(given), AT_A_TIME):
        part = given[start : start + AT_A_TIME]
        features = padded(model.tokenizer, [(each.ids, each.segments) for each in part])
        with torch.no_grad():
            found = scores_and_states(model, features)[1]
        states += [row[each.marks].numpy() for row, each in zip(found, part, strict=True)]
    right = [number == each.label for each in given for number in range(len(each.marks))]
    return np.concatenate(states), np.array(right)


def map_of_marks(folder: str, out: Path) -> None:
    import matplotlib.pyplot as plt
    from sklearn.manifold import TSNE

    scorer = load_scorer(Path(folder))
    assert isinstance(scorer, CrossEncoderScorer)
    limit = scorer.model.max_seq_length or 128
    figure, panels = plt.subplots(len(SETS), len(MARKS), figsize=(9, 9))
    for row, dataset in enumerate(SETS):
        for column, (task, mark) in enumerate(MARKS.items()):
            given = asked(dataset, task, scorer.model.tokenizer, limit)
            states, right = mark_states(scorer.model, given)
            points = TSNE(init="pca", random_state=0).fit_transform(states)
            panel = panels[row][column]
            for kind, colour in ((False, "tab:blue"), (True, "tab:orange")):
                panel.scatter(*points[right == kind].T, s=3, c=colour)
            panel.set(title=f"{dataset} {mark}", xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(out)


def curves(out: Path) -> None:
    """Validation scores over minutes of training, for the arms that have run."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12, 4))
    for name in MAIN:
        if RESULTS.get(name, "training") is None:
            continue
        curve = RESULTS.curve(name)
        for panel, score in zip(panels, ("r10_at_1", "adversarial_r10_at_1", "planted_first"), strict=True):
            panel.plot([point["minutes"] for point in curve], [point[score] for point in curve], label=name)
            panel.set(title=score, xlabel="minutes of training")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(out)


def main(folder: str) -> None:
    map_of_marks(folder, HERE / "marks.png")
    curves(HERE / "curves.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
