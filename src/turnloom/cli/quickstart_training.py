"""Train the model of `turnloom quickstart`: on texts, or on vectors if the base model cannot be fine-tuned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from turnloom.cli.console import console, say, share_progress
from turnloom.cli.quickstart_scores import VECTORS, encode_once
from turnloom.errors import TurnloomError
from turnloom.words import WORDS

ON_TEXTS, ON_VECTORS = "dse-heads", "conversation"
LARGEST_BATCH, SMALLEST_BATCH = 128, 8
LEARNED = "learned-words"
MOST_READ = 2_000
"""So many turns show whether a model knows their language."""


def learns_words(base: Path) -> bool:
    """Whether the base model is to be learned from the conversations; a folder of that name takes precedence."""
    return str(base) == WORDS and not base.exists()


def fit_words(out: Path) -> Path:
    """Learn a lexical encoder from the conversations to learn from, unless it is there; return its folder."""
    from turnloom.runtime.lexical import SPEC, fit_lexical

    folder = out / LEARNED
    if not (folder / SPEC).exists():
        with console.status("counting words …"):
            fit_lexical(_texts(out / "train"), folder)
    return folder


def warn_if_unknown(base: Path, out: Path) -> None:
    """Say so if the base model doesn't know the language of the conversations."""
    from turnloom.runtime import load_encoder
    from turnloom.runtime.coverage import MOST_UNKNOWN, unknown_share

    share = unknown_share(load_encoder(base), islice(_texts(out / "train"), MOST_READ))
    if share > MOST_UNKNOWN:
        say(
            f"{base} does not know {100 * share:.0f} % of the words. Fix: choose a model that lists your language, or "
            f"--start {WORDS} and another --out"
        )


def _texts(table: Path) -> Iterator[str]:
    from turnloom.corpus import read_table

    return (turn["text"] for row in read_table(table).select("turns").iter_rows() for turn in row["turns"])


def choose_recipe(base: Path) -> str:
    """Return the default recipe for a base model: one that reads vectors, if it can learn more from them."""
    from turnloom.runtime import load_encoder
    from turnloom.training.base_model import is_frozen

    if learns_words(base) or reads_conversations(base):
        return ON_VECTORS
    return ON_VECTORS if is_frozen(load_encoder(base)) else ON_TEXTS


def reads_conversations(base: Path) -> bool:
    """Whether a base model has a conversation encoder, which can be adapted."""
    from turnloom.runtime import load_encoder
    from turnloom.runtime.conversation import ConversationEncoder

    return isinstance(load_encoder(base), ConversationEncoder)


def train_model(out: Path, base: Path, recipe: str, minutes: float) -> None:
    """Train on the conversations in a quickstart's folder, or continue an interrupted run; a finished one stays."""
    from turnloom.training.folder import WORK

    model = out / "model"
    if not (model / WORK / "result.json").exists():
        _train(out, model, base, recipe, minutes)
    seen = json.loads((model / WORK / "result.json").read_text(encoding="utf-8"))
    learned = f"{seen['pairs']:,} pairs" if "pairs" in seen else f"{seen['contexts']:,} contexts"
    say(f"{seen['steps']:,} steps over {learned}: {model}")


def _train(out: Path, model: Path, base: Path, recipe: str, minutes: float) -> None:
    from turnloom.corpus import read_table
    from turnloom.corpus.inspect import count_pairs
    from turnloom.training import trained_on_vectors
    from turnloom.training.folder import WORK

    trains = trained_on_vectors(recipe)
    if trains == "rerank":
        raise TurnloomError(f"the recipe {recipe!r} trains a re-ranker", f"choose another one, such as {ON_TEXTS}")
    pairs = count_pairs(read_table(out / "train"))
    if pairs < SMALLEST_BATCH:
        raise TurnloomError(f"there are {pairs} pairs of turns to learn from", "give more conversations")
    options = {"minutes": minutes, "resume": (model / WORK / "recipe.yaml").exists()}
    if trains:
        _train_on_vectors(out, model, base, recipe, options)
    else:
        _train_on_texts(out, model, base, recipe, options, pairs)


def _train_on_texts(out: Path, model: Path, base: Path, recipe: str, options: dict[str, Any], pairs: int) -> None:
    from turnloom.training import load_recipe, train

    batch = min(LARGEST_BATCH, 2 ** (pairs.bit_length() - 1))
    changes = {"model.start": str(base), "stages.0.batch_size": str(batch), "report_to": "none"}
    wanted = load_recipe(recipe, changes)
    with share_progress() as show:
        train(wanted, [out / "train"], model, on_progress=show, **options)


def _train_on_vectors(out: Path, model: Path, base: Path, recipe: str, options: dict[str, Any]) -> None:
    """Encode the conversations to learn from; the model's later vectors go to the same folder and reuse these."""
    from turnloom.training import ConversationRecipe, load_recipe, train_conversation

    vectors = out / VECTORS / model.name
    adapt = recipe == ON_VECTORS and reads_conversations(base)
    wanted = load_recipe(recipe, {"model.start": str(base)}, adapt=adapt, schema=ConversationRecipe)
    say("Each distinct turn is encoded once; then the minutes of training begin.")
    encode_once(base, out / "train", vectors)
    with share_progress() as show:
        train_conversation(wanted, [vectors], model, on_progress=show, **options)
