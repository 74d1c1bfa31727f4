"""Six made-up shops, one language each, through `turnloom quickstart`; and one whose chats mix two languages.

Usage: python -m studies.languages.scripts FOLDER [LANGUAGE...]

A language passes if the command ends without an error, at least half of all neighbouring turns count as pairs to learn
from, and at least five of the six topics are found: a draft intent of three or more examples, four of five of them of
that topic. Hindi is not among the languages of the Universal Sentence Encoder; its shop starts from `words`, which
learns an encoder from the chats, and is shown with that encoder for comparison (`hi_use`). FOLDER keeps what
quickstart makes. The last figure counts the languages that pass.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from typer.testing import CliRunner

from studies.languages.shop import LANGUAGES, MIXED, Chat, write_chats
from studies.lib.figures import STUDIES, record
from turnloom.cli.main import app
from turnloom.corpus import read_manifest, read_table
from turnloom.corpus.inspect import count_pairs
from turnloom.words import WORDS

CHATS, MINUTES = 600, "0.3"
UNIVERSAL = "universal-sentence-encoder"
FEWEST_TOPICS, LEAST_PAIRS = 5, 0.5
FEWEST_EXAMPLES, LEAST_PURITY = 3, 0.8
"""What makes a draft intent one of a topic."""


def quickstart(language: str, base: str, made: Path) -> tuple[int, list[Chat]]:
    """Run the command on the shop's chats; return its exit code, and the chats."""
    made.parent.mkdir(parents=True, exist_ok=True)
    logs = made.with_suffix(".csv")
    chats = write_chats(language, made.with_suffix(".new.csv"), CHATS)
    if not logs.exists():  # Written again, they would be other logs to the command.
        made.with_suffix(".new.csv").rename(logs)
    ended = CliRunner().invoke(
        app, ["quickstart", str(logs), "--start", base, "--minutes", MINUTES, "--out", str(made)]
    )
    if ended.exit_code:
        print(ended.output, ended.exception)
    return ended.exit_code, chats


def pair_share(made: Path) -> float:
    """How many of all neighbouring turns are pairs to learn from."""
    manifest = read_manifest(made / "prepared")
    return count_pairs(read_table(made / "prepared")) / (manifest.turns - manifest.dialogues)


def intents(made: Path, language: str, chats: list[Chat]) -> dict[str, float]:
    """How many topics are found, the share of examples in their group's most frequent topic, and the groups."""
    topics = {f"{language}-{number}": chat.topic for number, chat in enumerate(chats)}
    rows = read_table(made / "prepared").iter_rows()
    topic_of = {row["turns"][0]["text"]: topics[row["dialogue_id"]] for row in rows}
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with (made / "intents.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups[row["label"]][topic_of[row["text"]]] += 1
    best = [(*counts.most_common(1)[0], counts.total()) for counts in groups.values()]
    own, examples = sum(count for _, count, _ in best), sum(size for _, _, size in best)
    found = {topic for topic, count, size in best if size >= FEWEST_EXAMPLES and count >= LEAST_PURITY * size}
    return {"topics": len(found), "purity": own / examples, "groups": len(groups)}


def measure(language: str, base: str, made: Path) -> tuple[bool, dict[str, float]]:
    code, chats = quickstart(language, base, made)
    if code or not (made / "intents.csv").exists():
        return False, {"exit": code}
    figures = {"dialogues": read_manifest(made / "prepared").dialogues, "pair_share": pair_share(made)}
    figures |= intents(made, language, chats)
    return figures["pair_share"] >= LEAST_PAIRS and figures["topics"] >= FEWEST_TOPICS, figures


def main(folder: str, *only: str) -> None:
    bases = dict.fromkeys([*LANGUAGES, MIXED, "hi_use"], UNIVERSAL) | {"hi": WORDS}
    for name in only or bases:
        passed, found = measure(name.partition("_")[0], bases[name], Path(folder) / name)
        print(name, "passed" if passed else "FAILED", found, flush=True)
        shown = {f"shop.{name}_{figure}": float(value) for figure, value in found.items()}
        record("languages", {**shown, f"shop.{name}_passed": float(passed)})
    figures = json.loads((STUDIES / "languages" / "figures.json").read_text())
    passes = [figures[f"shop.{name}_passed"] for name in LANGUAGES]
    record("languages", {"scripts_through_quickstart": sum(passes)})


if __name__ == "__main__":
    main(*sys.argv[1:])
