"""The tasks of each suite, and the same tasks on your own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from turnloom.benchmarks.data import Labelled, Pool, hashed_parts, only_labels
from turnloom.benchmarks.task import Space, Task
from turnloom.benchmarks.tasks.action_prediction import ActionPrediction
from turnloom.benchmarks.tasks.appropriate_reply import AppropriateReply
from turnloom.benchmarks.tasks.conversation_retrieval import ConversationRetrieval
from turnloom.benchmarks.tasks.dialogue_inference import DialogueInference
from turnloom.benchmarks.tasks.fine_tuning import ActionFineTuning, IntentFineTuning, SelectionFineTuning
from turnloom.benchmarks.tasks.intent_knn import IntentNeighbours
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope
from turnloom.benchmarks.tasks.reranking import Reranking
from turnloom.benchmarks.tasks.response_selection import ResponseSelection, Selection, next_turns
from turnloom.benchmarks.tasks.retrieval import SemanticRetrieval
from turnloom.benchmarks.tasks.similarity import Geometry, SentenceSimilarity
from turnloom.corpus.labelled import is_out_of_scope, read_rows
from turnloom.errors import TurnloomError
from turnloom.plugins import Plugin, find_plugin, plugin_names

GROUP = "turnloom.tasks"
INTENTS = ("clinc150", "banking77", "hwu64", "snips")
MORE_INTENTS = ("atis", "dstc11_intent", "bitext_support")
DIALOGUES = ("ubuntu_irc", "sgd", "multiwoz21")
SPACES: tuple[Space, ...] = ("plain", "heads")


def _dse() -> list[Task]:
    tasks: list[Task] = [IntentPrototypes(name, shots) for name in (*INTENTS, *MORE_INTENTS) for shots in (1, 5)]
    for name in ("clinc150", "banking77_oos"):
        for shots in (1, 5):
            tasks += [OutOfScope(name, shots), OutOfScope(name, shots, "transductive")]
    tasks += [ResponseSelection(name) for name in ("amazon_qa", "medquad")]
    for name in DIALOGUES:
        for turns in (1, 3):
            tasks += [ResponseSelection(name, turns, space) for space in SPACES]
    return [*tasks, Geometry()]


def _fine_tuned(intents: tuple[str, ...], actions: tuple[str, ...]) -> list[Task]:
    return [
        *[IntentFineTuning(name, shots) for name in intents for shots in (1, 5)],
        *[ActionFineTuning(name, shots) for name in actions for shots in (10, 20)],
        *[SelectionFineTuning("amazon_qa", shots) for shots in (500, 1000)],
    ]


def _dialoguecse() -> list[Task]:
    retrieval = [SemanticRetrieval(name) for name in ("multidogo", "dialoguecse_jddc", "dialoguecse_ecd")]
    similarity = [SentenceSimilarity(name, "test.sts") for name in ("dialoguecse_jddc", "dialoguecse_ecd")]
    return [*retrieval, *similarity, SentenceSimilarity("stsb_en", "test")]


def _tadse() -> list[Task]:
    return [IntentNeighbours(name) for name in ("snips", "atis", "clinc150", "hwu64")]


def _diaeval() -> list[Task]:
    tasks: list[Task] = [ActionPrediction(name, space) for name in ("sgd", "star", "gsim") for space in SPACES]
    return [*tasks, DialogueInference("ci_tod"), DialogueInference("cdconv_zh")]


def _ums() -> list[Task]:
    return [Reranking(name, adversarial=planted) for name in DIALOGUES for planted in (False, True)]


def _conversation() -> list[Task]:
    tasks: list[Task] = [ResponseSelection(name, None, space) for name in DIALOGUES for space in SPACES]
    tasks += [ConversationRetrieval(name) for name in ("sgd", "multiwoz21")]
    return [*tasks, *[AppropriateReply(name, space) for name in ("sgd", "multiwoz21", "star") for space in SPACES]]


def _quick() -> list[Task]:
    return [
        *[IntentPrototypes(name, 1) for name in ("clinc150", "snips")],
        OutOfScope("clinc150", 5),
        ResponseSelection("sgd"),
        ResponseSelection("sgd", 1, "heads"),
        ResponseSelection("multiwoz21", 3),
        SentenceSimilarity("stsb_en", "test"),
    ]


SUITES: dict[str, Callable[[], list[Task]]] = {
    "dse": _dse,
    "dse-finetune": lambda: _fine_tuned(("snips", "hwu64"), ("gsim",)),
    "dialoguecse": _dialoguecse,
    "tadse": _tadse,
    "diaeval": _diaeval,
    "ums": _ums,
    "conversation": _conversation,
    "quick": _quick,
    "all": lambda: [*_dse(), *_dialoguecse(), *_tadse(), *_diaeval(), *_ums(), *_conversation()],
}
"""The suites by name; `all` excludes the one that fine-tunes.

