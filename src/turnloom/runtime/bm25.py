"""BM25 over a set of texts, small enough to read: candidates for retrieval tasks, hard negatives, and a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["BM25"]

K1, B = 1.5, 0.75


class BM25:
    """Okapi BM25 with Lucene's never-negative idf; words are runs of letters and digits in lower case.

    Args:
        documents: What is searched.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        from scipy import sparse
        from sklearn.feature_extraction.text import CountVectorizer

        self._vectorizer = CountVectorizer(token_pattern=r"(?u)\w+")
        counts = sparse.csr_matrix(self._vectorizer.fit_transform(documents), dtype=np.float64)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        idf = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5))
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
        rows, columns = counts.nonzero()
        values = counts.data * (K1 + 1) / (counts.data + norm[rows]) * idf[columns]
        self._weights = sparse.csr_matrix((values, (rows, columns)), shape=counts.shape)

    def scores(self, queries: Sequence[str]) -> npt.NDArray[np.float64]:
        """A row a query with the score of every document."""
        asked = (self._vectorizer.transform(queries) > 0).astype(np.float64)
        return np.asarray((asked @ self._weights.T).toarray())
