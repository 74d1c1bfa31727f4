"""Generate reference pages from code: the command line, the HTTP interface, recipes and service.yaml.

`tools/site_hooks.py` adds them to every build of the site, so they are always up to date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["PAGES"]

_BOLD = re.compile(r"\[bold\](.+?)\[/\]")
_FIELD = re.compile(r"^\s*(\w+): (.+)$")


def _help_text(text: str) -> Iterator[str]:
    """Return a command's help as Markdown; lines that are commands become one code block."""
    examples: list[str] = []
    for paragraph in text.split("\n\n"):
        line = " ".join(paragraph.split())
        if re.match(r"(turnloom|torchrun|echo|cat) ", line):
            examples.append(line)
        else:
            yield _BOLD.sub(r"**\1**", line)
    if examples:
        yield "\n".join(["```console", *(f"$ {line}" for line in examples), "```"])


def _command(words: list[str], command: Any) -> Iterator[str]:
    context = command.make_context(words[-1], [], resilient_parsing=True)
    nested = getattr(command, "commands", {})
    yield f"{'#' * min(len(words), 3)} {' '.join(words)}" if len(words) > 1 else "## turnloom"
    yield from _help_text(command.help or "")
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    options = [(name, text) for name, text in records if not name.startswith("--help")]
    if options:
        yield "\n".join(f"- `{name}`: {' '.join(text.split())}" for name, text in options)
    for name in nested:
        yield from _command([*words, name], nested[name])


def command_line() -> str:
    """Describe every command with its help, arguments and options."""
    import typer.main

    from turnloom.cli.main import app

    return "\n\n".join(_command(["turnloom"], typer.main.get_command(app)))


def _kind(schema: Mapping[str, Any]) -> str:
    """Describe a field's type in words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _fields(schema: Mapping[str, Any]) -> str:
    """Return one bullet per field: its type, whether it is required, its meaning."""
    described = schema.get("description", "").splitlines()
    told = {match[1]: match[2] for line in described if (match := _FIELD.match(line))}
    lines = []
    for name, field in schema.get("properties", {}).items():
        needed = "required" if name in schema.get("required", []) else ""
        usual = f"default `{json.dumps(field['default'])}`" if field.get("default") is not None else ""
        facts = ", ".join(filter(None, (_kind(field), needed, usual)))
        lines.append(f"- `{name}` ({facts}){': ' + told[name] if name in told else ''}")
    return "\n".join(lines)


def _body(answer: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    found = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return schemas.get(found.get("$ref", "").rpartition("/")[2], found) if found else {}


def _route(path: str, method: str, route: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {method.upper()} {path}"
    yield " ".join(route.get("description", route.get("summary", "")).split())
    asked = _body(route.get("requestBody", {}), schemas)
    if asked:
        yield "**Request**"
        yield _fields(asked)
        for example in asked.get("examples", []):
            yield f"```json\n{json.dumps(example, ensure_ascii=False)}\n```"
    answered = _body(route.get("responses", {}).get("200", {}), schemas)
    if answered.get("properties"):
        yield "**Response**"
        yield _fields(answered)
        for example in answered.get("examples", []):
            yield f"```json\n{json.dumps(example, ensure_ascii=False)}\n```"


def http() -> str:
    """Describe every route of the service with its request and response."""
    from turnloom.service.app import create_app
    from turnloom.service.config import ServiceConfig

    schema = create_app(ServiceConfig.model_validate({"model": {"path": "model"}})).openapi()
    schemas = schema["components"]["schemas"]
    parts = [
        part
        for path, methods in schema["paths"].items()
        for method, route in methods.items()
        for part in _route(path, method, route, schemas)
    ]
    answers = sorted({name for part in parts for name in re.findall(r"`([A-Z]\w+)`", part) if name in schemas})
    for name in answers:
        parts += [f"### {name}", _fields(schemas[name])]
    return "\n\n".join(part for part in parts if part)


def recipes() -> str:
    """Return every built-in recipe as YAML."""
    from turnloom.training.recipe import recipe_names, recipe_text

    return "\n\n".join(f"### {name}\n\n```yaml\n{recipe_text(name).rstrip()}\n```" for name in recipe_names())


def service_settings() -> str:
    """Return the commented configuration that `turnloom serve --init` prints."""
    from turnloom.service.config_file import config_text

    return f"```yaml\n{config_text().rstrip()}\n```"


PAGES = {"cli": command_line, "http": http, "recipes": recipes, "service": service_settings}
"""The contents for `<!-- generated: NAME -->` in a page."""
