"""WMDC: pairs with frequent responses weigh less."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.contrast import Contrast
from turnloom.objectives.loss import AnyHead


class InverseFrequencyContrast(Contrast):
    """The loss of WMDC: symmetric NT-Xent times the inverse response frequency.

    Formula:
        Appendix A, Equations 4 and 5. With `s(c, r) = cos(c, r) / temperature`, the mean over pairs of `IRF_i l_i`:

        - `l_i = -1/2 log( exp s(c_i, r_i) / sum_j exp s(c_i, r_j) )
          -1/2 log( exp s(r_i, c_i) / sum_j exp s(r_i, c_j) )`
        - `IRF_i = 1 / (log freq_i + 1)`, with the natural logarithm and the frequency of response i in the training
          set.

    Inputs:
        Columns (context, response) and `label`: how often the response occurs in the whole training set, at least 1.

    When to use:
        With contexts of several turns, where a few polite responses make up much of the data. For window sizes 1 to w,
        give a trainer w data sets and a dictionary with one of these losses per data set, so that every size has its
        own head.

    Relations to other losses:
        With all frequencies 1 it is `NTXent` with form "symmetric".

    Where it differs:
        The paper keeps equal responses in a batch as negatives at a low weight; here they are not negatives unless
        `mask="none"`. The paper does not say whether weights are normalised; here they are not.

    Args:
        model: The SentenceTransformer to train.
        head: "linear" in the paper (d to d, dropped after training).
        options: Options of `Contrast`, such as temperature (0.05 in the paper), mask and mini_batch_size.
    """

    kind = "inverse_frequency"
    wants_frequencies = True
    reference = """
@misc{wmdc,
    title = "Dialogue Representation Learning: A New Benchmark and Weighted Contrastive Learning Approach",
    author = "Anonymous",
    note = "Submission to ACL",
}
"""

    def __init__(self, model: Any, *, head: AnyHead = "linear", **options: Any) -> None:
        super().__init__(model, form="symmetric", head=head, weighted=True, **options)

    def pair_weights(self, labels: Tensor | None) -> Tensor | None:
        """Return the inverse response frequency of each pair."""
        frequency = super().pair_weights(labels)
        assert frequency is not None
        if bool((frequency < 1).any()):
            raise TurnloomError("a response occurs less than once", "let 'label' hold counts over the training set")
        return 1 / (frequency.log() + 1)
