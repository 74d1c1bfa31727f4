"""DSE: consecutive utterances, with negatives weighted by hardness."""

from __future__ import annotations

from typing import Any

from turnloom.objectives.contrast import Contrast
from turnloom.objectives.loss import AnyHead
from turnloom.objectives.row_terms import Weighting


class HardNegativeContrast(Contrast):
    """The loss of DSE (Zhou et al., 2022): NT-Xent over both sides, with more weight on closer negatives.

    Formula:
        Equations 1 to 3. With `s_ij = cos(x_i, x_j) / temperature`, the positive's similarity `p`, and `j` over the
        other 2M - 2 texts of the batch: `a_ij = exp(s_ij) / mean_j exp(s_ij)` and, averaged over 2M anchors,

        - `weighting="outside"`: `-log( e^p / (e^p + sum_j a_ij exp(s_ij)) )`
        - `weighting="inside"`: `-log( e^p / (e^p + sum_j exp(a_ij s_ij)) )`
        - `weighting="none"`: `-log( e^p / (e^p + sum_j exp(s_ij)) )`

    Inputs:
        Columns (utterance, next utterance, negative...). Further columns are negatives of every first utterance.

    When to use:
        On unlabelled dialogues, with batches of hundreds of pairs.

    Relations to other losses:
        `weighting="none"` is `NTXent` with form "simclr". sentence-transformers' `MultipleNegativesRankingLoss` has
        a hardness too, but adds the similarity, unscaled and without gradient, to the logit of a negative.

    Where it differs:
        The paper prints the weight inside the exponent (Equation 1); its published code has it outside, which is the
        default here. "inside" uses weight 1 for the positive and takes the mean of Equation 2 over the 2M - 2
        negatives. The gradient flows through the weight in both. Neither masks equal texts; here, equal texts are not
        negatives unless `mask="none"`.

    Args:
        model: The SentenceTransformer to train.
        weighting: "outside" (published code), "inside" (as printed) or "none".
        head: "mlp" in the paper (d to 128, dropped after training).
        options: Options of `Contrast`, such as temperature (0.05 in the paper), mask and mini_batch_size.
    """

    kind = "hard_negative"
    reference = """
@inproceedings{zhou-etal-2022-learning,
    title = "Learning Dialogue Representations from Consecutive Utterances",
    author = "Zhou, Zhihan and Zhang, Dejiao and Xiao, Wei and Dingwall, Nicholas and Ma, Xiaofei and Arnold, Andrew and Xiang, Bing",
    booktitle = "Proceedings of NAACL-HLT",
    year = "2022",
    pages = "754--768",
}
"""  # noqa: E501

    def __init__(self, model: Any, *, weighting: Weighting = "outside", head: AnyHead = "mlp", **options: Any) -> None:
        super().__init__(model, form="simclr", weighting=weighting, head=head, **options)
