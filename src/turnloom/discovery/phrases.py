"""What messages ask for, as verb and object: "cancel an order" in "could you please cancel my order from Monday"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from turnloom.discovery.keywords import FILLERS, NOISE, SHORTEST, is_english
from turnloom.errors import TurnloomError

PIPELINES = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg")
MOST_OBJECT_WORDS = 3
LONGEST_MESSAGE = 300
"""Parsing takes longer than linear, and what someone wants stands early."""


PAST = ("VBD", "VBN")


class Request(NamedTuple):
    """What a message asks for.

    Attributes:
        verb: The verb's base form, with "not" before it if negated; empty for a thing without a verb.
        object: The words of the object; empty for a verb without one.
        article: Whether the message has "a" or "an" before the object.
    """

    verb: str
    object: tuple[str, ...]
    article: bool = False


Parser = Callable[[Sequence[str]], list[list[Request]]]


def find_parser(pipeline: str | Path | None = None) -> Parser:
    """Return a parser: spaCy with the named or an installed English pipeline, else patterns.

    Raises:
        TurnloomError: If a pipeline is named and cannot be loaded.
    """
    names = [str(pipeline)] if pipeline is not None else [name for name in PIPELINES if find_spec(name)]
    if not names:  # Known before spaCy is imported, which takes seconds.
        return pattern_requests
    try:
        import spacy
    except ImportError as error:
        raise TurnloomError("spaCy is not installed", "pip install 'turnloom[privacy]'") from error
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # A pipeline of another minor version warns, and works.
            language = spacy.load(names[0], exclude=["ner"])
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise TurnloomError(
            f"{names[0]} is no spaCy pipeline ({reason})", "python -m spacy download en_core_web_sm"
        ) from error
    # Other languages would be read as if they were English.
    return lambda texts: [list(_requests(doc)) for doc in language.pipe(map(_english, texts), batch_size=256)]


def _english(text: str) -> str:
    return clean(text) if is_english(text) else ""


def clean(text: str) -> str:
    """Remove links, placeholders and handles, and what exceeds the length of a message."""
    return " ".join(NOISE.sub(" ", text[:LONGEST_MESSAGE]).split())


def _requests(doc: Any) -> Iterator[Request]:
    """Yield verbs with their objects, and things without a verb, from a parsed message."""
    for token in doc:
        if token.pos_ == "VERB" and token.is_alpha:
            yield from _of_verb(token)
        elif token.pos_ in ("NOUN", "PROPN") and token.dep_ in ("ROOT", "attr", "nsubj", "nsubjpass", "pobj"):
            words, article = _object(token)
            if words:
                yield Request("", words, article)


def _of_verb(token: Any) -> Iterator[Request]:
    particle = next((f" {child.lower_}" for child in token.children if child.dep_ == "prt"), "")
    negated = any(child.dep_ == "neg" for child in token.children)
    form = token.lower_ if token.tag_ in PAST else token.lemma_.lower()  # "lost bag" is another wish than "lose a bag".
    verb = ("not " if negated else "") + form + particle
    objects = [("", child) for child in token.children if child.dep_ in ("dobj", "obj", "nsubjpass", "dative", "attr")]
    if not objects:
        objects = [
            (f" {preposition.lower_}", child)
            for preposition in token.children
            if preposition.dep_ == "prep"
            for child in preposition.children
            if child.dep_ == "pobj"
        ]
    found = [(preposition, *_object(child)) for preposition, child in objects]
    found = [each for each in found if each[1]]
    light = token.lemma_.lower() in FILLERS
    for preposition, words, article in found:
        yield Request("" if light else verb + preposition, words, article)
    if not found and not light:
        yield Request(verb, ())
        for subject in (child for child in token.children if child.dep_ == "nsubj"):  # "card not arrived"
            words, _ = _object(subject)
            if words:
                yield Request("", (*words[-2:], *(["not"] if negated else []), token.lower_))


def _usable(token: Any) -> bool:
    return token.is_alpha and token.lower_ not in FILLERS and len(token.lower_) >= SHORTEST


def _object(token: Any) -> tuple[tuple[str, ...], bool]:
    """Return a noun with the words that specify it, and whether it has an indefinite article."""
    if token.pos_ not in ("NOUN", "PROPN", "ADJ") or not _usable(token):
        return (), False
    before = [child.lower_ for child in token.lefts if child.dep_ in ("compound", "amod", "nmod") and _usable(child)]
    article = any(child.dep_ == "det" and child.lower_ in ("a", "an") for child in token.lefts)
    return (*before[-(MOST_OBJECT_WORDS - 1) :], token.lower_), article


_WORD = r"[^\W\d_][\w'’-]*"
_ASKED = re.compile(
    r"(?:\b(?:to|please|pls|can|could|would|will|should|must|do|did|does|not|let|help)(?:\s+(?:i|you|we|me|someone|us))?"
    r"|\b(?:i|we)(?:'ve|’ve| have)?|^)\s+"
    rf"(?P<verb>{_WORD})(?:\s+(?P<particle>up|off|out|back|down|on))?"
    r"\s+(?:(?P<article>an?)\s+|(?:the|my|our|your|this|that|these|those|some|any|his|her|their)\s+)?"
    rf"(?P<object>{_WORD}(?:\s+{_WORD}){{0,{MOST_OBJECT_WORDS - 1}}})"
)
_NOUN_ENDS = re.compile(r"(?:ly|ing)$")
_NOT_VERBS = {"i", "you", "we", "someone", "me", "us", "a", "an", "the", "my", "our", "your", "this", "that", "no"}
_LINK_WORDS = "to for from in on at of with by and or but because so if against about as into"
_ENDS_OBJECT = frozenset(_LINK_WORDS.split())


def pattern_requests(texts: Iterable[str]) -> list[list[Request]]:
    """Return what messages ask for by patterns of English alone, such as "want to VERB my OBJECT"."""
    return [list(_by_pattern(" " + _english(text).lower())) for text in texts]


def _by_pattern(text: str) -> Iterator[Request]:
    position = 0
    while match := _ASKED.search(text, position):
        position = match.start("verb")  # What is no verb may come before one, as in "please cancel".
        verb = match["verb"]
        if verb in _NOT_VERBS or re.split("['’]", verb)[0] in FILLERS or _NOUN_ENDS.search(verb):
            continue
        words: list[str] = []
        for word in match["object"].split():
            if word in _ENDS_OBJECT or word in FILLERS:
                break
            words.append(word)
        particle = f" {match['particle']}" if match["particle"] else ""
        if words:
            yield Request(verb + particle, tuple(words), match["article"] is not None)
