"""Write the chats of a made-up tea shop in Chinese, Arabic, German, Japanese, Hindi or Spanish as CSV.

Usage: python -m studies.languages.shop LANGUAGE FILE [CONVERSATIONS [SEED]]

LANGUAGE is zh, ar, de, ja, hi, es, or `mixed`: then customers write in one of them and the shop answers in another, or
both change within a message. Columns have names in the language. The same seed gives the same file.
"""

from __future__ import annotations

import csv
import random
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import yaml

LANGUAGES = ("zh", "ar", "de", "ja", "hi", "es")
FOLDER = Path(__file__).parent / "shops"
MIXED = "mixed"


@dataclass(frozen=True)
class Chat:
    """A chat: its topic, and its turns, the customer's first."""

    topic: str
    turns: list[str]


@dataclass(frozen=True)
class Shop:
    """A shop's texts in one language: wordings of what is said, per topic and turn."""

    columns: list[str]
    speakers: list[str]
    items: list[str]
    days: list[str]
    flaws: list[str]
    greetings: list[str]
    topics: dict[str, list[list[str]]]
    thanks: list[str]
    closings: list[str]


@cache
def shop(language: str) -> Shop:
    return Shop(**yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8")))


def chat(said: Shop, answered: Shop, rng: random.Random) -> Chat:
    """One chat, in which the customer speaks one language and the shop another, or the same."""
    topic = rng.choice(list(said.topics))
    sides = (said, answered)
    turns = [rng.choice(sides[number % 2].topics[topic][number]) for number in range(4)]
    turns[0] = rng.choice(said.greetings) + turns[0]
    if rng.random() < 0.8:
        turns += [rng.choice(said.thanks), rng.choice(answered.closings)]
    order, number = str(rng.randrange(1_000, 9_999)), str(rng.randrange(1, 99))
    drawn: dict[str, str | int] = {
        "order": order,
        "number": number,
        "mail": f"customer{rng.randrange(100)}@example.org",
        "item": rng.randrange(len(said.items)),
        "other": rng.randrange(len(said.items)),
        "day": rng.randrange(len(said.days)),
        "flaw": rng.randrange(len(said.flaws)),
    }
    return Chat(topic, [_filled(text, sides[place % 2], drawn) for place, text in enumerate(turns)])


def _filled(text: str, side: Shop, drawn: dict[str, str | int]) -> str:
    lists = {"item": side.items, "other": side.items, "day": side.days, "flaw": side.flaws}
    return text.format(
        **{name: lists[name][value] if isinstance(value, int) else value for name, value in drawn.items()}
    )


def chats(language: str, count: int, seed: int = 0) -> list[Chat]:
    """The chats of a shop; of the mixed one, in two languages each."""
    rng = random.Random(f"{language} {seed}")
    if language != MIXED:
        return [chat(shop(language), shop(language), rng) for _ in range(count)]
    return [_mixed(rng) for _ in range(count)]


def _mixed(rng: random.Random) -> Chat:
    """Two languages; in a third of the chats, the customer's first message is half in the other one."""
    one, other = (shop(language) for language in rng.sample(LANGUAGES, 2))
    found = chat(one, other, rng)
    if rng.random() < 1 / 3:
        found.turns[0] = rng.choice(other.greetings) + found.turns[0]
    return found


def write_chats(language: str, path: Path, count: int = 300, seed: int = 0) -> list[Chat]:
    """Write one row per turn, and return the chats."""
    written, time = chats(language, count, seed), datetime(2024, 5, 1, 8)
    side = shop("es" if language == MIXED else language)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(side.columns)
        for number, one in enumerate(written):
            for place, text in enumerate(one.turns):
                time += timedelta(seconds=40)
                writer.writerow([f"{language}-{number}", side.speakers[place % 2], time.isoformat(" "), text])
    return written


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    write_chats(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
