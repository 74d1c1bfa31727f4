"""What replies are told apart by: a hash of their text, cut into ranges that are written one after another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.cleaning.duplicates import response_keys
from turnloom.corpus.cleaning.normalise import normalise_texts

__all__ = ["KeyRanges", "Keys", "key_check", "reply_keys"]

Keys = npt.NDArray[np.int64]


def reply_keys(texts: pa.Array) -> Keys:
    """A 64-bit key for each reply, equal for texts that differ in case and white space only.

    Example:
        >>> import pyarrow as pa
        >>> one, two, three = reply_keys(pa.array(["Thank  you!", "thank you! ", "thank you"]))
        >>> bool(one == two), bool(one == three)
        (True, False)
    """
    return response_keys(normalise_texts(texts)).view(np.int64)


def key_check() -> int:
    """The key of a fixed text: it differs when keys are made in another way than those of an older index."""
    return int(reply_keys(pa.array(["turnloom"]))[0])


@dataclass(frozen=True)
class KeyRanges:
    """All keys cut into equal ranges.

    Attributes:
        count: How many ranges.
    """

    count: int

    @cached_property
    def _starts(self) -> Keys:
        return np.array([number * 2**64 // self.count - 2**63 for number in range(self.count)], np.int64)

    def of(self, keys: Keys) -> npt.NDArray[np.int32]:
        """The number of the range that each key falls into."""
        return (np.searchsorted(self._starts, keys, side="right") - 1).astype(np.int32)

    def predicate(self, column: str, number: int) -> str:
        """The SQL condition under which a column's key is in a range.

        Example:
            >>> KeyRanges(2).predicate("key", 0), KeyRanges(1).predicate("key", 0)
            ('key < 0', 'key IS NOT NULL')
        """
        # The first range has no lower bound: SQL reads the smallest number as minus one that is too large.
        lower = [f"{column} >= {self._starts[number]}"] if number else []
        upper = [f"{column} < {self._starts[number + 1]}"] if number + 1 < self.count else []
        return " AND ".join([*lower, *upper]) or f"{column} IS NOT NULL"
