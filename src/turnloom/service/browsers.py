"""What a web page of someone else may not do with a service that needs no key."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from turnloom.service.config import ServiceConfig
from turnloom.service.errors import RefusedError

LOCAL = ("localhost", "127.0.0.1", "::1")
HARMLESS = ("GET", "HEAD", "OPTIONS")


class BrowserCheck:
    """Refuses requests that only a browser of a deceived user sends.

    A page can give a name of its own the address 127.0.0.1, and then reads and writes as if the service were its own
    (DNS rebinding); only the `Host` header tells. And any page can post to any address, if it need not see the answer.
    With keys, neither helps it.
    """

    def __init__(self, config: ServiceConfig) -> None:
        self._names = {*LOCAL, config.host, *config.hosts}
        self._checks_host = not config.keys or bool(config.hosts)
        self._checks_origin = not config.keys
        self._origins = config.cors_origins

    def check(self, method: str, headers: Headers) -> None:
        """Raise RefusedError for such a request."""
        if self._checks_host:
            check_host(headers, self._names)
        if self._checks_origin:
            check_origin(method, headers, self._origins)


def check_host(headers: Headers, names: Collection[str]) -> None:
    """Refuse a request to another name than the service's.

    Raises:
        RefusedError: If it is.
    """
    if _name_of(headers.get("host", "")) not in names:
        raise RefusedError(403, "wrong_host", "The service has another name; the operator can add this to its hosts.")


def check_origin(method: str, headers: Headers, origins: Collection[str]) -> None:
    """Refuse a change that a page of another site asks for.

    Raises:
        RefusedError: If it does.
    """
    if method in HARMLESS:
        return
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    foreign = site not in ("none", "same-origin") if origin is None else urlsplit(origin).netloc != headers.get("host")
    if foreign and origin not in origins:
        raise RefusedError(403, "cross_site", "A page of another site may not change anything here.")


def _name_of(host: str) -> str:
    """Return a host without its port."""
    try:
        return "" if "@" in host else (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""
