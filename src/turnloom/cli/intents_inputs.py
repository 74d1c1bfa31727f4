"""Names, feedback and unlabelled messages for `turnloom intents fit`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnloom.cli.console import messages_from
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.intents.names import Names

ENOUGH_TURNS = 200_000
"""Turns of a table to read for a pool: of a larger one, a sample of its dialogues."""


def is_names_file(source: str) -> bool:
    """Whether a file has names of intents rather than examples."""
    return Path(source).suffix.lower() in (".yaml", ".yml")


def read_names(path: Path) -> dict[str, str]:
    """Read names of intents from YAML: a list, or a mapping from name to description."""
    import yaml

    from turnloom.intents.names import given_names

    try:
        found: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise TurnloomError(
            f"{path} cannot be read ({reason})", "write '- name' or 'name: description' lines"
        ) from error
    if not isinstance(found, (list, dict)):
        raise TurnloomError(f"{path} holds no names", "write '- name' or 'name: description' lines")
    try:
        return given_names(found)
    except TurnloomError as error:
        raise TurnloomError(f"{path}: {error.problem}", error.fix) from error


def confirmed(feedback: Path | None) -> dict[tuple[str, ...], str]:
    """Return the messages whose intent people confirmed or corrected."""
    from turnloom.feedback import Feedback

    if feedback is None:
        return {}
    if not feedback.is_file():
        raise TurnloomError(f"{feedback} does not exist", "name a file of feedback, such as a studio's feedback.jsonl")
    return dict(Feedback(feedback).labelled())


def called_names(examples: str, descriptions: Path | None, names: bool) -> Names:
    """Return what intents are called, from the file of names or the descriptions."""
    if not names:
        if descriptions is not None or is_names_file(examples):
            raise TurnloomError("--no-names does not go with a file of names", "leave one of them out")
        return False
    both = [Path(examples)] if is_names_file(examples) else []
    found: dict[str, str] = {}
    for path in [*both, *([descriptions] if descriptions else [])]:
        found |= read_names(path)
    return found or True


def read_pool(source: str, context_turns: int) -> list[tuple[str, ...]]:
    """Read unlabelled messages: a file of messages, or the customers' turns of a dialogue table."""
    if not Path(source).is_dir():
        return [message.turns for message in messages_from(source, None)]
    from turnloom.corpus import read_table
    from turnloom.corpus.table import read_manifest

    turns = read_manifest(source).turns
    table = read_table(source).select("turns")
    if turns > ENOUGH_TURNS:
        table = table.sample(fraction=ENOUGH_TURNS / turns, seed=0)
    return list(
        itertools.chain.from_iterable(_customer_turns(row["turns"], context_turns) for row in table.iter_rows())
    )


def _customer_turns(turns: list[dict[str, Any]], context_turns: int) -> Iterator[tuple[str, ...]]:
    """Yield the turns of everyone but the answering side, or of the first speaker if nobody is named so."""
    from turnloom.discovery.messages import answers_of

    for index, answer in enumerate(answers_of(turns)):
        if not answer:
            yield tuple(turn["text"] for turn in turns[max(index - context_turns, 0) : index + 1])
