"""What the name of an intent says about its messages: evidence that counts like one or two examples.

Names are shorter than messages and phrased differently, so only their differences count: a name's vector minus the mean
of all names, moved to the middle of the messages. How much a name says is learned by predicting the examples from it.
If labels are codes (`INT_042`), the prediction explains nothing and names get no weight.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from turnloom.corpus.labelled import is_out_of_scope
from turnloom.errors import TurnloomError
from turnloom.intents.examples import Examples
from turnloom.runtime.protocols import Vectors
from turnloom.words import CJK, estimate_words

Names = Mapping[str, str | None] | Sequence[str] | bool
"""Names of intents, with or without other words for them; True for the words of labels, False to ignore names."""
NAME_WEIGHT = 3.0
"""How many examples a name counts as, times the share of the examples' differences that names explain."""
USUAL_SHARE, USUAL_SPREAD = 0.43, 0.2
"""That share on average over CLINC150, BANKING77, HWU64 and SNIPS, and how far it may be from there."""
LEAST_SHARE = 0.15
"""Names that explain less are taken for codes."""
PHRASES = ("{}", "i want to {}", "a question about {}")
"""A name is encoded in these phrases, which are closer to messages; their mean is its vector."""
_PHRASES = (
    (re.compile("[\u3041-\u30ff]"), ("{}", "{}したい", "{}について")),
    (re.compile(f"[{CJK}]"), ("{}", "我想{}", "关于{}的问题")),
    (re.compile("[\u0600-\u06ff]"), ("{}", "أريد {}", "سؤال عن {}")),
    (re.compile("[\u0900-\u097f]"), ("{}", "मुझे {} चाहिए", "{} के बारे में सवाल")),
    (re.compile("[\u0400-\u04ff]"), ("{}", "я хочу {}", "вопрос про {}")),
)
"""The same for names in other scripts; names in Latin letters get the English ones."""
LONGEST_NAME = 6
"""A description of more words is a phrase already."""
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\s_./:-]+")


def label_words(label: str) -> str:
    """Return the words of a label.

    Example:
        >>> label_words("track_order"), label_words("AddToPlaylist"), label_words("INT_042")
        ('track order', 'add to playlist', 'int 042')
    """
    return " ".join(word for word in _WORD_ENDS.split(label) if word).lower() or label


def name_phrases(name: str) -> list[str]:
    """Return the texts whose mean vector stands for a name; a description stands for itself.

    Example:
        >>> name_phrases("track order")
        ['track order', 'i want to track order', 'a question about track order']
    """
    if estimate_words(name) > LONGEST_NAME:
        return [name]
    phrases = next((phrases for script, phrases in _PHRASES if script.search(name)), PHRASES)
    return [phrase.format(name) for phrase in phrases]


def given_names(names: Names) -> dict[str, str]:
    """Return the intents that are named, with their descriptions; empty ones mean the name's own words.

    Raises:
        TurnloomError: If they are neither a dictionary nor a list of texts.
    """
    if isinstance(names, bool):
        return {}
    given = dict(names) if isinstance(names, Mapping) else {} if isinstance(names, str) else dict.fromkeys(names)
    if not given or not all(isinstance(name, str) and isinstance(text or "", str) for name, text in given.items()):
        raise TurnloomError(f"{names!r} are no names", "give a list of names, or a dictionary from name to description")
    empty = next((name for name in given if not name.strip() or is_out_of_scope(name)), None)
    if empty is not None:
        raise TurnloomError(f"{empty!r} is no name of an intent", "leave it out")
    return {name: (text or "").strip() for name, text in given.items()}


def _explained_share(differences: Vectors, examples: Examples, middle: npt.NDArray[np.float32]) -> float:
    """Estimate how much of the examples' differences the names explain; the fewer intents, the closer to usual."""
    known = examples.counts > 0
    if not known.any():
        return USUAL_SHARE
    means = examples.sums[known] / examples.counts[known, None] - middle
    products = means @ differences[known].T
    power = float((differences[known] ** 2).sum())
    if known.sum() < 2 or power < 1e-6:
        return USUAL_SHARE
    share = float(np.trace(products)) / power
    # The spread of this share if names were assigned to intents at random.
    noise = max(float(np.sqrt((products**2).sum() / (known.sum() - 1))) / power, 1e-6)
    trust = USUAL_SPREAD**2 / (USUAL_SPREAD**2 + noise**2)
    return trust * share + (1 - trust) * USUAL_SHARE


def name_evidence(names: Vectors, examples: Examples, middle: npt.NDArray[np.float32] | None) -> Vectors:
    """Return a vector per intent that counts like examples, to be added to their sum; zero if names are codes.

    Args:
        names: The vector of each intent's name.
        examples: The examples, which decide how much names count.
        middle: The mean of messages; by default that of the examples, or of the names if there are none.
    """
    if len(examples):
        middle = np.asarray(examples.vectors.mean(axis=0), np.float32)
    differences = names - names.mean(axis=0)
    if middle is None or len(names) == 1:
        return np.asarray(NAME_WEIGHT * USUAL_SHARE * names, np.float32)
    share = _explained_share(differences, examples, middle)
    if share < LEAST_SHARE:
        return np.zeros_like(names)
    return np.asarray(NAME_WEIGHT * share * (differences + middle), np.float32)
