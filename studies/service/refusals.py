"""Requests that must be refused, one by one, each with the status and the code that it must get.

Usage: python -m studies.service.refusals EXPORTED_MODEL --work FOLDER
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx

from studies.lib.figures import record
from studies.service.lab import ADMIN, arguments, prepare, save, service
from turnloom.service.keys import hashed

EMBED = {"model": "model", "input": "hello"}
ROUTES: list[tuple[str, str, Any, str]] = [
    ("POST", "/v1/embeddings", EMBED, "embeddings"),
    ("GET", "/v1/models", None, "embeddings"),
    ("GET", "/info", None, "embeddings"),
    ("POST", "/rerank", {"query": "a", "texts": ["b"]}, "rerank"),
    ("POST", "/v1/rerank", {"query": "a", "documents": ["b"]}, "rerank"),
    ("POST", "/v1/intents", {"messages": ["a"]}, "intents"),
    ("GET", "/v1/intents", None, "intents"),
    ("GET", "/v1/intents/examples?intent=price", None, "intents"),
    ("POST", "/v1/intents/examples", {"examples": [{"message": "a", "intent": "b"}]}, "intents:write"),
    ("POST", "/v1/intents/examples/remove", {"messages": ["a"]}, "intents:write"),
    ("POST", "/v1/replies", {"context": ["a"]}, "replies"),
    ("POST", "/v1/replies/conversations", {"conversations": []}, "replies:write"),
    ("GET", "/metrics", None, "metrics"),
    ("POST", "/admin/reload", None, "admin"),
]
SCOPES = sorted({scope for *_, scope in ROUTES})
Case = tuple[str, str, str, dict[str, Any], tuple[int, str]]


def key(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


def cases() -> Iterator[Case]:
    """A name, a method, a path, what is sent, and the answer."""
    for method, path, body, scope in ROUTES:
        sent = {"json": body}
        yield f"no key: {path}", method, path, sent, (401, "missing_key")
        yield f"wrong key: {path}", method, path, sent | {"headers": key("tw-guess")}, (401, "wrong_key")
        almost = key(ADMIN[:-1])
        yield f"a key cut short: {path}", method, path, sent | {"headers": almost}, (401, "wrong_key")
        basic = {"Authorization": f"Basic {ADMIN}"}
        yield f"not as a bearer: {path}", method, path, sent | {"headers": basic}, (401, "missing_key")
        without = key(f"tw-without-{scope}")
        yield f"beyond scope: {path}", method, path, sent | {"headers": without}, (403, "beyond_scope")
    yield from limit_cases()


def limit_cases() -> Iterator[Case]:
    raw = key(ADMIN) | {"Content-Type": "application/json"}
    large = b'{"model": "model", "input": "' + b"a" * 200_000 + b'"}'
    deep = b'{"input": ' + b"[" * 50 + b"]" * 50 + b"}"
    for name, content, answer in (
        ("too large", large, (413, "too_large")),
        ("too deep", deep, (400, "too_deep")),
        ("no JSON", b"{", (422, "json_invalid")),
        ("no body", b"", (422, "missing")),
    ):
        yield name, "POST", "/v1/embeddings", {"content": content, "headers": raw}, answer
    for name, body, answer in (
        ("too many texts", EMBED | {"input": ["a"] * 65}, (422, "too_many")),
        ("a text too long", EMBED | {"input": "a" * 5_001}, (422, "too_long")),
        ("too many turns", EMBED | {"input": [["a"] * 51], "input_type": "query"}, (422, "too_many_turns")),
        ("another model", EMBED | {"model": "gpt"}, (404, "model_not_found")),
        ("an unknown field", EMBED | {"surprise": 1}, (422, "extra_forbidden")),
        ("token numbers", EMBED | {"input": [1, 2, 3]}, (422, "string_type")),
    ):
        yield name, "POST", "/v1/embeddings", {"json": body, "headers": key(ADMIN)}, answer
    yield "nothing there", "GET", "/etc/passwd", {"headers": key(ADMIN)}, (404, "not_found")
    yield "a file beside the page", "GET", "/page/..%2fconfig.yaml", {"headers": key(ADMIN)}, (404, "not_found")
    yield "wrong method", "DELETE", "/v1/embeddings", {"headers": key(ADMIN)}, (405, "wrong_method")
    for _ in range(2):
        yield "within the rate", "GET", "/v1/models", {"headers": key("tw-slow")}, (200, "")
    yield "over the rate", "GET", "/v1/models", {"headers": key("tw-slow")}, (429, "rate_limit")


def run(address: str) -> tuple[int, list[str]]:
    """How many cases, and those that were answered otherwise."""
    wrong = []
    count = 0
    with httpx.Client(base_url=address, timeout=30) as client:
        for name, method, path, sent, expected in cases():
            answer = client.request(method, path, **sent)
            code = answer.json().get("error", {}).get("code", "") if answer.status_code != 200 else ""
            count += 1
            if (answer.status_code, code) != expected:
                wrong.append(f"{name}: {answer.status_code} {code}, not {expected}")
    return count, wrong


def entries() -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = [{"name": "study", "hash": hashed(ADMIN), "scopes": SCOPES}]
    every.append({"name": "slow", "hash": hashed("tw-slow"), "scopes": SCOPES, "requests_per_minute": 2})
    for scope in SCOPES:
        name = f"without-{scope}".replace(":", "-")
        left = [other for other in SCOPES if other != scope]
        every.append({"name": name, "hash": hashed(f"tw-without-{scope}"), "scopes": left})
    return every


def main() -> None:
    given = arguments().parse_args()
    prepare(given.work, given.model, None)
    limits = {"body_bytes": 100_000, "texts": 64, "characters": 5_000, "turns": 50}
    with service(given.work, keys=entries(), limits=limits, workers=2) as (address, _):
        count, wrong = run(address)
    print("\n".join(wrong) or f"all {count} refused as they must be")
    if not given.dry:
        save("refusals", {"wrong": wrong})
        record("service", {"refusal_cases": count, "refusal_cases_passed": count - len(wrong)})


if __name__ == "__main__":
    main()
