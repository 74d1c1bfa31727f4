"""Shared by all routes: request types, the current resources, scopes, limits, and fast JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Depends, Request, Response
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from turnloom.service.admission import current_work
from turnloom.service.audit import Actor
from turnloom.service.config import Limits
from turnloom.service.errors import ErrorShape, RefusedError
from turnloom.service.keys import tenant_of
from turnloom.service.lifecycle import Service
from turnloom.service.models import conversation_tokens
from turnloom.service.resources import Resources
from turnloom.service.scopes import KeyScope
from turnloom.service.scrubbing import hold_personal_data

_RETRY_AFTER = {"Retry-After": {"description": "When to try again, in seconds.", "schema": {"type": "integer"}}}
_DESCRIBED: dict[int, dict[str, Any]] = {
    403: {"description": "The key has no such scope; or, without keys, a web page of another site asks."},
    408: {"description": "The request did not arrive in time."},
    429: {
        "description": "The request would wait too long (`overloaded`), or the key's requests (`rate_limit`) or tokens "
        "(`token_quota`) are used up.",
        "headers": _RETRY_AFTER,
    },
    431: {"description": "Too many headers, or too long ones."},
    503: {
        "description": "Models are still being loaded, or intents or replies cannot be read (`in_recovery`, "
        "`unavailable`).",
        "headers": _RETRY_AFTER,
    },
    504: {"description": "The request took longer than it may."},
    507: {"description": "The change could not be written to disk; nothing was changed."},
}
_STATUSES = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 500, 503, 504, 507)
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorShape, **_DESCRIBED.get(status, {})} for status in _STATUSES
}
_FOLDERS = re.compile(r"(?<!\S)/\S*/")
_bearer = HTTPBearer(auto_error=False, description="An API key of the service.")


def _encodable(text: str) -> str:
    """Reject lone surrogates, which JSON can contain but no model or file can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text is no valid Unicode") from None
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("the text is blank")
    return text


Text = Annotated[str, AfterValidator(_encodable), AfterValidator(_not_blank), Field(min_length=1)]
Name = Annotated[str, AfterValidator(_encodable), AfterValidator(_not_blank), Field(min_length=1, max_length=200)]
Turns = Annotated[list[Text], Field(min_length=1)]


class Asked(BaseModel):
    """A request body. Unknown fields are errors, so that a typo never passes unnoticed."""

    model_config = ConfigDict(extra="forbid")


def example(**request: Any) -> ConfigDict:
    """Model configuration that adds an example to the API description."""
    return ConfigDict(json_schema_extra={"examples": [request]})


def needs(scope: KeyScope) -> Any:
    """A dependency that requires a scope. The guard has authenticated the key already."""

    async def check(request: Request, _shown: Annotated[Any, Depends(_bearer)] = None) -> None:
        key = request.scope["state"].get("key")
        if key is None and service_of(request).config.keys:
            raise RefusedError(401, "missing_key", "Send a key as: Authorization: Bearer KEY.")
        if key is not None and scope not in key.scopes:
            raise RefusedError(403, "beyond_scope", f"This key has no scope {scope!r}.")

    return Depends(check)


def service_of(request: Request) -> Service:
    """Return the service behind an app."""
    service: Service = request.app.state.service
    return service


async def _resources(request: Request) -> Resources:
    """Return what the key's tenant has. A route gets no other way to data, so it cannot reach another tenant's."""
    resources = service_of(request).resources
    if resources is None:
        raise RefusedError(503, "not_ready", "The models are still being loaded.", retry_after=5)
    tenant = tenant_of(request.scope["state"].get("key"))
    return resources.tenants[tenant] if tenant else resources


def not_served(using: Resources, part: str) -> RefusedError:
    """Return what to say of a part that is not there: none is configured, or it could not be loaded."""
    if part in using.problems:
        return RefusedError(503, "in_recovery", f"The {part} could not be loaded; the operator must repair them.")
    return RefusedError(404, "not_served", f"No {part} are served.")


