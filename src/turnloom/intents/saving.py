"""Save a classifier as JSON and safetensors; never pickle."""

from __future__ import annotations

import json
from collections.abc import Sized
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, check_files
from turnloom.intents.calibration import Calibration
from turnloom.intents.evidence import Evidence, PoolReport
from turnloom.intents.examples import Examples
from turnloom.intents.fitted import Fitted, Options, Unlabelled
from turnloom.intents.methods import Choice, Head
from turnloom.intents.neighbours import Neighbours
from turnloom.intents.scope import Scope
from turnloom.runtime.protocols import Encoder, is_made_for

FORMAT = 2
READ = (1, 2)
"""The first format had neither names nor a pool."""
JSON, NUMBERS = "intents.json", "intents.safetensors"


class Saved(BaseModel):
    """The contents of `intents.json`."""

    model_config = ConfigDict(extra="forbid")

    format: int
    version: str
    encoder: str
    fingerprint: str
    model: str | None
    options: Options
    method: str
    neighbours: int | None
    cross_validation: dict[str, float]
    calibration: Calibration
    base: Calibration | None
    label_threshold: float
    scope: Scope
    intents: list[str]
    examples: list[tuple[list[str], list[str]]]
    held_out: list[list[str]]
    out_of_scope: list[list[str]]
    names: dict[str, str] = Field(default_factory=dict)
    taught: list[str] = Field(default_factory=list)
    pool: PoolReport | None = None

    def check(self, encoder: Encoder, folder: Path) -> None:
        """Reject an encoder that is neither the model that made the example vectors nor its export."""
        if not is_made_for(encoder, self.fingerprint):
            raise TurnloomError(
                f"{folder} was made with the model {self.encoder!r} ({self.fingerprint[:12]}), not with "
                f"{encoder.name!r} ({encoder.fingerprint[:12]})",
                f"give that model, or fit again with: turnloom intents fit EXAMPLES --model MODEL --out {folder}",
            )


def _described(fitted: Fitted, encoder: str, fingerprint: str, model: str | Path | None) -> Saved:
    known = fitted.examples
    return Saved(
        format=FORMAT,
        version=__version__,
        encoder=encoder,
        fingerprint=fingerprint,
        model=None if model is None else str(model),
        options=fitted.options,
        method=fitted.choice.method,
        neighbours=fitted.choice.neighbours,
        cross_validation=fitted.choice.scores,
        calibration=fitted.calibration,
        base=fitted.head.base if fitted.head else None,
        label_threshold=fitted.label_threshold,
        scope=fitted.scope,
        intents=list(known.intents),
        examples=[(list(turns), list(names)) for turns, names in zip(known.messages, known.labels(), strict=True)],
        held_out=[list(turns) for turns in fitted.held_out.messages],
        out_of_scope=[list(turns) for turns in fitted.outside.messages],
        names=dict(fitted.evidence.names),
        taught=list(fitted.evidence.taught),
        pool=fitted.evidence.report,
    )


def write_fitted(fitted: Fitted, folder: Path, encoder: str, fingerprint: str, model: str | Path | None) -> None:
    """Write a classifier atomically: its folder is never half-written.

    `encoder` and `fingerprint` identify the model that made the vectors; `model` is its folder, if known.
    """
    from safetensors.numpy import save_file

    numbers = {"examples": fitted.examples.vectors}
    if fitted.head is not None:
        numbers["head"] = fitted.head.weights
    for name, messages in (("held_out", fitted.held_out), ("out_of_scope", fitted.outside)):
        if messages.messages:
            numbers[name] = messages.vectors
    for name, vectors in (("names", fitted.evidence.name_vectors), ("taught", fitted.evidence.taught)):
        if vectors:
            numbers[name] = np.stack(list(vectors.values()))
    if fitted.evidence.middle is not None:
        numbers["middle"] = fitted.evidence.middle
    if fitted.evidence.near is not None:
        # Half precision: they are many, and only their order and sum matter.
        numbers["near"] = fitted.evidence.near.vectors.astype(np.float16)
        numbers["beliefs"] = fitted.evidence.near.beliefs.astype(np.float16)
    whole = WholeFolder(folder, JSON, "a classifier")
    text = _described(fitted, encoder, fingerprint, model).model_dump_json(indent=1)
    (whole.new / JSON).write_text(text + "\n", encoding="utf-8")
    save_file({name: np.ascontiguousarray(values) for name, values in numbers.items()}, whole.new / NUMBERS)
    whole.commit()


