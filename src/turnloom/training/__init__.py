"""Training: a recipe and a dialogue table in, an ordinary SentenceTransformer folder out."""

from __future__ import annotations

from turnloom.training.recipe import Recipe, load_recipe, recipe_names, recipe_text
from turnloom.training.run import TrainResult, train

__all__ = ["Recipe", "TrainResult", "load_recipe", "recipe_names", "recipe_text", "train"]
