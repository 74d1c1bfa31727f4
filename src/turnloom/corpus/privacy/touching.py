"""Find personal data that touches Chinese, Japanese, Korean or Thai characters: "邮箱是jo@example.com谢谢".

The patterns look for the ends of words, and these characters are letters to them. So they also search the text with
spaces where such a character meets another one, and what they find is moved back to where it stands in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from turnloom.words import UNSPACED

__all__ = ["with_touching"]

Span = tuple[str, int, int]
_JOINED = rf"{UNSPACED}\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
"""Scripts without spaces, and Korean, whose particles follow a word without one."""
_NETWORK = ("EMAIL", "HANDLE", "URL")
"""Types that such a character ends."""
_MEETS = re.compile(rf"(?<=[{_JOINED}])(?=[!-~])|(?<=[!-~])(?=[{_JOINED}])")


def with_touching(text: str, find: Callable[[str], list[Span]]) -> list[Span]:
    """Find spans (type, start, end) in a text; what touches other scripts is found as if a space stood between.

    Args:
        text: The text.
        find: Finds spans in a text, in order and without overlaps.

    Example:
        >>> def find(text): return [("MAIL", *match.span()) for match in re.finditer("[a-z]+@[a-z]+", text)]
        >>> with_touching("是jo@example谢", find)
        [('MAIL', 1, 11)]
    """
    if text.isascii() or not (joints := [match.start() for match in _MEETS.finditer(text)]):
        return find(text)
    # A space before the character at each joint: the space of joint n is at position joints[n] + n.
    spaces = [joint + number for number, joint in enumerate(joints)]
    spaced = _MEETS.sub(" ", text)
    found = []
    for kind, start, end in find(spaced):
        begin, stop = start - bisect_left(spaces, start), end - bisect_left(spaces, end)
        if stop > begin:
            found.append((kind, begin, stop))
    # Patterns of these scripts' own, such as street addresses, read the text as it is.
    for span in find(text):
        if span[0] not in _NETWORK and all(span[2] <= one[1] or one[2] <= span[1] for one in found):
            found.append(span)
    return sorted(found, key=lambda one: one[1])
