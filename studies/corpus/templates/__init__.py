"""Texts made from templates: shapes of numbers and words, in wordings of people who chat with a company.

A line of `goes.txt` is `category|text`, with each value that must go in `{{...}}`. Both files have alternatives of
shapes in brackets; in a shape, `9` is any digit, `A` and `a` are letters, `DD`, `MM`, `YY` and `YYYY` make a date of
birth, and `HH` is two hexadecimal digits.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from pathlib import Path

from tests.corpus.labelled_privacy import Labelled

__all__ = ["made_texts"]

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{\{(?P<goes>.*?)\}\}|\[(?P<stays>.*?)\]")
_WORDS = """
    mango river sunset tiger window purple guitar pepper coffee winter falcon bubble dragon cherry silver rocket ginger
    meadow castle pirate cookie marble thunder orchid harbor walnut sailor lemon turtle velvet
""".split()  # noqa: SIM905
_BEFORE = ["hi, ", "hello ", "ok so ", "Customer: ", "hey ", "yeah ", "sorry, ", "Hi there. ", "good morning, ", "and "]
_BEFORE += ["well ", "um ", "just to say ", "agent: thanks, and? customer: ", "", "", "", "", ""]
_AFTER = [" thanks", " pls", " please help", ".", " ok?", " - can you check", "!", " any idea?", " thx", " and then?"]
_AFTER += [", that's all i have", " is that right?", "", "", "", "", ""]


def _filled(shapes: str, pick: random.Random) -> str:
    """Draw one of several shapes, and its characters; a long run of letters is mostly a word."""
    shape = pick.choice(shapes.split("|"))

    def word(match: re.Match[str]) -> str:
        if pick.random() < 0.3:
            return match[0]
        chosen = pick.choice(_WORDS)
        return chosen.capitalize() if match[0][0] == "A" else chosen

    made: dict[str, Callable[[], str]] = {
        "YYYY": lambda: str(pick.randint(1935, 2015)),
        "YY": lambda: f"{pick.randint(35, 99)}",
        "DD": lambda: f"{pick.randint(1, 28):02}",
        "MM": lambda: f"{pick.randint(1, 12):02}",
        "HH": lambda: "".join(pick.choices("0123456789abcdef", k=2)),
        "9": lambda: pick.choice(string.digits),
        "A": lambda: pick.choice(string.ascii_uppercase),
        "a": lambda: pick.choice(string.ascii_lowercase),
        "\0": lambda: "",
    }
    shape = re.sub(r"A?a{3,}", lambda match: f"\0{word(match)}\0", shape)
    pieces = shape.split("\0")  # Every other one is a word, which stays as it is.
    one = re.compile("YYYY|YY|DD|MM|HH|[9Aa]")
    return "".join(
        piece if index % 2 and not re.fullmatch("A?a+", piece) else one.sub(lambda match: made[match[0]](), piece)
        for index, piece in enumerate(pieces)
    )


def _made(category: str, template: str, pick: random.Random) -> Labelled:
    template = pick.choice(_BEFORE) + template + pick.choice(_AFTER)
    text, spans, at = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[at : slot.start()]
        value = _filled(slot["goes"] or slot["stays"], pick)
        if slot["goes"]:
            spans.append((len(text), len(text) + len(value)))
        text, at = text + value, slot.end()
    return Labelled(category, text + template[at:], spans)


def made_texts(per_template: int, seed: int = 0) -> list[Labelled]:
    """Make several labelled texts from each template."""
    pick = random.Random(seed)
    goes = [line.split("|", 1) for line in (FOLDER / "goes.txt").read_text(encoding="utf-8").splitlines()]
    stays = [("none", line) for line in (FOLDER / "stays.txt").read_text(encoding="utf-8").splitlines()]
    return [_made(category, template, pick) for category, template in [*goes, *stays] for _ in range(per_template)]
