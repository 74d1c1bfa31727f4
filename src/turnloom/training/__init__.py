"""Train an ordinary SentenceTransformer from a recipe and a dialogue table."""

from __future__ import annotations

from turnloom.training.conversation import train_conversation
from turnloom.training.recipe import Recipe, load_recipe, recipe_names, recipe_text, trains_conversation
from turnloom.training.run import TrainResult, train
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.training.vector_run import VectorResult

__all__ = [
    "ConversationRecipe",
    "Recipe",
    "TrainResult",
    "VectorResult",
    "load_recipe",
    "recipe_names",
    "recipe_text",
    "train",
    "train_conversation",
    "trains_conversation",
]
