"""Semantic compression (TaDSE): mix an utterance's embedding with that of its template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.runtime.encoder import model_routes
from turnloom.runtime.protocols import Vectors, unit_rows

WEIGHTS = tuple(step / 10 for step in range(11))


class SemanticCompression:
    """A SentenceTransformer whose `encode` returns `weight * template + (1 - weight) * utterance` (TaDSE, equation 5).

    Both vectors are normalised before mixing, so that a weight means the same for every model. The result is normalised
    too. A model without a route for templates encodes them like utterances.

    Args:
        model: The SentenceTransformer.
        to_templates: Turns utterances into the texts of their templates, such as `turnloom.views.templates.templater`.
        weight: The template's weight, from 0 (none) to 1. Choose it on validation data with `choose_weight`.
    """

    def __init__(self, model: Any, to_templates: Callable[[Sequence[str]], Sequence[str]], weight: float) -> None:
        if not 0 <= weight <= 1:
            raise TurnloomError(f"the weight of templates is {weight}", "choose one from 0 to 1")
        self.model, self.weight = model, weight
        self._to_templates = to_templates
        self._route = {"task": "template"} if "template" in model_routes(model) else {}

    def parts(self, texts: Sequence[str], **options: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of utterances and those of their templates."""
        utterances = self.model.encode(list(texts), **options)
        templates = self.model.encode(list(self._to_templates(texts)), **self._route, **options)
        return unit_rows(utterances), unit_rows(templates)

    def encode(self, sentences: str | Sequence[str], **options: Any) -> Any:
        """Return vectors as `SentenceTransformer.encode` does; options are passed on to it."""
        as_tensor = options.pop("convert_to_tensor", False)
        one = isinstance(sentences, str)
        texts = [sentences] if isinstance(sentences, str) else sentences
        vectors = mixed(*self.parts(texts, **options), self.weight)
        found: Any = vectors[0] if one else vectors
        if not as_tensor:
            return found
        import torch

        return torch.from_numpy(found)


def mixed(utterances: Vectors, templates: Vectors, weight: float) -> Vectors:
    """Mix the vectors of utterances with those of their templates."""
    return unit_rows(weight * templates + (1 - weight) * utterances)


def choose_weight(
    score: Callable[[float], float], weights: Sequence[float] = WEIGHTS
) -> tuple[float, dict[float, float]]:
    """Return the weight with the best score, and all scores. If weights tie, the smallest wins.

    Args:
        score: Returns the score of a weight on validation data.
        weights: The weights to try.

    Example:
        >>> choose_weight(lambda weight: -abs(weight - 0.3))[0]
        0.3
    """
    scores = {weight: score(weight) for weight in weights}
    return max(weights, key=lambda weight: (scores[weight], -weight)), scores
