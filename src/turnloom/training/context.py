"""How contexts become text in training, and how many turns the trained model reads of a conversation."""

from __future__ import annotations

from turnloom.runtime.context_format import ContextFormat, read_context_format
from turnloom.runtime.installed import model_folder
from turnloom.training.recipe import Recipe

__all__ = ["context_formats"]


def context_formats(recipe: Recipe, *, goes_on: bool) -> tuple[ContextFormat, ContextFormat]:
    """The format of training rows, and the one that is saved with the model.

    A recipe's own format holds for both; without one, the base model's does. They differ in `max_turns` unless the
    recipe sets it: rows keep all turns that their view gives them, and the model later reads as many as it has learned
    from, since more only blur what a context head knows:

    - A context head that is kept reads as many turns as the longest context of the last stage. If it goes on from the
      base model's head and that one reads more, it reads as many as that one.
    - An encoder without a context head reads as many as its base model, but no fewer than its view has.
    - A cross-encoder keeps its setting.

    Args:
        recipe: What is trained.
        goes_on: Whether training goes on from a context head of the base model.
    """
    base = read_context_format(model_folder(recipe.model.start)) if recipe.model.start else ContextFormat()
    own = recipe.model.context
    context = base if own == ContextFormat() else own
    if recipe.reranks or own.max_turns is not None:
        return context, context
    rows = context.model_copy(update={"max_turns": None})
    return rows, rows.model_copy(update={"max_turns": _turns_to_read(recipe, base.max_turns, goes_on)})


def _turns_to_read(recipe: Recipe, before: int | None, goes_on: bool) -> int | None:
    """The most turns that a trained encoder reads; None for all."""
    last = recipe.stages[-1]
    sizes = [part.view.context_turns for part in (last, *last.also)]
    has_context_head = recipe.keep_heads and "query" in last.objective.kept_routes
    if None in sizes or (before is None and not has_context_head):
        return None
    learned = max(size for size in sizes if size is not None)
    return max(learned, before or 0) if goes_on or not has_context_head else learned
