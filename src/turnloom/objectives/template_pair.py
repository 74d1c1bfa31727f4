"""TaDSE: pull an utterance and its template together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, text_keys
from turnloom.objectives.contrast import Contrast
from turnloom.objectives.gathering import SharedHead
from turnloom.objectives.loss import Loss, Mask, Weight, like_model


class TemplatePair(Loss):
    """The three losses of TaDSE, which bring utterances and their templates together.

    Formula:
        Equations 1 to 4: `L_t + w_u L_u + w_pair L_pair`, each of the form
        `-log( exp(cos(a_i, b_i) / t) / sum_j exp(cos(a_i, b_j) / t) )` each with its own temperature. In `L_t` and
        `L_u` both sides are the same template or utterance under different dropout; in `L_pair` the template is
        compared with utterances. Templates go through their own layer `M_A`.

    Inputs:
        Columns (template, utterance). The model must have dropout, or `L_t` and `L_u` teach nothing.

    When to use:
        On utterances with known slots, annotated or tagged, that are filled in several ways.

    Relations to other losses:
        With all weights but `utterance` 0 it is SimCSE (`NTXent` with form "forward" on copies).

    Where it differs:
        Unless `mask="none"`, utterances of the same template are not negatives in `L_pair`, nor equal templates in
        `L_t`, nor equal utterances in `L_u`. The paper masks nothing, although augmented batches contain many such
        pairs. It prints `M_A` in `L_t` and in compression, not in `L_pair`; here it is in all three, because
        compression adds its output to utterances and only `L_pair` brings the two together.

    Args:
        model: The SentenceTransformer to train.
        template, utterance, pair: The weights of `L_t`, `L_u` (1 in the paper) and `L_pair` (0.5 in the paper).
        temperatures: The temperatures of `L_t`, `L_u` and `L_pair`.
        template_layer: Whether templates go through the layer `M_A`.
        mask, mini_batch_size: As for `Contrast`.
    """

    kind = "template_pair"
    kept_routes = ("template",)
    reference = """
@misc{tadse,
    title = "{T}a{DSE}: Template-aware Dialogue Sentence Embeddings",
    author = "Oh, Minsik and Li, Jiwei and Wang, Guoyin",
    year = "2023",
}
"""

    def __init__(
        self,
        model: Any,
        *,
        template: Weight = 1.0,
        utterance: Weight = 1.0,
        pair: Weight = 0.5,
        temperatures: tuple[float, float, float] = (0.05, 0.05, 0.05),
        template_layer: bool = True,
        mask: Mask = "text",
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        if not (template or utterance or pair):
            raise TurnloomError("all weights of TaDSE's losses are 0", "give at least one")
        self.model = model
        self.weights = {"template": template, "utterance": utterance, "pair": pair}
        self.mask = mask
        parts = [
            Contrast(model, form="forward", temperature=one, mask=mask, mini_batch_size=mini_batch_size)
            for one in temperatures
        ]
        self.losses = nn.ModuleDict(dict(zip(self.weights, parts, strict=True)))
        width = model.get_embedding_dimension()
        self.template_layer: nn.Module = nn.Identity()
        if template_layer:
            layers = nn.Linear(width, width), nn.Tanh()
            self.template_layer = like_model(nn.Sequential(*layers), model)
        self._shared = SharedHead(self.template_layer)

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        del labels
        columns = list(sentence_features)
        if len(columns) != 2:
            raise TurnloomError("TaDSE compares two columns", "give templates and the utterances that fill them")
        keys = [text_keys(column) if self.mask == "text" else None for column in columns]
        # Once per side of each loss: two passes differ by dropout.
        shared = self._shared.parameters()
        templates = [
            functional_call(self.template_layer, shared, (self._embed(columns[0]),))
            for _ in range(self._copies("template"))
        ]
        utterances = [self._embed(columns[1]) for _ in range(self._copies("utterance"))]
        sides = {
            "template": (templates, keys[0]),
            "utterance": (utterances, keys[1]),
            # An utterance's key is its template's here, because all utterances that fill it are correct.
            "pair": (templates[:1] + utterances[:1], keys[0]),
        }
        terms = []
        for name, weight in self.weights.items():
            if weight:
                vectors, key = sides[name]
                part: Any = self.losses[name]
                terms.append(weight * part.contrast(vectors, keys=None if key is None else [key, key]))
        return torch.stack(terms).sum()

    def _copies(self, side: str) -> int:
        """Return how often to encode a side; not at all if no loss needs it."""
        return 2 if self.weights[side] else int(bool(self.weights["pair"]))

    def _embed(self, column: Features) -> Tensor:
        part: Any = self.losses["utterance"]
        found: Tensor = part.embed([dict(column)])[0]
        return found

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {"weights": self.weights, "mask": self.mask, "template_layer": type(self.template_layer).__name__}
