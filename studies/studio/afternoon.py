"""An afternoon in the studio, by a script that was fixed before anything was measured.

Usage: TURNLOOM_DATA=... python -m studies.studio.afternoon {shop|airline} FOLDER

The script stands for a person who reads a group's first page and knows what each message there means:

1. It opens every group, largest first. It checks the messages of the most frequent intent on the first page. If that
   intent has no group yet, it renames the group to it and makes it an intent of the checked messages; else it makes it
   an intent and merges it into that group.
2. For each intent without a group it searches for its name, checks what fits on the first page, makes a new group of
   these and an intent of the group.
3. It answers forty questions under "Label next" by key.

Before is what a person has without a studio: the intents' names, and the same messages as a pool.
"""

from __future__ import annotations

import csv
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.intents.sets import AIRLINE, read_airline
from studies.lib.figures import record
from studies.studio.browser import Person, opened_studio
from turnloom.benchmarks.data import rows
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.corpus.table import TableWriter
from turnloom.discovery import MessageOptions
from turnloom.intents import IntentClassifier
from turnloom.runtime import load_encoder
from turnloom.studio.folder import is_studio, prepare
from turnloom.studio.learning import FALSE_REJECT, KnownVectors, Learner
from turnloom.studio.workspace import Workspace

MODEL = "models/turnloom-mini"
_EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "shop.py"))  # No package: examples are scripts.
TOPICS, write_chats = _EXAMPLE["TOPICS"], _EXAMPLE["write_chats"]
QUESTIONS = 40
HEADLINE = "airline"
Gold = Callable[[str], str | None]
SHOP = {
    "late parcel": "has not arrived|where is the parcel|i still wait",
    "damaged item": "came with|i opened the box|is damaged",
    "return an item": "send the|can i return",
    "how returns work": "how do returns work",
    "refund": "money back|refund",
    "change address": "change my address|another address|where you deliver",
    "cancel an order": "cancel|stop my order",
    "best for beginners": "best for a beginner",
    "dishwasher safe": "dishwasher",
    "water temperature": "how hot",
}
"""The intents of the made-up shop, by what its openings say."""


def shop_intent(text: str) -> str | None:
    """Return the intent of an opening of the made-up shop."""
    return next((name for name, said in SHOP.items() if any(part in text for part in said.split("|"))), None)


def _shop(folder: Path) -> tuple[list[Dialogue], Gold, list[tuple[str, str]], dict[str, str]]:
    """Return chats to make the studio of, what they mean, held-out messages and the intents' names."""
    assert all(shop_intent(opening.replace("{order}", "order 1")) for topic in TOPICS for opening in topic[0])

    def chats(seed: int) -> list[Dialogue]:
        path = folder / f"shop-{seed}.csv"
        write_chats(path, 900, seed)
        turns: dict[str, list[Turn]] = {}
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                turns.setdefault(row["conversation_id"], []).append(Turn(row["role"], row["message"]))
        return [Dialogue(name, "shop", said) for name, said in turns.items()]

    known = chats(0)
    seen = {chat.turns[0].text for chat in known}
    texts = dict.fromkeys(chat.turns[0].text for chat in chats(1))
    held_out = [(text, str(shop_intent(text))) for text in texts if text not in seen]
    return known, shop_intent, held_out, {name: name for name in SHOP}


def _airline(_: Path) -> tuple[list[Dialogue], Gold, list[tuple[str, str]], dict[str, str]]:
    """The half of the labelled threads that examples may come from; the other half is held out."""
    data = read_airline()
    names = {code: data.descriptions[code][:80] for code in data.intents}
    meant = {text: names[code] for text, code in zip(data.train.texts, data.train.labels, strict=True)}
    threads = [
        Dialogue(str(row["id"]), "airline", [Turn(turn["speaker"], turn["text"]) for turn in row["turns"]])
        for row in rows(AIRLINE, "labelled")
        if row["turns"][0]["text"] in meant
    ]
    held_out = [
        (text, names[code]) for text, code in zip(data.test.texts, data.test.labels, strict=True) if code in names
    ]
    return threads, meant.get, held_out, {name: name for name in names.values()}


