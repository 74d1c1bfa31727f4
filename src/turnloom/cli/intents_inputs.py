"""Names and unlabelled messages for `turnloom intents fit`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnloom.cli.console import messages_from
from turnloom.errors import TurnloomError

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
