"""Losses, views, readers, tasks and models from other packages, found by entry points and loaded by name.

An installed package is only imported when it is used, so a broken one only affects its users.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError, ValidationError
from pydantic_core.core_schema import (
    CoreSchema,
    no_info_plain_validator_function,
    plain_serializer_function_ser_schema,
)

from turnloom.errors import TurnloomError, did_you_mean

GROUPS = {
    "turnloom.objectives": "objective",
    "turnloom.views": "view",
    "turnloom.readers": "reader",
    "turnloom.tasks": "task",
    "turnloom.models": "model",
}
"""The entry point groups, and what their entries are."""


@dataclass(frozen=True)
class Plugin:
    """One entry that a package adds to one of `GROUPS`, with its name in recipes and options."""

    group: str
    name: str
    package: str
    version: str
    entry: EntryPoint

    def load(self) -> Any:
        """Load the object.

        Raises:
            TurnloomError: If importing it fails, whatever the reason.
        """
        try:
            return self.entry.load()
        except Exception as error:  # Other people's code may fail in any way, and only they can fix it.
            raise self.broken(f"cannot be loaded: {type(error).__name__}, {error}") from error

    def broken(self, why: str) -> TurnloomError:
        """Return an error that names the package and the fix."""
        return TurnloomError(
            " ".join(f"the {GROUPS[self.group]} {self.name!r} of the package {self.package} {why}".split()),
            f"fix {self.entry.value} in {self.package} {self.version}, or remove it: pip uninstall {self.package}",
        )


@cache
def _plugins(group: str, _path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Return all plug-ins of a group; searched again when `sys.path` changes."""
    plugins = []
    for entry in entry_points(group=group):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else (entry.module, "")
        plugins.append(Plugin(group, entry.name, package, version, entry))
    return tuple(sorted(plugins, key=lambda plugin: (plugin.name, plugin.package)))


def plugin_names(group: str) -> list[str]:
    """Return the names that other packages add to a group."""
    return list(dict.fromkeys(plugin.name for plugin in _plugins(group, tuple(sys.path))))


def find_plugin(group: str, name: str, own: Collection[str]) -> Plugin | None:
    """Find a plug-in of a group by name; None if there is none. `own` are Turnloom's own names.

    Raises:
        TurnloomError: If two packages, or a package and Turnloom, use the same name.
    """
    plugins = [plugin for plugin in _plugins(group, tuple(sys.path)) if plugin.name == name]
    owners = [*(["Turnloom"] if name in own and plugins else []), *[plugin.package for plugin in plugins]]
    if len(owners) > 1:
        raise TurnloomError(
            f"{' and '.join(owners)} both have the {GROUPS[group]} {name!r}",
            f"rename it in {owners[-1]}, or remove that package: pip uninstall {owners[-1]}",
        )
    return plugins[0] if plugins else None


def _refuse_unknown(value: Any, model: type[BaseModel]) -> None:
    """Refuse a misspelt option with the nearest known ones; pydantic would say that it is extra, and no more."""
    unknown = [name for name in value if name not in model.model_fields] if isinstance(value, dict) else []
    if unknown and model.model_config.get("extra") == "forbid":
        options = [name for name in model.model_fields if name != "kind"]
        hint = did_you_mean(str(unknown[0]), options) or f"its options are {', '.join(options) or 'none'}"
        problem = PydanticCustomError("extra_forbidden", "there is no such option; {hint}", {"hint": hint})
        details = InitErrorDetails(type=problem, loc=(str(unknown[0]),), input=value[unknown[0]])
        raise ValidationError.from_exception_data(model.__name__, [details])


class KindOfOption:
    """An annotation for fields that take Turnloom's own options, distinguished by `kind`, and those of other packages.

    `own` returns the class of Turnloom's own options of a kind, or None; `own_kinds` returns all its kinds; `model_of`
    returns the options of a plug-in.
    """

    def __init__(
        self,
        group: str,
        own: Callable[[str], type[BaseModel] | None],
        own_kinds: Callable[[], list[str]],
        model_of: Callable[[Plugin], type[BaseModel]],
    ) -> None:
        self._group, self._own, self._own_kinds, self._model_of = group, own, own_kinds, model_of

    def _validated(self, value: Any) -> Any:
        if not isinstance(value, dict | BaseModel):
            raise PydanticKnownError("model_attributes_type")
        kind = str(value.get("kind", "") if isinstance(value, dict) else getattr(value, "kind", ""))
        if not kind:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": "'kind'"})
        model = self._own(kind)
        if plugin := find_plugin(self._group, kind, [kind] if model else []):
            model = self._model_of(plugin)
        if model is None:
            expected = ", ".join(map(repr, self._own_kinds()))
            raise PydanticKnownError(
                "union_tag_invalid", {"discriminator": "'kind'", "tag": kind, "expected_tags": expected}
            )
        _refuse_unknown(value, model)
        return model.model_validate(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Define how pydantic reads and writes such a field."""
        written = plain_serializer_function_ser_schema(
            lambda value, info: value.model_dump(mode=info.mode), info_arg=True
        )
        return no_info_plain_validator_function(self._validated, serialization=written)
