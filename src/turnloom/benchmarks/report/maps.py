"""Maps of the embedding space as in DSE's Figure 1: intents with out-of-scope messages, questions with answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from turnloom.benchmarks.data import labelled
from turnloom.benchmarks.metrics import normalise_rows
from turnloom.benchmarks.report.drawing import Cloud, Points, cloud_map, figure, legend
from turnloom.benchmarks.tasks.response_selection import blocks, selection_pairs
from turnloom.runtime.encoder import Vectors

__all__ = ["INTENT_TASK", "PAIR_TASK", "intent_maps", "pair_maps"]

INTENTS, STRANGERS, PAIRS = 12, 120, 30
INTENT_TASK, PAIR_TASK = "oos-1shot-clinc150", "select-amazon_qa"
"""Which tasks leave the vectors that the maps need."""
Lookup = Callable[[Sequence[str]], Vectors | None]
_Drawn = tuple[str, list[Cloud]]


def _plane(vectors: Vectors, perplexity: float) -> Points:
    """Where t-SNE puts the vectors: by cosine, from their principal axes, the same every time."""
    from sklearn.manifold import TSNE

    unit = normalise_rows(vectors)
    perplexity = min(perplexity, (len(unit) - 1) / 3)
    return np.asarray(TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(unit), np.float64)


def _intents() -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Every so many intents in alphabetical order, their test messages, and some messages out of scope."""
    data = labelled("clinc150", "test")
    names = sorted(set(data.labels))
    chosen = names[:: max(1, len(names) // INTENTS)][:INTENTS]
    messages = {
        name: [text for text, label in zip(data.texts, data.labels, strict=True) if label == name] for name in chosen
    }
    strangers = labelled("clinc150", "oos_test").texts[:STRANGERS]
    return [text for texts in messages.values() for text in texts] + strangers, messages, strangers


def _maps(
    models: Mapping[str, Lookup], texts: Sequence[str], perplexity: float, draw: Callable[[str, Points], _Drawn]
) -> tuple[str, list[str]]:
    """A map a model with one legend below, and the names of the models without vectors."""
    drawn, missing, clouds = [], [], list[Cloud]()
    for model, lookup in models.items():
        vectors = lookup(texts)
        if vectors is None:
            missing.append(model)
        else:
            drawing, clouds = draw(model, _plane(vectors, perplexity))
            drawn.append(figure(drawing, model))
    return (f'<div class="maps">{"".join(drawn)}</div>{legend(clouds)}' if drawn else ""), missing


def intent_maps(models: Mapping[str, Lookup]) -> tuple[str, list[str]]:
    """A map a model of some intents and out-of-scope messages, and the names of the models without vectors."""
    texts, messages, strangers = _intents()

    def draw(model: str, points: Points) -> _Drawn:
        clouds, start = [Cloud("out of scope", points[len(texts) - len(strangers) :], None)], 0
        for number, (name, members) in enumerate(messages.items()):
            clouds.append(Cloud(name.replace("_", " "), points[start : start + len(members)], number))
            start += len(members)
        title = f"t-SNE map of {len(messages)} intents and out-of-scope messages by {model}"
        return cloud_map(title, clouds), clouds

    return _maps(models, texts, 30, draw)


def pair_maps(models: Mapping[str, Lookup]) -> tuple[str, list[str]]:
    """A map a model of questions joined to their answers, and the names of the models without vectors."""
    pairs = blocks(selection_pairs("amazon_qa"), 0)[0][:PAIRS]

    def draw(model: str, points: Points) -> _Drawn:
        questions, answers = points[: len(pairs)], points[len(pairs) :]
        clouds = [Cloud("question", questions, 11), Cloud("its answer, joined by a line", answers, 1)]
        title = f"t-SNE map of {len(pairs)} questions and their answers by {model}"
        return cloud_map(title, clouds, list(zip(questions, answers, strict=True))), clouds

    return _maps(models, [*(pair.context[0] for pair in pairs), *(pair.reply for pair in pairs)], 10, draw)
