"""The same tasks on a user's own files: labelled messages, and conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from turnloom.benchmarks.data import Labelled, Pool, hashed_parts, only_labels
from turnloom.benchmarks.task import Task
from turnloom.benchmarks.tasks.intent_knn import IntentNeighbours
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope
from turnloom.benchmarks.tasks.response_selection import ResponseSelection, Selection, next_turns
from turnloom.corpus.labelled import is_out_of_scope, read_rows
from turnloom.errors import TurnloomError

__all__ = ["dialogues_of_table", "intent_tasks", "read_labelled_messages", "reply_tasks"]

MAX_DIALOGUES = 20_000
FEWEST_MESSAGES, FEWEST_REPLIES = 20, 100


def read_labelled_messages(path: Path) -> dict[str, Labelled]:
    """Messages and their intents by split, from CSV, TSV or JSON lines with `text`, `label` and perhaps `split`.

    Rows without a split are in `all`. Copies of a message within a split count once.

    Raises:
        TurnloomError: If a row lacks its text or label.
    """
    if not path.is_file():
        raise TurnloomError(f"{path} is no file", "give a CSV, TSV or JSONL file with the columns text and label")
    format = path.suffix.lower().lstrip(".")
    splits: dict[str, dict[str, str]] = {}
    for where, row, _ in read_rows(path, format if format in ("jsonl", "json", "tsv") else "csv"):
        text, label = (str(row.get(name) or "").strip() for name in ("text", "label"))
        if not text or not label:
            missing = "text" if not text else "label"
            raise TurnloomError(f"{where}: no {missing}", "every row needs the columns text and label")
        splits.setdefault(str(row.get("split") or "all"), {})[text] = label
    return {split: Labelled(list(rows), list(rows.values())) for split, rows in splits.items()}


def _split(path: Path) -> tuple[Labelled, Labelled, Labelled]:
    """Train, validation and test: the file's own splits, else a half and two quarters by a hash of the texts."""
    splits = read_labelled_messages(path)
    if "train" in splits and "test" in splits:
        held = splits.get("validation") or splits.get("dev") or splits.get("valid")
        if held is None:
            half, other = hashed_parts(path.name, splits["test"], 2)
            return splits["train"], half, other
        return splits["train"], held, splits["test"]
    whole = Labelled([], [])
    for part in splits.values():
        whole += part
    if len(whole) < FEWEST_MESSAGES:
        raise TurnloomError(f"{path} has {len(whole)} distinct messages", f"at least {FEWEST_MESSAGES} can be measured")
    one, two, three, four = hashed_parts(path.name, whole, 4)
    return one + two, three, four


def intent_tasks(path: Path) -> list[Task]:
    """Few-shot and nearest-neighbour intents on a file of labelled messages; out-of-scope if it has such messages."""
    train, held, test = _split(path)
    known = train.where(lambda label: not is_out_of_scope(label))
    labels = set(known.labels)
    if len(labels) < 2:
        raise TurnloomError(f"{path} has {len(labels)} intents in its training part", "give at least two")
    parts = {
        "train": known,
        "dev": only_labels(held, labels),
        "dev_oos": held.where(is_out_of_scope),
        "test": only_labels(test, labels),
        "test_oos": test.where(is_out_of_scope),
    }
    pool = Pool(known, parts["test"])
    name = path.stem
    tasks: list[Task] = [IntentPrototypes(name, shots, lambda: pool) for shots in (1, 5)]
    tasks.append(IntentNeighbours(name, lambda: pool))
    if len(parts["test_oos"]):
        tasks += [OutOfScope(name, shots, parts=lambda: parts) for shots in (1, 5)]
    return tasks


def dialogues_of_table(table: Path) -> Iterator[list[tuple[str, str]]]:
    """The conversations of a dialogue table as lists of (speaker, text), up to a number."""
    from turnloom.corpus.table import read_table

    for row in islice(read_table(table).select("turns").iter_rows(), MAX_DIALOGUES):
        yield [(turn["speaker"] or "", turn["text"]) for turn in row["turns"]]


def reply_tasks(table: Path) -> list[Task]:
    """The true reply among 100 on a dialogue table, after one turn and after three.

    Raises:
        TurnloomError: If it has too few replies to rank among.
    """
    dialogues = list(dialogues_of_table(table))
    tasks: list[Task] = []
    for turns in (1, 3):
        pairs: list[Selection] = list(next_turns(dialogues, turns))
        if len(pairs) >= FEWEST_REPLIES:
            name = table.resolve().name
            copied: Callable[[], list[Selection]] = partial(list, pairs)
            tasks += [ResponseSelection(name, turns, "plain", copied), ResponseSelection(name, turns, "heads", copied)]
    if not tasks:
        raise TurnloomError(f"{table} has fewer than {FEWEST_REPLIES} replies", "prepare more conversations")
    return tasks
