"""What users may import: a change here is a change for them, and belongs in the changelog."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import turnloom

PUBLIC = {
    "turnloom": ["__version__", "load"],
    "turnloom.corpus": [
        "SCHEMA_VERSION",
        "Conversion",
        "Dialogue",
        "Manifest",
        "Slot",
        "Turn",
        "convert",
        "find_logs",
        "read_manifest",
        "read_table",
    ],
    "turnloom.benchmarks": [
        "SUITES",
        "CachedEncoder",
        "Draw",
        "RunResult",
        "Task",
        "TaskInfo",
        "TaskResult",
        "compare_runs",
        "read_results",
        "read_runs",
        "run_tasks",
        "suite_tasks",
        "tasks_named",
    ],
    "turnloom.benchmarks.report": ["build_report"],
    "turnloom.discovery": [
        "Discovery",
        "Group",
        "GroupName",
        "MessageOptions",
        "Messages",
        "Namer",
        "Summary",
        "discover",
        "discover_table",
        "encode_messages",
        "find_parser",
        "load_discovery",
        "name_groups",
        "read_messages",
        "save_discovery",
    ],
    "turnloom.errors": ["TurnloomError", "did_you_mean"],
    "turnloom.intents": [
        "OUT_OF_SCOPE",
        "Answer",
        "Candidate",
        "Cluster",
        "IntentClassifier",
        "LabelledMessage",
        "Message",
        "Neighbour",
        "PoolReport",
        "Rate",
        "Scope",
        "Suggestion",
        "evaluate",
        "read_messages",
    ],
    "turnloom.objectives": [
        "ContextReplyHeads",
        "Contrast",
        "HardNegativeContrast",
        "InverseFrequencyContrast",
        "MaskedLanguage",
        "MatchingGuided",
        "NTXent",
        "Paraphrases",
        "ReplyAndMeaning",
        "ResponseContrast",
        "Siamese",
        "Sum",
        "Taught",
        "TemplatePair",
        "UtteranceManipulation",
        "small_transformer",
    ],
    "turnloom.replies": [
        "Conversation",
        "IndexVersion",
        "ReplyIndex",
        "ReplyOptions",
        "ReplyScores",
        "Suggestion",
        "evaluate_replies",
    ],
    "turnloom.service": ["ServiceConfig", "config_text", "load_config"],
    "turnloom.training": [
        "ConversationRecipe",
        "Recipe",
        "RerankRecipe",
        "TrainResult",
        "VectorResult",
        "load_recipe",
        "recipe_names",
        "recipe_text",
        "train",
        "train_conversation",
        "train_rerank",
        "trained_on_vectors",
    ],
    "turnloom.vectors": ["Conversations", "StoredEncoder", "VectorOptions", "VectorTable", "build_vectors"],
    "turnloom.views": [
        "Consecutive",
        "ContextResponse",
        "DialogueView",
        "Dialogues",
        "Dropout",
        "LabelledPairs",
        "Manipulations",
        "Matching",
        "Packed",
        "SharedIntents",
        "SharedReplies",
        "Spans",
        "Templates",
        "ViewManifest",
        "ViewOptions",
        "Windows",
        "build_view",
        "load_view",
        "read_view_manifest",
        "stream_view",
    ],
    "turnloom.runtime": [
        "Context",
        "Encoder",
        "Scorer",
        "SemanticCompression",
        "TrainableEncoder",
        "choose_weight",
        "load_encoder",
    ],
}
MODULES = [module.name for module in pkgutil.walk_packages(turnloom.__path__, "turnloom.")]


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names(module: str) -> None:
    assert importlib.import_module(module).__all__ == PUBLIC[module]


@pytest.mark.parametrize("module", MODULES)
def test_every_name_in_all_exists_and_is_sorted(module: str) -> None:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", [])
    assert all(hasattr(found, name) for name in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
