"""TOD-BERT: a context selects its response among those of the batch."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from turnloom.objectives.columns import Features
from turnloom.objectives.contrast import Contrast, Similarity
from turnloom.objectives.loss import Mask, Sum, Temperature, Weight, check_choice
from turnloom.objectives.masked_language import MaskedLanguage

Pooling = Literal["cls", "model"]


class ResponseContrast(Contrast):
    """The response contrastive loss of TOD-BERT (Wu et al., 2020).

    Formula:
        Equation 2: with the matrix of dot products `c_i . r_j` of [CLS] states, the mean over contexts of
        `-log( exp(c_i . r_i) / sum_j exp(c_i . r_j) )`.

    Inputs:
        Columns (context, response). Contexts contain speaker marks.

    When to use:
        To reproduce TOD-BERT: summed with `MaskedLanguage` on the context, see `ResponseContrastAndWords`.

    Relations to other losses:
        With `similarity="cosine"`, a temperature and `pooling="model"` it is `NTXent` with form "forward".

    Where it differs:
        Contexts with the same response are not negatives of each other unless `mask="none"`; the published code keeps
        them. Like the published code, the default neither normalises vectors nor uses a temperature.

    Args:
        model: The SentenceTransformer to train.
        pooling: "cls" for the state of the first token, whatever the model's pooling; "model" for the model's own
            embedding.
        similarity: "dot", or "cosine" with a temperature such as 0.05.
        temperature: 1 as published.
        options: Options of `Contrast`, such as mask and mini_batch_size.
    """

    settings = (*Contrast.settings, "pooling")
    reference = """
@inproceedings{wu-etal-2020-tod,
    title = "{TOD}-{BERT}: Pre-trained Natural Language Understanding for Task-Oriented Dialogue",
    author = "Wu, Chien-Sheng and Hoi, Steven C.H. and Socher, Richard and Xiong, Caiming",
    booktitle = "Proceedings of EMNLP",
    year = "2020",
    pages = "917--929",
}
"""

    def __init__(
        self,
        model: Any,
        *,
        pooling: Pooling = "cls",
        similarity: Similarity = "dot",
        temperature: Temperature = 1.0,
        **options: Any,
    ) -> None:
        check_choice("pooling", pooling, Pooling)
        super().__init__(model, form="forward", similarity=similarity, temperature=temperature, **options)
        self.pooling = pooling

    def pooled(self, output: Features) -> Tensor:
        """Return the state of the first token, or the model's own embedding."""
        if self.pooling == "model":
            return super().pooled(output)
        states = output["token_embeddings"]
        first = output["attention_mask"].long().argmax(1)
        return states[first.new_tensor(range(len(first))), first]  # type: ignore[no-any-return]


class ResponseContrastAndWords(Sum):
    """TOD-BERT's full loss, called `response_contrast` in recipes: also predicts masked words of the contexts.

    `masked_language_weight` is the weight of `MaskedLanguage` on the contexts; other options go to `ResponseContrast`.
    """

    kind = "response_contrast"

    def __init__(
        self,
        model: Any,
        *,
        pooling: Pooling = "cls",
        similarity: Similarity = "dot",
        temperature: Temperature = 1.0,
        mask: Mask = "text",
        masked_language_weight: Weight = 1.0,
        mini_batch_size: int | None = None,
    ) -> None:
        contrast = ResponseContrast(
            model,
            pooling=pooling,
            similarity=similarity,
            temperature=temperature,
            mask=mask,
            mini_batch_size=mini_batch_size,
        )
        parts: list[tuple[nn.Module, float]] = [(contrast, 1.0)]
        if masked_language_weight:
            parts.append((MaskedLanguage(model, columns=[0], mini_batch_size=mini_batch_size), masked_language_weight))
        super().__init__(*parts)