def measured(classifier: IntentClassifier, held_out: Sequence[tuple[str, str]], when: str) -> dict[str, float]:
    """Return the share of messages whose intent is found, and the share turned away, whose intent is not found."""
    texts = [text for text, _ in held_out]
    said = classifier.predict(texts)
    right = sum(bool(one == meant) for one, (_, meant) in zip(said, held_out, strict=True))
    answers = classifier.answer(texts)
    away = sum(answer.decision == "out_of_scope" for answer in answers)
    likeliest = sum(answer.candidates[0].intent == meant for answer, (_, meant) in zip(answers, held_out, strict=True))
    return {
        f"studio_likeliest_right_{when}": 100 * likeliest / len(held_out),
        f"studio_accuracy_{when}": 100 * right / len(held_out),
        f"studio_turned_away_{when}": 100 * away / len(held_out),
    }


def compare(work: Workspace, names: dict[str, str], held_out: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Compare names and a pool alone with what the studio has now, at the same false-reject rate."""
    known: Any = KnownVectors(work)
    before = IntentClassifier(known, method="prototypes", false_reject_rate=FALSE_REJECT)
    before.fit(names=names, pool=work.texts)
    learned = Learner(work).learned()
    return {
        **measured(before, held_out, "before"),
        **measured(learned.classifier, held_out, "after"),
        "studio_expected_accuracy": 100 * learned.expected,
        "studio_intents": len(work.board.intents),
        "held_out": len(held_out),
    }


def write_down(what: str, figures: Mapping[str, float]) -> None:
    """Record figures of a set; those of the harder one are the study's own."""
    record("studio", {f"{what}.{name}": value for name, value in figures.items()})
    if what == HEADLINE:
        record("studio", {name: value for name, value in figures.items() if name.startswith(("studio", "undo"))})


def name_groups(person: Person, work: Workspace, gold: Gold) -> dict[str, int]:
    """Step 1; return the group of each intent."""
    home: dict[str, int] = {}
    counts = work.counts(work.board)
    for group in sorted(work.board.leaves, key=lambda group: -counts[group]):
        page = person.open_group(group)
        means = Counter(meaning for text in page if (meaning := gold(text)))
        if not means:
            continue
        intent = means.most_common(1)[0][0]
        person.check([row for row, text in enumerate(page) if gold(text) == intent])
        if intent in home:
            person.make_intent()
            person.merge_into(home[intent])
        else:
            person.rename(intent)
            person.check([row for row, text in enumerate(page) if gold(text) == intent])
            person.make_intent()
            home[intent] = group
    return home


def find_missing(person: Person, work: Workspace, gold: Gold, home: dict[str, int], names: Sequence[str]) -> None:
    """Step 2."""
    for intent in names:
        if intent in home:
            continue
        page = person.search(intent)
        fitting = [row for row, text in enumerate(page) if gold(text) == intent]
        if fitting:
            person.check(fitting)
            person.new_group(intent)
            home[intent] = next(group for group, name in work.board.names.items() if name == intent)
            person.open_group(home[intent])
            person.make_intent()


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    dialogues, gold, held_out, names = {"shop": _shop, "airline": _airline}[what](folder)
    encoder = load_encoder(MODEL)
    studio = folder / "studio"
    if not is_studio(studio):
        from turnloom.corpus.engine import daft

        writer = TableWriter(folder / "table")
        writer.write(daft().from_arrow(dialogues_to_arrow(dialogues)))
        writer.finish("studies.studio", {})
        prepare(studio, folder / "table", MODEL, encoder, MessageOptions(first=True))
    work = Workspace(studio, encoder)
    start = work.board.digest()
    with opened_studio(studio) as (page, _):
        person = Person(page, work)
        home = name_groups(person, work, gold)
        find_missing(person, work, gold, home, list(names))
        person.label(gold, QUESTIONS)
    undone = {"undo_restores_bits": float(undo_restores(work, start))}
    write_down(what, {"studio_clicks": person.clicks, **undone, **compare(work, names, held_out)})


def undo_restores(work: Workspace, start: str) -> bool:
    """Whether undoing everything gives the first board, and redoing everything the last, bit by bit."""
    end, count = work.board.digest(), len(work.edits.history)
    for _ in range(count):
        work.edits.undo()
    first = work.board.digest()
    for _ in range(count):
        work.edits.redo()
    return (first, work.board.digest()) == (start, end)


if __name__ == "__main__":
    main()
