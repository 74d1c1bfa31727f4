"""NT-Xent in its three forms; with an utterance paired with itself it is SimCSE."""

from __future__ import annotations

from typing import Any

from turnloom.objectives.contrast import Contrast, Form
from turnloom.objectives.loss import AnyHead


class NTXent(Contrast):
    """The normalised, temperature-scaled cross-entropy (Chen et al., 2020; SimCSE: Gao et al., 2021).

    Formula:
        With `s_ij = cos(x_i, x_j) / temperature` and the positive's similarity `p`, the mean over anchors of
        `-log( e^p / (e^p + sum_j exp(s_ij)) )`, with

        - `form="simclr"`: 2M anchors, `j` over the other 2M - 2 texts (SimCLR, Equation 1)
        - `form="symmetric"`: 2M anchors, `j` over the M - 1 other texts of the other side
        - `form="forward"`: the M contexts as anchors, `j` over the M - 1 other replies (SimCSE, Equation 1)

    Inputs:
        Columns (context, reply, negative...). Further columns are negatives of every context (SimCSE, Equation 5). For
        unsupervised SimCSE, both columns hold the same utterance, and dropout makes them differ.

    When to use:
        As a baseline, and for pairs whose two sides differ in nature ("symmetric").

    Relations to other losses:
        `HardNegativeContrast` weights the negatives, `InverseFrequencyContrast` the pairs. "forward" without masks is
        sentence-transformers' `MultipleNegativesRankingLoss` with `scale = 1 / temperature`.

    Where it differs:
        Equal texts are not negatives unless `mask="none"`.

    Args:
        model: The SentenceTransformer to train.
        form: "simclr", "symmetric" or "forward".
        options: Options of `Contrast`, such as temperature (0.05 in SimCSE), mask and mini_batch_size.
    """

    kind = "nt_xent"
    reference = """
@inproceedings{gao-etal-2021-simcse,
    title = "{S}im{CSE}: Simple Contrastive Learning of Sentence Embeddings",
    author = "Gao, Tianyu and Yao, Xingcheng and Chen, Danqi",
    booktitle = "Proceedings of EMNLP",
    year = "2021",
    pages = "6894--6910",
}
"""

    def __init__(self, model: Any, *, form: Form = "simclr", head: AnyHead = "none", **options: Any) -> None:
        super().__init__(model, form=form, head=head, **options)
