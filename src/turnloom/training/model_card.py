"""The model card: what the model is, what it was made of, how well it does, and how to use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

import turnloom
from turnloom.corpus.catalog import load_catalog
from turnloom.runtime.context_format import ContextFormat
from turnloom.training.recipe import Recipe

__all__ = ["write_card"]

_USE = """```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{folder}")
meaning = model.encode(["where is my parcel?", "my package has not arrived"])
```
"""
_USE_HEADS = """
It has three ways to look at a text: what it means (`encode`), what a conversation calls for (`encode_query`), and what
a reply answers (`encode_document`). The last two are compared with each other:

```python
contexts = model.encode_query(["where is my parcel?"])
replies = model.encode_document(["It left our warehouse yesterday.", "You are welcome!"])
print(contexts @ replies.T)
```

A conversation is one text: its turns, the oldest first, joined by {joint}. {turns} Turnloom joins and cuts
conversations itself, as `turnloom.json` says.
"""
_USE_TEMPLATES = """
It has a layer of its own for templates, which are utterances with their slots emptied:
`model.encode(templates, task="template")`.
`turnloom.runtime.SemanticCompression` mixes both into one vector.
"""
_USE_RERANKER = """It scores how well a reply continues a conversation; higher is better. Turns end with `{end}`:

```python
from sentence_transformers import CrossEncoder

model = CrossEncoder("{folder}")
context = "where is my parcel? {end} could you give me the order number? {end} it is 4471 {end}"
print(model.predict([(context, "It left our warehouse yesterday. {end}"), (context, "You are welcome! {end}")]))
```

Turnloom writes the turns that way itself:

```python
from pathlib import Path

from turnloom.runtime.scorer import load_scorer

scorer = load_scorer(Path("{folder}"))
scorer.score(["where is my parcel?"], ["It left our warehouse yesterday.", "You are welcome!"])
```
"""


def _contexts(context: ContextFormat) -> dict[str, str]:
    joint = f"`{context.separator}`" if context.separator else "the tokenizer's separator token"
    most = context.max_turns
    turns = "All turns are read." if most is None else f"Give at most the last {most}: it has learned from no more."
    return {"joint": joint, "turns": turns}


def _use(recipe: Recipe, name: str, context: ContextFormat) -> str:
    if recipe.reranks:
        return _USE_RERANKER.format(folder=name, end=recipe.model.context.separator or "[SEP]")
    text = _USE.format(folder=name)
    if not recipe.keep_heads:
        return text
    if "template" in recipe.stages[-1].objective.kept_routes:
        return text + _USE_TEMPLATES
    return text + _USE_HEADS.format(**_contexts(context))


def _front_matter(recipe: Recipe, base: str) -> str:
    front: dict[str, Any] = {
        "language": ["en"],
        "library_name": "sentence-transformers",
        "pipeline_tag": "text-ranking" if recipe.reranks else "sentence-similarity",
        "tags": list(dict.fromkeys(["sentence-transformers", "dialogue", "turnloom", recipe.name])),
    }
    if base:
        front["base_model"] = base
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n"


def _sources(rows: dict[str, int]) -> str:
    catalog = load_catalog()
    lines = ["| source | pairs | licence |", "|---|---|---|"]
    for source, count in sorted(rows.items(), key=lambda item: -item[1]):
        licence = catalog[source].licence if source in catalog else "not in the catalog"
        lines.append(f"| {source} | {count:,} | {licence} |")
    return "\n".join(lines)


def _curve(curve: Sequence[dict[str, float]]) -> str:
    if not curve:
        return "No validation was asked for.\n"
    names = [name for name in curve[-1] if name not in ("step", "minutes")]
    lines = [f"| step | minutes | {' | '.join(names)} |", "|" + "---|" * (len(names) + 2)]
    for point in curve:
        cells = [f"{point[name]:.2f}" if name in point else "" for name in names]
        lines.append(f"| {int(point['step']):,} | {point['minutes']:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_card(
    recipe: Recipe,
    *,
    name: str,
    base: str,
    rows: dict[str, int],
    seen: dict[str, float],
    curve: Sequence[dict[str, float]],
    citations: Sequence[str],
    context: ContextFormat,
) -> str:
    """The text of a model card; no `base` means random weights; `seen` are steps, pairs, tokens and minutes."""
    start = f"`{base}`" if base else "random weights"
    kind = "re-ranker" if recipe.reranks else "encoder"
    facts = ", ".join(f"{value:,.0f} {unit}" for unit, value in seen.items())
    # The folder of the base model says something of somebody's machine and nothing of the model.
    named = recipe.model_copy(update={"model": recipe.model.model_copy(update={"start": base or None})})
    settings = yaml.safe_dump(named.model_dump(mode="json"), sort_keys=False)
    papers = "".join(f"```bibtex\n{citation.strip()}\n```\n" for citation in citations if citation.strip())
    return "\n".join(
        [
            _front_matter(recipe, base),
            f"# {name}\n",
            f"A dialogue {kind}: Turnloom {turnloom.__version__}, recipe `{recipe.name}`, from {start}.\n",
            "## Use\n",
            _use(recipe, name, context),
            "## Training\n",
            f"{facts}.\n",
            _sources(rows),
            "\nNo labels were used. The data's licences are those of the sources above.\n",
            "## Validation\n",
            _curve(curve),
            "## What to know\n",
            "It has learned from these conversations: it carries their language, their domains and their biases, and "
            "it says how well texts fit, never whether they are true.\n",
            "## Recipe\n",
            f"```yaml\n{settings}```\n",
            "## Papers\n" if papers else "",
            papers,
        ]
    )
