"""Which tasks make up a suite."""

from __future__ import annotations

from collections.abc import Callable

from turnloom.benchmarks.task import Space, Task
from turnloom.benchmarks.tasks.action_prediction import ActionPrediction
from turnloom.benchmarks.tasks.dialogue_inference import DialogueInference
from turnloom.benchmarks.tasks.fine_tuning import ActionFineTuning, IntentFineTuning, SelectionFineTuning
from turnloom.benchmarks.tasks.geometry import Geometry
from turnloom.benchmarks.tasks.intent_knn import IntentNeighbours
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope
from turnloom.benchmarks.tasks.reranking import Reranking
from turnloom.benchmarks.tasks.response_selection import ResponseSelection
from turnloom.benchmarks.tasks.retrieval import SemanticRetrieval
from turnloom.benchmarks.tasks.similarity import SentenceSimilarity
from turnloom.errors import TurnloomError
from turnloom.plugins import Plugin, find_plugin, plugin_names

__all__ = ["SUITES", "suite_tasks", "tasks_named"]

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
    "quick": _quick,
    "all": lambda: [*_dse(), *_dialoguecse(), *_tadse(), *_diaeval(), *_ums()],
}
"""The suites by name; `all` leaves out the one that fine-tunes.

`quick` takes under five minutes on two cores for a six-layer encoder.
"""


def suite_tasks(name: str) -> list[Task]:
    """The tasks of a suite."""
    if name not in SUITES:
        raise TurnloomError(f"there is no suite {name!r}", f"choose one of {', '.join(SUITES)}")
    return SUITES[name]()


def tasks_named(names: list[str]) -> list[Task]:
    """Tasks by their own names: of any suite or of none, on more sets where they fine-tune, or of another package."""
    every = [
        *suite_tasks("all"),
        *_fine_tuned((*INTENTS, *MORE_INTENTS), ("gsim", "sgd", "star")),
        *[ResponseSelection("topical_chat", 1, space) for space in SPACES],
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
    """A task that another package adds: a subclass of `Task`, or any function that makes one."""
    make = plugin.load()
    try:
        task = make()
    except TypeError as error:
        raise plugin.broken(f"cannot be made without arguments: {error}") from error
    if not isinstance(task, Task) or task.info.name != plugin.name:
        raise plugin.broken(f"makes no turnloom.benchmarks.Task whose info.name is {plugin.name!r}")
    return task