`quick` takes under five minutes on two cores for a six-layer encoder.
"""


def suite_tasks(name: str) -> list[Task]:
    """Return the tasks of a suite."""
    if name not in SUITES:
        raise TurnloomError(f"there is no suite {name!r}", f"choose one of {', '.join(SUITES)}")
    return SUITES[name]()


def tasks_named(names: list[str]) -> list[Task]:
    """Return tasks by name: of any suite, fine-tuning tasks on more sets, or tasks of another package."""
    every = [
        *suite_tasks("all"),
        *_fine_tuned((*INTENTS, *MORE_INTENTS), ("gsim", "sgd", "star")),
        *[ResponseSelection("topical_chat", turns, space) for turns in (1, 3, None) for space in SPACES],
    ]
    known = {task.info.name: task for task in every}
    found = []
    for name in names:
        plugin = find_plugin(GROUP, name, known)
        if plugin is None and name not in known:
            raise TurnloomError(f"there is no task {name!r}", f"tasks are {', '.join([*known, *plugin_names(GROUP)])}")
        found.append(_task_of(plugin) if plugin else known[name])
    return found


def _task_of(plugin: Plugin) -> Task:
    """Return a task that another package adds: a subclass of `Task`, or any function that makes one."""
    make = plugin.load()
    try:
        task = make()
    except TypeError as error:
        raise plugin.broken(f"cannot be made without arguments: {error}") from error
    if not isinstance(task, Task) or task.info.name != plugin.name:
        raise plugin.broken(f"makes no turnloom.benchmarks.Task whose info.name is {plugin.name!r}")
    return task


MAX_DIALOGUES = 20_000
FEWEST_MESSAGES, FEWEST_REPLIES = 20, 100


def read_labelled_messages(path: Path) -> dict[str, Labelled]:
    """Read messages and their intents by split, from CSV, TSV or JSON lines with `text`, `label` and maybe `split`.

    Rows without a split are in `all`. Copies of a message within a split count once.
    """
    if not path.is_file():
        raise TurnloomError(f"{path} is not a file", "give a CSV, TSV or JSONL file with the columns text and label")
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
    """Return train, validation and test: the file's own splits, else a half and two quarters by a hash of the texts."""
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
    """Return few-shot and nearest-neighbour intent tasks on your own labelled messages.

    If some test messages are out of scope, out-of-scope detection is added.
    """
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
    """Yield the conversations of a dialogue table as lists of (speaker, text), up to `MAX_DIALOGUES`."""
    from turnloom.corpus.table import read_table

    for row in islice(read_table(table).select("turns").iter_rows(), MAX_DIALOGUES):
        yield [(turn["speaker"] or "", turn["text"]) for turn in row["turns"]]


def reply_tasks(table: Path) -> list[Task]:
    """Return response selection tasks on a dialogue table: the true reply among 100 after one, three and all turns."""
    dialogues = list(dialogues_of_table(table))
    tasks: list[Task] = []
    for turns in (1, 3, None):
        pairs: list[Selection] = list(next_turns(dialogues, turns))
        if len(pairs) >= FEWEST_REPLIES:
            name = table.resolve().name
            copied: Callable[[], list[Selection]] = partial(list, pairs)
            tasks += [ResponseSelection(name, turns, "plain", copied), ResponseSelection(name, turns, "heads", copied)]
    if not tasks:
        raise TurnloomError(f"{table} has fewer than {FEWEST_REPLIES} replies", "prepare more conversations")
    return tasks
