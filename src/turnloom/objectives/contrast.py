"""The core of all contrastive objectives: from columns of texts to a loss over anchors, positives and negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, in_mini_batches, text_keys
from turnloom.objectives.gathering import SharedHead, gather_rows, own_offset, total, world_size
from turnloom.objectives.loss import AnyHead, ContextReplyHeads, Loss, Temperature, build_head, check_choice
from turnloom.objectives.row_terms import Anchors, Weighting, weighted_sum

Form = Literal["simclr", "symmetric", "forward"]
Similarity = Literal["cosine", "dot"]
ContrastMask = Literal["text", "label", "none"]


class Contrast(Loss):
    """A contrastive loss over columns (context, reply, negatives...). The other contrastive objectives configure it.

    With several processes, each compares its own anchors with the candidates of all processes, and the mean of their
    gradients is the gradient of the whole batch. Similarities are computed in at least 32 bits, even under autocast.

    Args:
        model: The SentenceTransformer to train.
        temperature: Divides the similarities ("cosine" or "dot").
        form: "simclr": both sides are anchors, all other texts of both sides are negatives. "symmetric": both sides are
            anchors, the other side's texts are negatives. "forward": contexts are anchors, replies are negatives.
            Further columns are negatives of all contexts.
        weighting: How to weight negatives; see `HardNegativeContrast`.
        head: A module, or the name of one, between encoder and similarity; trained with the encoder.
        mask: "text" excludes candidates that equal the anchor or its positive from the negatives; "label" excludes
            those of pairs with the same label, such as another message with the same intent; "none" keeps all.
        weighted: Whether labels are pair weights. The loss is the mean over anchors of weight times term.
        normalize_weights: Whether to divide by the sum of the weights instead of the number of anchors.
        gather: Whether to use the texts of all processes as candidates.
        mini_batch_size: The number of texts whose activations are in memory at a time; None for all. Costs a second
            forward pass.
        row_chunk: The number of anchors whose similarities are in memory at a time; by default chosen from the batch
            size.
    """

    passed_on: ClassVar[tuple[str, ...]] = ("temperature", "mask", "mini_batch_size")
    settings: ClassVar[tuple[str, ...]] = (
        "temperature",
        "similarity",
        "form",
        "weighting",
        "mask",
        "weighted",
        "normalize_weights",
        "gather",
        "mini_batch_size",
    )

    def __init__(
        self,
        model: Any,
        *,
        temperature: Temperature = 0.05,
        similarity: Similarity = "cosine",
        form: Form = "simclr",
        weighting: Weighting = "none",
        head: AnyHead = None,
        mask: ContrastMask = "text",
        weighted: bool = False,
        normalize_weights: bool = False,
        gather: bool = True,
        mini_batch_size: int | None = None,
        row_chunk: int | None = None,
    ) -> None:
        super().__init__()
        check_choice("form", form, Form)
        check_choice("similarity", similarity, Similarity)
        check_choice("weighting", weighting, Weighting)
        check_choice("mask", mask, ContrastMask)
        if temperature <= 0:
            raise TurnloomError(f"the temperature cannot be {temperature}", "give a number above 0, such as 0.05")
        if mask == "label" and (weighted or self.wants_frequencies):
            raise TurnloomError("labels cannot be weights and masks at once", 'set mask="text" or weighted=False')
        self.model = model
        self.head = build_head(head, model)
        self.temperature = temperature
        self.similarity = similarity
        self.form = form
        self.weighting: Weighting = weighting
        self.mask = mask
        self.weighted = weighted
        self.normalize_weights = normalize_weights
        self.gather = gather
        self.mini_batch_size = mini_batch_size
        self.row_chunk = row_chunk
        self._shared = SharedHead(self.head) if self.head is not None else None

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it; `pair_weights` converts labels to weights."""
        columns = list(sentence_features)
        keys = self.keys(columns, labels)
        return self.contrast(self.embed(columns), keys=keys, weights=self.pair_weights(labels))

    def keys(self, columns: Sequence[Features], labels: Tensor | None) -> list[Tensor] | None:
        """Return a key per text of each column; candidates with the same key are no negatives."""
        if self.mask == "label":
            if labels is None:
                raise TurnloomError('mask="label" needs labels', "add a column 'label' to the training data")
            return [labels.long()] * len(columns)
        return [text_keys(column) for column in columns] if self.mask == "text" else None

    def pair_weights(self, labels: Tensor | None) -> Tensor | None:
        """Return a weight per pair, or None."""
        if not self.weighted:
            return None
        if labels is None:
            raise TurnloomError(f"{type(self).__name__} needs weights", "add a column 'label' to the training data")
        return labels

    def pooled(self, output: Features) -> Tensor:
        """Return the vectors to compare from the model's output."""
        return output["sentence_embedding"]  # type: ignore[no-any-return]

    def embed(self, columns: Sequence[Features]) -> list[Tensor]:
        """Encode each column and apply the head, in mini-batches if requested."""
        through = self._head_of_columns()

        def vectors(column: int) -> Tensor:
            def step(model: Any, features: Features) -> Tensor:
                return through(self.pooled(model(features)), column)

            return in_mini_batches(self.model, columns[column], step, self.mini_batch_size)

        return [vectors(column) for column in range(len(columns))]

    def through_head(self, vectors: Sequence[Tensor]) -> list[Tensor]:
        """Apply the head to vectors, one tensor per column; for callers that encode once and apply several losses."""
        through = self._head_of_columns()
        return [through(side, column) for column, side in enumerate(vectors)]

    def _head_of_columns(self) -> Callable[[Tensor, int], Tensor]:
        """Return a function of vectors and their column, with the head's gradient shared by all processes."""
        head = self.head
        if head is None or self._shared is None:
            return lambda vectors, _: vectors
        parameters = self._shared.parameters()

        def through(vectors: Tensor, column: int) -> Tensor:
            place = (column,) if isinstance(head, ContextReplyHeads) else ()
            found: Tensor = functional_call(head, parameters, (vectors, *place))
            return found

        return through

    def contrast(
        self, vectors: Sequence[Tensor], keys: Sequence[Tensor] | None = None, weights: Tensor | None = None
    ) -> Tensor:
        """Compute the loss from the vectors (pairs, width) of each column and a weight per pair.

        Candidates with the key of an anchor or of its positive are not its negatives.
        """
        if len(vectors) < 2:
            raise TurnloomError("a contrastive loss compares two columns", "give contexts and replies")
        with torch.autocast(vectors[0].device.type, enabled=False):
            vectors = [self._scaled(column) for column in vectors]
            if weights is None:
                weights = vectors[0].new_ones(len(vectors[0]))
            weights = weights.to(vectors[0])
            sides = self._sides(vectors, keys, weights)
            summed = torch.stack([weighted_sum(side, self.weighting, self.row_chunk) for side in sides]).sum()
            # Per process, so that the mean over processes is the mean over all anchors, however they are distributed.
            whole = weights.sum() if self.normalize_weights else weights.new_tensor(float(len(weights)))
            if self.gather:
                whole = total(whole) / world_size()
            whole = whole.masked_fill(whole == 0, 1)  # Without any weight, the loss is 0, not 0 / 0.
            return summed / (whole * len(sides))

    def _scaled(self, vectors: Tensor) -> Tensor:
        """Scale vectors so that dot products are similarities divided by the temperature."""
        vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
        if self.similarity == "cosine":
            vectors = nn.functional.normalize(vectors, dim=1)
        return vectors * float(self.temperature**-0.5)

    def _sides(self, vectors: Sequence[Tensor], keys: Sequence[Tensor] | None, weights: Tensor) -> list[Anchors]:
        """Return each side's anchors with their candidates: the other side, then its own, then negatives."""
        spread = self.gather and world_size() > 1
        everywhere = [gather_rows(column) for column in vectors] if spread else list(vectors)
        keys_everywhere = [gather_rows(column) for column in keys] if spread and keys is not None else keys
        rows = torch.arange(len(weights), device=weights.device)
        if spread:
            rows = rows + own_offset(len(weights), weights.device)
        sides = []
        for anchor, positive in ((0, 1), (1, 0))[: 1 if self.form == "forward" else 2]:
            columns = [positive, anchor] if self.form == "simclr" else [positive]
            starts = [place * len(everywhere[0]) for place in range(len(columns))]
            columns += range(2, len(vectors)) if anchor == 0 else ()
            side_keys = None
            if keys is not None and keys_everywhere is not None:
                side_keys = keys[anchor], keys[positive], torch.cat([keys_everywhere[column] for column in columns])
            candidates = torch.cat([everywhere[column] for column in columns])
            own = torch.stack([rows + start for start in starts], dim=1)
            sides.append(Anchors(vectors[anchor], vectors[positive], candidates, own, side_keys, weights))
        return sides

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {**super().get_config_dict(), "head": "none" if self.head is None else type(self.head).__name__}
