"""What agents write at the end of a message by habit: their initials, and which part of a longer message it is."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_PART = r"\(?[1-9] ?/ ?[2-9]\)?"
_SIGNATURE = rf"(\S)\s*[\^*~–—-]\s?<NAME>[.!]?(\s*{_PART})?\s*$"
_IS_PART = rf"(^{_PART}\s)|((^|[\s.…]){_PART}[\s.…]*$)"


def without_signatures(texts: pa.Array) -> pa.Array:
    """Drop scrubbed signatures such as "^<NAME>" at the end of texts: they say nothing, and fit nobody else's message.

    Example:
        >>> without_signatures(pa.array(["We are on it. ^<NAME>", "Thanks, <NAME>"], pa.large_string())).to_pylist()
        ['We are on it.', 'Thanks, <NAME>']
    """
    return pc.replace_substring_regex(texts, _SIGNATURE, r"\1\2")


def are_parts(texts: pa.Array) -> pa.Array:
    """Whether each text says that it is a part of a longer message.

    Example:
        >>> are_parts(pa.array(["Please send us 1/2", "your order number. (2/2)", "We are open 24/7."])).to_pylist()
        [True, True, False]
    """
    return pc.match_substring_regex(texts, _IS_PART)
