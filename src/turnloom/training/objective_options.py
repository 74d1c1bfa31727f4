"""The options of an objective in a recipe: the keywords of its loss class, defined only there.

The loss of kind K is the class in `turnloom/objectives/K.py` whose attribute `kind` is K. Other packages add losses
with entry points in the group `turnloom.objectives`. A module is imported when a recipe uses it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.errors import PydanticUserError

from turnloom.plugins import KindOfOption, Plugin

GROUP = "turnloom.objectives"
"""The name of Turnloom's own package, and of the group of entry points."""


class Options(BaseModel):
    """Immutable settings that reject unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ObjectiveOptions(Options):
    """The options of a loss, and what its class declares."""

    model_config = ConfigDict(arbitrary_types_allowed=True)  # For keywords that no recipe can set, such as modules.

    loss: ClassVar[Any]
    whole_batch: ClassVar[bool]
    """Whether it needs the whole batch at once, so that the stage's `mini_batch_size` does not apply."""
    wants_frequencies: ClassVar[bool]
    """Whether labels are the frequencies of replies."""
    labels_are_rows: ClassVar[bool]
    """Whether labels are the texts' rows in the vector tables of its option `teachers`."""
    trains_cross_encoder: ClassVar[bool]
    kept_routes: ClassVar[tuple[str, ...]]
    """The model outputs that its heads become if they are kept."""
    kind: str

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is made from a signature, so pickle cannot find it by name; datasets and Ray pickle it.
        return _unpickled, (self.model_dump(),)


def _unpickled(values: dict[str, Any]) -> ObjectiveOptions:
    return TypeAdapter(Objective).validate_python(values)


def _keywords(loss: Any) -> dict[str, inspect.Parameter]:
    """Return a loss's keywords besides the model, including those that it passes on to base classes."""
    _model, *words = inspect.signature(loss, eval_str=True).parameters.values()
    named = {word.name: word for word in words if word.kind in (word.KEYWORD_ONLY, word.POSITIONAL_OR_KEYWORD)}
    bases = [base for base in getattr(loss, "__mro__", ()) if "passed_on" in vars(base)]
    if bases and len(named) < len(words):
        passed = inspect.signature(bases[0], eval_str=True).parameters
        named = {**{name: passed[name] for name in bases[0].passed_on}, **named}
    return named


@cache
def _options_of(kind: str, loss: Any) -> type[ObjectiveOptions]:
    """Make the options class from a loss's signature: ``Loss(model, *, option=default)``."""
    named = _keywords(loss)
    fields: dict[str, Any] = {
        word.name: (
            Any if word.annotation is word.empty else word.annotation,
            ... if word.default is word.empty else word.default,
        )
        for word in named.values()
        if word.name != "mini_batch_size"
    }
    made = create_model(kind, __base__=ObjectiveOptions, __module__=loss.__module__, **fields)
    made.loss = loss
    made.whole_batch = len(fields) == len(named)
    made.wants_frequencies = getattr(loss, "wants_frequencies", False)
    made.labels_are_rows = getattr(loss, "labels_are_rows", False)
    made.trains_cross_encoder = getattr(loss, "trains_cross_encoder", False)
    made.kept_routes = getattr(loss, "kept_routes", ("query", "document"))
    return made


def _plugged(plugin: Plugin) -> type[ObjectiveOptions]:
    loss = plugin.load()
    if not callable(loss):
        raise plugin.broken(f"is no loss: {loss!r} cannot be called with a model")
    try:
        return _options_of(plugin.name, loss)
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        raise plugin.broken(f"has options that cannot be understood: {error}") from error


def _own(kind: str) -> type[ObjectiveOptions] | None:
    """Return the options of Turnloom's own loss of a kind, if there is one."""
    name = f"{GROUP}.{kind}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # The loss exists, but something it imports is missing.
        return None
    losses = (value for value in vars(module).values() if isinstance(value, type) and vars(value).get("kind") == kind)
    return next((_options_of(kind, loss) for loss in losses), None)


def _own_kinds() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(importlib.import_module(GROUP).__path__))
    return [name for name in names if _own(name)]


Objective = Annotated[ObjectiveOptions, KindOfOption(GROUP, _own, _own_kinds, _plugged)]
