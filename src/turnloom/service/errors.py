"""One shape for everything that goes wrong, and nothing of the inside in it."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

__all__ = ["RefusedError", "error_body", "error_response"]

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "invalid_request_error",
    415: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    503: "unavailable_error",
    504: "timeout_error",
}


class RefusedError(Exception):
    """A request that is not carried out, and what its client is told.

    Args:
        status: The HTTP status.
        code: A word for programs.
        message: A sentence for people; no path, no users' text.
        param: Which part of the request is wrong.
        retry_after: After how many seconds to try again.
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


def error_body(status: int, code: str, message: str, param: str | None = None) -> dict[str, Any]:
    """The JSON of an error, as OpenAI's clients know it."""
    return {
        "error": {"message": message, "type": TYPES.get(status, "server_error"), "code": code, "param": param},
    }


def error_response(refused: RefusedError) -> Response:
    """The answer to a request that was refused."""
    content = orjson.dumps(error_body(refused.status, refused.code, refused.message, refused.param))
    return Response(content, refused.status, refused.headers, "application/json")
