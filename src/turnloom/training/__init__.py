"""Train an ordinary SentenceTransformer from a recipe and a dialogue table."""

from __future__ import annotations

from turnloom.training.conversation import ConversationResult, train_conversation
from turnloom.training.conversation_recipe import ConversationRecipe
from turnloom.training.recipe import Recipe, load_recipe, recipe_names, recipe_text, trains_conversation
from turnloom.training.run import TrainResult, train

__all__ = [
    "ConversationRecipe",
    "ConversationResult",
    "Recipe",
    "TrainResult",
    "load_recipe",
    "recipe_names",
    "recipe_text",
    "train",
    "train_conversation",
    "trains_conversation",
]
