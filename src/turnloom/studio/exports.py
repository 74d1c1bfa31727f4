"""The intents of a studio as files: CSV and JSON lines for Turnloom, NLU YAML for Rasa."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence

Example = tuple[tuple[str, ...], str]
"""The turns of a message, itself last, and its intent."""
RASA_VERSION = "3.1"
_ENTITY = re.compile(r"\](?=[({\[])")
_NO_NAME = re.compile(r"[^\w-]+")


def as_csv(examples: Sequence[Example]) -> str:
    """Return examples as CSV with the columns text and label; earlier turns are left out."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(["text", "label"])
    writer.writerows((turns[-1], intent) for turns, intent in examples)
    return found.getvalue()


def as_json_lines(examples: Sequence[Example]) -> str:
    """Return examples as JSON lines; a message with earlier turns has them as `context`."""
    rows = (
        {"text": turns[-1], "label": intent} | ({"context": list(turns[:-1])} if turns[:-1] else {})
        for turns, intent in examples
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def rasa_names(intents: Sequence[str]) -> dict[str, str]:
    """Return a name for each intent that Rasa accepts: no spaces, and no slash, which means something there.

    Example:
        >>> rasa_names(["money back", "Money back!"])
        {'money back': 'money_back', 'Money back!': 'money_back_2'}
    """
    names: dict[str, str] = {}
    for intent in intents:
        base = _NO_NAME.sub("_", intent.lower()).strip("_") or "intent"
        name, number = base, 1
        while name in names.values():
            number += 1
            name = f"{base}_{number}"
        names[intent] = name
    return names


def as_rasa(examples: Sequence[Example]) -> str:
    """Return examples as Rasa NLU training data; earlier turns are left out.

    Brackets before brackets would mark entities there, so a space goes between them.
    """
    names = rasa_names(list(dict.fromkeys(intent for _, intent in examples)))
    lines = [f'version: "{RASA_VERSION}"', "nlu:"]
    for intent, name in names.items():
        texts = [" ".join(turns[-1].split()) for turns, label in examples if label == intent]
        lines += [f"- intent: {json.dumps(name, ensure_ascii=False)}", "  examples: |"]
        lines += [f"    - {_printable(_ENTITY.sub('] ', text))}" for text in texts if text]
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """Drop what YAML does not allow in a text."""
    return "".join(sign for sign in text if sign.isprintable())
