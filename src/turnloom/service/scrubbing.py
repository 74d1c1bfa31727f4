"""Replace personal data in what clients add, before anything of it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

Scrub = Callable[[Sequence[str]], list[str]]
"""Returns texts as they are to be kept."""


def scrubbed(texts: Sequence[str]) -> list[str]:
    """Replace personal data by placeholders, as `turnloom prepare` does.

    Example:
        >>> scrubbed(["mail jo@example.com"])
        ['mail <EMAIL>']
    """
    import pyarrow as pa

    from turnloom.corpus.privacy.patterns import scrub_texts  # Compiling all patterns takes a moment.

    kept: list[str] = scrub_texts(pa.array(list(texts), pa.string()))[0].to_pylist()
    return kept


@lru_cache(maxsize=1024)
def hold_personal_data(names: tuple[str, ...]) -> bool:
    """Whether there is personal data in some names. Requests repeat the same few, and to look takes a while.

    Example:
        >>> hold_personal_data(("web chat", "mail jo@example.com"))
        True
    """
    return scrubbed(names) != list(names)


def scrub_or_keep(scrub: bool) -> Scrub:
    """Return what replaces personal data, or keeps it."""
    return scrubbed if scrub else list
