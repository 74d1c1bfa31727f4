"""Train an ordinary SentenceTransformer from a recipe and a dialogue table."""

from __future__ import annotations

from turnloom.training.conversation import train_conversation
from turnloom.training.recipe import Recipe, load_recipe, recipe_names, recipe_text, trained_on_vectors
from turnloom.training.rerank import train_rerank
from turnloom.training.run import TrainResult, train
from turnloom.training.vector_recipe import ConversationRecipe, RerankRecipe
from turnloom.training.vector_run import VectorResult

__all__ = [
    "ConversationRecipe",
    "Recipe",
    "RerankRecipe",
    "TrainResult",
    "VectorResult",
    "load_recipe",
    "recipe_names",
    "recipe_text",
    "train",
    "train_conversation",
    "train_rerank",
    "trained_on_vectors",
]
