"""Draw maps of cached vectors, as in DSE's Figure 1, and show which intents are confused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from turnloom.benchmarks.data import codes_of, label_codes, labelled, split_pool
from turnloom.benchmarks.metrics import cosine_similarity, normalise_rows
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports, prototypes
from turnloom.benchmarks.tasks.response_selection import blocks, selection_pairs
from turnloom.pages import figure, legend, rows_table
from turnloom.pages.plots import Cloud, Points, cloud_map, heat_map
from turnloom.runtime.protocols import Vectors

INTENTS, STRANGERS, PAIRS = 12, 120, 30
CONFUSED, SHOTS, MISTAKES, SHOWN, CONFUSED_MODELS = "banking77", 5, 15, 20, 2
INTENT_TASK, PAIR_TASK, CONFUSION_TASK = "oos-1shot-clinc150", "select-amazon_qa", f"intent-{SHOTS}shot-{CONFUSED}"
"""The tasks that cache the vectors for maps and confusions."""
Lookup = Callable[[Sequence[str]], Vectors | None]
Drawn = tuple[Markup, list[str]]
"""The drawing, and the names of the models without vectors."""


def _plane(vectors: Vectors, perplexity: float) -> Points:
    """Return t-SNE coordinates: by cosine, starting from the principal axes, reproducible."""
    from sklearn.manifold import TSNE

    unit = normalise_rows(vectors)
    perplexity = min(perplexity, (len(unit) - 1) / 3)
    return np.asarray(TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(unit), np.float64)


def _maps(
    models: Mapping[str, Lookup],
    texts: Sequence[str],
    perplexity: float,
    draw: Callable[[str, Points], tuple[Markup, list[Cloud]]],
) -> Drawn:
    """Draw one map per model, with one legend below."""
    drawn, missing, clouds = Markup(), [], list[Cloud]()
    for model, lookup in models.items():
        vectors = lookup(texts)
        if vectors is None:
            missing.append(model)
        else:
            drawing, clouds = draw(model, _plane(vectors, perplexity))
            drawn += figure(drawing, model)
    return (Markup('<div class="maps">{}</div>{}').format(drawn, legend(clouds)) if drawn else drawn), missing


def intent_maps(models: Mapping[str, Lookup]) -> Drawn:
    """Draw one map per model of evenly chosen intents in alphabetical order, and out-of-scope messages."""
    data = labelled("clinc150", "test")
    names = sorted(set(data.labels))
    chosen = names[:: max(1, len(names) // INTENTS)][:INTENTS]
    messages = [
        (label, text) for name in chosen for text, label in zip(data.texts, data.labels, strict=True) if label == name
    ]
    strangers = labelled("clinc150", "oos_test").texts[:STRANGERS]

    def draw(model: str, points: Points) -> tuple[Markup, list[Cloud]]:
        labels = np.array([label for label, _ in messages])
        clouds = [Cloud("out of scope", points[len(messages) :], None)]
        for number, name in enumerate(chosen):
            clouds.append(Cloud(name.replace("_", " "), points[: len(messages)][labels == name], number))
        return cloud_map(f"t-SNE map of {len(chosen)} intents and out-of-scope messages by {model}", clouds), clouds

    return _maps(models, [*(text for _, text in messages), *strangers], 30, draw)


def pair_maps(models: Mapping[str, Lookup]) -> Drawn:
    """Draw one map per model of questions joined to their answers."""
    pairs = blocks(selection_pairs("amazon_qa"), 0)[0][:PAIRS]

    def draw(model: str, points: Points) -> tuple[Markup, list[Cloud]]:
        questions, answers = points[: len(pairs)], points[len(pairs) :]
        clouds = [Cloud("question", questions, 11), Cloud("its answer, joined by a line", answers, 1)]
        title = f"t-SNE map of {len(pairs)} questions and their answers by {model}"
        return cloud_map(title, clouds, list(zip(questions, answers, strict=True))), clouds

    return _maps(models, [*(pair.context[0] for pair in pairs), *(pair.reply for pair in pairs)], 10, draw)


@dataclass(frozen=True)
class Confusion:
    """Intents, and how often a row's intent was labelled as a column's."""

    names: list[str]
    counts: npt.NDArray[np.int64]

    def worst_pairs(self, count: int) -> list[tuple[int, int]]:
        """Return the most frequent mistakes as (row, column), most frequent first."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[:count]
        pairs = [divmod(int(index), len(self.names)) for index in order]
        return [(row, column) for row, column in pairs if wrong[row, column]]

    def worst_intents(self, count: int) -> list[int]:
        """Return the intents with the most mistakes, in either direction, sorted by name."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        return sorted(np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")[:count].tolist())


def _confusion(lookup: Lookup) -> Confusion | None:
    """Return the confusions in the first draw of the five-shot task; None if vectors are missing."""
    pool = split_pool(CONFUSED)
    names, codes = label_codes(pool.train.labels)
    supports = draw_supports(codes, SHOTS, 0)
    vectors = lookup([*pool.test.texts, *(pool.train.texts[index] for index in supports)])
    if vectors is None:
        return None
    test, examples = vectors[: len(pool.test)], vectors[len(pool.test) :]
    centres = prototypes(np.asarray(examples, np.float64), codes[supports], len(names))
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, (codes_of(pool.test.labels, names), cosine_similarity(test, centres).argmax(axis=1)), 1)
    return Confusion(names, counts)


def _confusion_figure(model: str, confusion: Confusion) -> Markup:
    """Draw the most frequent mistakes as a table, and a heat map of the intents with the most."""
    counts, names = confusion.counts, [name.replace("_", " ") for name in confusion.names]
    rows = [
        (names[row], names[column], int(counts[row, column]), int(counts[row].sum()))
        for row, column in confusion.worst_pairs(MISTAKES)
    ]
    chosen = confusion.worst_intents(SHOWN)
    title = f"How often {model} takes one intent for another"
    drawing = heat_map(title, counts[np.ix_(chosen, chosen)], [names[index] for index in chosen])
    caption = (
        f"{model}: the {len(chosen)} intents with most mistakes; a row's intent was taken for a column's, which has "
        "the number of the row. Right answers are left out."
    )
    return Markup(
        "<h3>The {} most frequent mistakes of {}</h3>{}"
        '<div class="scroll heat" role="region" tabindex="0" aria-label="Heat map">{}</div>'
    ).format(len(rows), model, rows_table(["intent", "taken for", "messages", "of"], rows), figure(drawing, caption))


def confusions(models: Mapping[str, Lookup]) -> Drawn:
    """Show which intents of BANKING77 the first models confuse, by five-shot prototypes."""
    drawn, missing = Markup(), []
    for model in list(models)[:CONFUSED_MODELS]:
        confusion = _confusion(models[model])
        if confusion is None:
            missing.append(model)
        else:
            drawn += _confusion_figure(model, confusion)
    return drawn, missing
