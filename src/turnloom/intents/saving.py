"""A classifier on disk: what it knows as JSON, its numbers as safetensors; never pickle."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder
from turnloom.intents.calibration import Calibration
from turnloom.intents.choose import Choice
from turnloom.intents.examples import Examples
from turnloom.intents.fitted import Fitted, Options, Unlabelled
from turnloom.intents.head import Head
from turnloom.intents.scope import Rate, Scope
from turnloom.runtime.protocols import Encoder, is_made_for

__all__ = ["FORMAT", "Saved", "read_fitted", "write_fitted"]

FORMAT = 1
JSON, NUMBERS = "intents.json", "intents.safetensors"


class Saved(BaseModel):
    """What stands in `intents.json`."""

    model_config = ConfigDict(extra="forbid")

    format: int
    version: str
    encoder: str
    fingerprint: str
    model: str | None
    options: dict[str, Any]
    method: str
    neighbours: int | None
    cross_validation: dict[str, float]
    calibration: dict[str, float]
    base: dict[str, float] | None
    label_threshold: float
    scope: dict[str, Any]
    intents: list[str]
    examples: list[tuple[list[str], list[str]]]
    held_out: list[list[str]]
    out_of_scope: list[list[str]]

    def check(self, encoder: Encoder, folder: Path) -> None:
        """Refuse an encoder whose vectors are not those of the examples: neither that model nor its export."""
        if not is_made_for(encoder, self.fingerprint):
            raise TurnloomError(
                f"{folder} was made with the model {self.encoder!r} ({self.fingerprint[:12]}), not with "
                f"{encoder.name!r} ({encoder.fingerprint[:12]})",
                f"give that model, or fit again with: turnloom intents fit EXAMPLES --model MODEL --out {folder}",
            )


def _described(fitted: Fitted, encoder: str, fingerprint: str, model: str | Path | None) -> Saved:
    known = fitted.examples
    options = asdict(fitted.options)
    options["frequencies"] = dict(fitted.options.frequencies) if fitted.options.frequencies is not None else None
    return Saved(
        format=FORMAT,
        version=__version__,
        encoder=encoder,
        fingerprint=fingerprint,
        model=None if model is None else str(model),
        options=options,
        method=fitted.choice.method,
        neighbours=fitted.choice.neighbours,
        cross_validation=fitted.choice.scores,
        calibration=asdict(fitted.calibration),
        base=asdict(fitted.head.base) if fitted.head else None,
        label_threshold=fitted.label_threshold,
        scope=asdict(fitted.scope),
        intents=list(known.intents),
        examples=[(list(turns), list(names)) for turns, names in zip(known.messages, known.labels(), strict=True)],
        held_out=[list(turns) for turns in fitted.held_out.messages],
        out_of_scope=[list(turns) for turns in fitted.outside.messages],
    )


def write_fitted(fitted: Fitted, folder: Path, encoder: str, fingerprint: str, model: str | Path | None) -> None:
    """Write a classifier so that its folder is never half of one.

    Args:
        fitted: What it knows.
        folder: Where it goes.
        encoder: The name of the model whose vectors it holds.
        fingerprint: What identifies that model.
        model: Where the model is, if that is known.
    """
    from safetensors.numpy import save_file

    numbers = {"examples": fitted.examples.vectors}
    if fitted.head is not None:
        numbers["head"] = fitted.head.weights
    for name, messages in (("held_out", fitted.held_out), ("out_of_scope", fitted.outside)):
        if messages.messages:
            numbers[name] = messages.vectors
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
    try:
        found = json.loads((folder / JSON).read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("format") != FORMAT:
            raise TurnloomError(
                f"{folder / JSON} has the format {found.get('format')}, this version reads {FORMAT}", "fit again"
            )
        return Saved.model_validate(found), load_file(folder / NUMBERS)
    except (ValidationError, ValueError, OSError, SafetensorError) as error:
        raise TurnloomError(f"{folder} is damaged ({str(error).splitlines()[0]})", "fit again") from error


def _scope(found: dict[str, Any]) -> Scope:
    accept = found["false_accept"]
    return Scope(
        found["threshold"],
        Rate(**found["false_reject"]),
        Rate(**accept) if accept else None,
        found["source"],
        tuple(found["quantiles"]),
    )


def read_fitted(folder: Path) -> tuple[Fitted, Saved]:
    """Read a classifier and what is said of its encoder.

    Raises:
        TurnloomError: If there is none, or it is damaged.
    """
    saved, numbers = _read(folder)
    messages = tuple(tuple(turns) for turns, _ in saved.examples)
    intents = tuple(saved.intents)
    member = np.array([[name in names for name in intents] for _, names in saved.examples])
    vectors = numbers.get("examples")
    if vectors is None or len(vectors) != len(messages):
        raise TurnloomError(f"{folder} is damaged (examples and vectors differ in number)", "fit again")
    head = Head(Calibration(**saved.base), numbers["head"]) if saved.base is not None else None
    fitted = Fitted(
        Examples(messages, vectors, intents, member),
        Options(**saved.options),
        Choice(saved.method, saved.neighbours, saved.cross_validation),
        head,
        Calibration(**saved.calibration),
        saved.label_threshold,
        _scope(saved.scope),
        _unlabelled(saved.held_out, numbers.get("held_out")),
        _unlabelled(saved.out_of_scope, numbers.get("out_of_scope")),
    )
    return fitted, saved


def _unlabelled(messages: list[list[str]], vectors: Any) -> Unlabelled:
    return Unlabelled(tuple(tuple(turns) for turns in messages), vectors) if messages else Unlabelled()