Using = Annotated[Resources, Depends(_resources)]
Result = TypeVar("Result")


async def in_thread(call: Callable[..., Result], *arguments: Any) -> Result:
    """Run blocking work in a thread of the request. A caller that stops waiting is released at once."""
    work = current_work()
    assert work is not None
    return await work.run(call, *arguments)


async def change(
    request: Request,
    using: Resources,
    action: str,
    what: Mapping[str, Any],
    call: Callable[..., Result],
    *arguments: Any,
) -> Result:
    """Make a change in a thread of the request, with its line in the audit log: see `audited`."""
    return await in_thread(audited(request, using, action, what, call, *arguments))


def audited(
    request: Request,
    using: Resources,
    action: str,
    what: Mapping[str, Any],
    call: Callable[..., Result],
    *arguments: Any,
) -> Callable[[], Result]:
    """Return a call that makes a change with its line in the audit log.

    Args:
        request: The request.
        using: What the key's tenant has.
        action: What the change does, such as "intents.add".
        what: Counts and names for the log; no text that users wrote.
        call: Makes the change.
        arguments: What it is called with.
    """
    by = actor_of(request)

    def carry_out() -> Result:
        with using.audit.change(by, action, **what):
            return call(*arguments)

    return carry_out


def actor_of(request: Request) -> Actor:
    """Return who makes a request, for the audit log."""
    state = request.scope["state"]
    key = state.get("key")
    return Actor(key.name if key else None, tenant_of(key) or None, state.get("request_id"))


async def refuse_personal(request: Request, names: Collection[str], param: str) -> None:
    """Refuse names that hold personal data, if the service is to replace it.

    With a placeholder in it, a name would no longer be the one that the client knows.
    """
    if names and service_of(request).config.scrub and await in_thread(hold_personal_data, tuple(sorted(names))):
        message = "A name holds personal data, such as an e-mail address or a number; choose another."
        raise RefusedError(422, "personal_data", message, param=param)


def turns_of(message: str | Sequence[str]) -> list[str]:
    """Treat a single message as a conversation of one turn."""
    return [message] if isinstance(message, str) else list(message)


def check_texts(limits: Limits, items: Sequence[str | Sequence[str]], param: str, *, charged: bool = True) -> None:
    """Reject too many texts, too long texts and too long conversations, and charge their tokens unless told not to."""
    if len(items) > limits.texts:
        raise RefusedError(422, "too_many", f"At most {limits.texts} are taken at once.", param=param)
    for turns in map(turns_of, items):
        if len(turns) > limits.turns:
            raise RefusedError(422, "too_many_turns", f"A conversation may have {limits.turns} turns.", param=param)
        if any(len(turn) > limits.characters for turn in turns):
            raise RefusedError(422, "too_long", f"A text may have {limits.characters} characters.", param=param)
    if charged:
        charge_tokens(sum(conversation_tokens(turns_of(item)) for item in items), limits.tokens, param)


def charge_tokens(tokens: int, most: int | None, param: str) -> None:
    """Reject more tokens than a request may have, and take them from its key's quota."""
    work = current_work()
    if work is None:
        return
    work.tokens += tokens
    if most is not None and work.tokens > most:
        message = f"A request may have {most} tokens, and this has about {work.tokens}; send several."
        raise RefusedError(422, "too_many_tokens", message, param=param)
    seconds = work.take_tokens(tokens)
    if seconds:
        raise RefusedError(429, "token_quota", "This key's tokens are used up.", retry_after=ceil(seconds))


def without_folders(problem: str) -> str:
    """Return what to tell clients of a problem: the names of files, not where they are."""
    return _FOLDERS.sub("", problem)


def json_answer(content: Any, status: int = 200) -> Response:
    """Return JSON by orjson, including numpy numbers: otherwise vectors take longer to print than to compute."""
    return Response(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), status, media_type="application/json")
