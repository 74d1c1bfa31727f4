"""Patterns of one's own for what `prepare` replaces, such as booking references: `--replace FILE`.

They run as RE2, which takes linear time on any text, so that no pattern and no text can stall a run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from turnloom.errors import TurnloomError

__all__ = ["Replacement", "load_replacements", "replace_texts"]

_FIELDS = ("name", "pattern", "after")
_NAME = re.compile(r"[A-Z]{2,30}")
_PLACEHOLDER = r"<[A-Z_]{2,30}>"
_EXAMPLE = "write entries such as {name: BOOKING, pattern: '[A-Z]{2}[0-9]{4}'}"
_OPEN, _CLOSE = "\U0010fff0", "\U0010fff1"
"""Around placeholders while patterns look at a text; no letters, and in no text that anybody writes."""
_SHIFT = 0x100000
"""Added to a placeholder's letters meanwhile, so that `[A-Z]{6}` finds nothing in `<SECRET>`."""
_HIDE = {ord(letter): ord(letter) + _SHIFT for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"}
_SHOW = {hidden: letter for letter, hidden in _HIDE.items()} | {ord(_OPEN): "<", ord(_CLOSE): ">"}


class Replacement(BaseModel):
    """What is replaced by a placeholder.

    Attributes:
        name: The placeholder without its brackets, in capital letters.
        pattern: A regular expression of RE2: no look-around and no back-references.
        after: What must stand before a match, and stays; a regular expression, too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    pattern: str
    after: str = ""

    @property
    def expression(self) -> str:
        """The whole regular expression; its first group stays."""
        return f"({self.after})(?:{self.pattern})"


def _problem(given: dict[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with an entry of the file, and how to fix it."""
    if unknown := [key for key in given if key not in _FIELDS]:
        return f"there is no field {unknown[0]!r}", f"the fields are {', '.join(_FIELDS)}"
    if missing := [key for key in ("name", "pattern") if not given.get(key)]:
        return f"the entry has no {missing[0]}", _EXAMPLE
    if not _NAME.fullmatch(given["name"]):
        return f"{given['name']!r} is no name of a placeholder", "use 2 to 30 capital letters, such as BOOKING"
    for key in ("pattern", "after"):
        try:
            matches_nothing = pc.match_substring_regex(pa.array([""]), f"^(?:{given.get(key, '')})$")[0].as_py()
        except pa.ArrowInvalid as error:
            why = str(error).partition(": ")[2] or str(error)
            return f"the {key} is no regular expression of RE2 ({why})", "see https://github.com/google/re2/wiki/Syntax"
        if key == "pattern" and matches_nothing:
            return "the pattern matches the empty text, which is everywhere", "make it match a character at least"
    return None


def load_replacements(path: Path) -> tuple[Replacement, ...]:
    """Read patterns from a YAML file: a list of entries with `name`, `pattern` and perhaps `after`.

    Raises:
        TurnloomError: If the file cannot be read or an entry is wrong; the message names the line.
    """
    import yaml

    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise TurnloomError(f"{path} cannot be read ({error})", "name a YAML file in UTF-8") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise TurnloomError(f"{path}:{line}: it is not YAML ({error.problem})", "put patterns in 'quotes'") from error
    except yaml.YAMLError as error:
        raise TurnloomError(f"{path} is not YAML ({error})".replace("\n", " "), _EXAMPLE) from error
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise TurnloomError(f"{path} is no list of patterns", f"{_EXAMPLE}, each after a '- '")
    return tuple(_replacement(node, path) for node in root.value)


def _replacement(node: Any, path: Path) -> Replacement:
    place = f"{path}:{node.start_mark.line + 1}"
    pairs = node.value if node.id == "mapping" else []
    given = {key.value: value.value for key, value in pairs if key.id == value.id == "scalar"}
    if not pairs or len(given) < len(pairs):
        raise TurnloomError(f"{place}: it is no entry with a name and a pattern", _EXAMPLE)
    if problem := _problem(given):
        raise TurnloomError(f"{place}: {problem[0]}", problem[1])
    return Replacement(**given)


def _hidden(text: str) -> str:
    return re.sub(_PLACEHOLDER, lambda one: f"{_OPEN}{one[0][1:-1].translate(_HIDE)}{_CLOSE}", text)


def replace_texts(texts: pa.Array, replacements: Sequence[Replacement]) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Replace the matches of each pattern, in their order; also count them per text and pattern.

    Placeholders that a text has already are left alone.

    Example:
        >>> import pyarrow as pa
        >>> booking = Replacement(name="BOOKING", pattern=r"[A-Z]{2}\\d{4}", after="(?i)booking ")
        >>> replace_texts(pa.array(["My booking AB1234, not AB9999"]), [booking])[0].to_pylist()
        ['My booking <BOOKING>, not AB9999']
    """
    counts = np.zeros((len(texts), len(replacements)), np.int32)
    for column, one in enumerate(replacements):
        mask = pc.match_substring_regex(texts, one.expression)
        rows = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
        if not len(rows):
            continue
        hidden = pa.array([_hidden(text) for text in texts.take(pa.array(rows)).to_pylist()], texts.type)
        changed = pc.replace_substring_regex(hidden, one.expression, r"\1" + _hidden(f"<{one.name}>"))
        counts[rows, column] = pc.count_substring_regex(hidden, one.expression).to_numpy()
        shown = pa.array([text.translate(_SHOW) for text in changed.to_pylist()], texts.type)
        texts = pc.replace_with_mask(texts, mask, shown)
    return texts, counts