def _read(folder: Path) -> tuple[Saved, dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if not (folder / JSON).is_file():
        raise TurnloomError(f"{folder} holds no intents", "make them with 'turnloom intents fit'")
    check_files(folder)
    try:
        found = json.loads((folder / JSON).read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("format") not in READ:
            raise TurnloomError(
                f"{folder / JSON} has the format {found.get('format')}, this version reads {FORMAT}", "fit again"
            )
        return Saved.model_validate(found), load_file(folder / NUMBERS)
    except ValidationError as error:
        first = error.errors()[0]
        raise _damaged(folder, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, OSError, SafetensorError) as error:
        raise _damaged(folder, str(error).splitlines()[0]) from error


def _damaged(folder: Path, why: str) -> TurnloomError:
    return TurnloomError(f"{folder} is damaged ({why})", "fit again")


def _check_numbers(saved: Saved, numbers: dict[str, Any], folder: Path) -> None:
    """Reject arrays that do not match the messages and intents beside them."""
    counts: dict[str, Sized] = {
        "names": saved.names,
        "taught": saved.taught,
        "examples": saved.examples,
        "held_out": saved.held_out,
        "out_of_scope": saved.out_of_scope,
    }
    if any(len(numbers.get(name, ())) != len(messages) for name, messages in counts.items()):
        raise _damaged(folder, "examples and vectors differ in number")
    head = (numbers["examples"].shape[1] + 1, len(saved.intents))
    if saved.base is not None and ("head" not in numbers or numbers["head"].shape != head):
        raise _damaged(folder, "the head is not that of these intents")
    if "near" in numbers and numbers["beliefs"].shape != (len(numbers["near"]), len(saved.taught)):
        raise _damaged(folder, "beliefs and the pool's vectors differ in number")
    if not saved.scope.quantiles or not all(set(names) & set(saved.intents) for _, names in saved.examples):
        raise _damaged(folder, "an example has no intent, or the scope no quantiles")


def read_fitted(folder: Path) -> tuple[Fitted, Saved]:
    """Read a classifier and the description of its encoder.

    Raises:
        TurnloomError: If the folder holds no classifier, or a damaged one.
    """
    saved, numbers = _read(folder)
    _check_numbers(saved, numbers, folder)
    messages = tuple(tuple(turns) for turns, _ in saved.examples)
    intents = tuple(saved.intents)
    member = np.array([[name in names for name in intents] for _, names in saved.examples], bool)
    evidence = Evidence(
        saved.names,
        dict(zip(saved.names, numbers.get("names", ()), strict=True)),
        dict(zip(saved.taught, numbers.get("taught", ()), strict=True)),
        _neighbours(saved, numbers),
        numbers.get("middle"),
        saved.pool,
    )
    examples = Examples(messages, numbers["examples"], intents, member.reshape(len(messages), len(intents)))
    head = Head(saved.base, numbers["head"]) if saved.base is not None else None
    fitted = Fitted(
        evidence.applied(examples),
        saved.options,
        Choice(saved.method, saved.neighbours, saved.cross_validation),
        head,
        saved.calibration,
        saved.label_threshold,
        saved.scope,
        _unlabelled(saved.held_out, numbers.get("held_out")),
        _unlabelled(saved.out_of_scope, numbers.get("out_of_scope")),
        evidence,
    )
    return fitted, saved


def _unlabelled(messages: list[list[str]], vectors: Any) -> Unlabelled:
    return Unlabelled(tuple(tuple(turns) for turns in messages), vectors) if messages else Unlabelled()


def _neighbours(saved: Saved, numbers: dict[str, Any]) -> Neighbours | None:
    if "near" not in numbers:
        return None
    vectors, beliefs = (numbers[name].astype(np.float32) for name in ("near", "beliefs"))
    return Neighbours(vectors, beliefs, tuple(saved.taught))
