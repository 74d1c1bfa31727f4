"""One shape for all error responses, without internals."""

from __future__ import annotations

import re
import secrets

from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.responses import Response

TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    429: "rate_limit_error",
    503: "unavailable_error",
    504: "timeout_error",
    507: "storage_error",
    **dict.fromkeys((400, 405, 413, 415, 422, 431), "invalid_request_error"),
}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RefusedError(Exception):
    """A refused request, and what to tell its client.

    Args:
        status: The HTTP status.
        code: A short code for programs.
        message: A sentence for people, without paths or user text.
        param: Which part of the request is wrong.
        retry_after: When to try again, in seconds.
    """

    def __init__(
        self, status: int, code: str, message: str, *, param: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}
        if status == 401:
            self.headers["WWW-Authenticate"] = "Bearer"


class FullError(RefusedError):
    """There is no room for what a route adds, until some of what waits is done. It is full for all requests alike."""


class NotSavedError(RefusedError):
    """A change could not be written to disk, and was undone."""

    def __init__(self) -> None:
        super().__init__(507, "not_saved", "The change could not be written to disk; nothing was changed.")


class ErrorBody(BaseModel):
    """What went wrong.

    Attributes:
        message: A sentence for people.
        type: The type of error.
        code: A short code for programs.
        param: Which part of the request is wrong.
    """

    message: str
    type: str
    code: str
    param: str | None


class ErrorShape(BaseModel):
    """The shape of every error response."""

    error: ErrorBody


def error_body(refused: RefusedError) -> bytes:
    """Build the body of an error response, in the shape that OpenAI's clients expect."""
    body = ErrorBody(
        message=refused.message,
        type=TYPES.get(refused.status, "server_error"),
        code=refused.code,
        param=refused.param,
    )
    return ErrorShape(error=body).model_dump_json().encode()


def error_response(refused: RefusedError) -> Response:
    """Build the error response."""
    return Response(error_body(refused), refused.status, refused.headers, "application/json")


def request_id(headers: Headers) -> str:
    """Return the id that a client gave its request, or a new one."""
    given = headers.get("x-request-id", "")
    return given if _ID.fullmatch(given) else secrets.token_hex(16)
