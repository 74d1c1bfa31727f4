"""Keys of tenants try to reach each other's data on every route of a running service.

Each of three tenants has its own word in everything it owns: intents, examples, replies, ids, sources, speakers. Each
key asks every route, in every way we know, for what is the next tenant's: by its names and ids, guessed keys, other
paths to the same route, and headers and parameters that proxies and other services honour. A crossing is another's word
in an answer, or any change of what another tenant sees, is counted for, or has on disk. Each change over HTTP must also
have its line in the audit log.

Usage: python -m studies.service.crossings MODEL --work FOLDER
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import httpx

from studies.lib.figures import record
from studies.service.lab import ADMIN, arguments, save, service
from turnloom.service.keys import hashed
from turnloom.service.scopes import KeyScope

TENANTS = ("acme", "bolt", "corvo")
INDEXED_EVERY = 5.0
LIMITS = {"wait_seconds": 60, "request_seconds": 300}
"""A busy machine is not what is tried."""
SCOPES = sorted({*get_args(KeyScope)} - {"admin"})
HEADERS = ("X-Tenant", "X-Tenant-Id", "X-Forwarded-User", "X-Remote-User", "X-Original-URL", "Forwarded", "Cookie")
"""What proxies and other services take a tenant from."""
TRICKS = (
    "/tenants/{other}{path}", "/{other}{path}", "/tenants/../{other}{path}", "{path}/", "/{path}", "{path}/../{other}",
    "{path}%2f..%2f{other}", "{path}%2e%2e/{other}", "{path};tenant={other}", "{path}?tenant={other}&tenant_id={other}",
    "{path}?key={other}&state=../../{other}/state", "{path}%00{other}", "{path}#{other}", "{path}\\..\\{other}",
)  # fmt: skip
"""Other ways to write the path of a route."""


def word(tenant: str) -> str:
    return f"secretof{tenant}"


def bearer(tenant: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {tenant}-{'k' * 20}"}


@dataclass(frozen=True)
class Try:
    """A request, and which of another's words it says itself: answers may repeat them."""

    method: str
    path: str
    json: Any = None
    params: dict[str, str] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        return json.dumps([self.path, self.json, self.params, self.headers])


def bodies(other: str) -> dict[tuple[str, str], list[Any]]:
    """What to send to each route to get or change what is another tenant's."""
    name, own = word(other), {"speaker": "customer", "text": "mine"}
    chat = {"id": f"{name}-0", "source": name, "turns": [own, own | {"speaker": "agent"}]}
    asks = [{"context": ["hello"], "k": 50, **more} for more in (
        {}, {"conversation": f"{name}-0"}, {"sources": [name]}, {"domains": [name]}, {"sources": ["log", name]},
        {"mode": "text"}, {"mode": "hybrid"}, {"mode": "contexts"}, {"mode": "all"}, {"min_count": 1},
        {"sources": [f"'] OR array_has_any(sources, ['{name}"]}, {"tenant": other},
        {"context": [f"hello {name}"], "mode": "text"},
    )]  # fmt: skip
    return {
        ("POST", "/v1/embeddings"): [{"input": "hi", "model": name} for name in ("model", other, f"../{other}")],
        ("GET", "/v1/models"): [None],
        ("POST", "/rerank"): [{"query": "hi", "texts": ["ho", "hu"]}],
        ("POST", "/v1/rerank"): [{"query": "hi", "documents": ["ho", "hu"], "model": other}],
        ("GET", "/v1/intents"): [None],
        ("POST", "/v1/intents"): [{"messages": [text], "examples": 20} for text in ("card lost", name, "a")],
        ("GET", "/v1/intents/examples"): [{"?": {"intent": said}} for said in (f"{name} a", f"{name} b", "%", "../*")],
        ("POST", "/v1/intents/examples"): [
            {"examples": [{"message": "mine", "intent": intent}]} for intent in (f"{name} a", f"../{other}/a")
        ],
        ("POST", "/v1/intents/examples/remove"): [
            {"intents": [f"{name} a"]}, {"messages": [f"money {name}"]}, {"messages": [["money", name]], "intents": []}
        ],
        ("POST", "/v1/replies"): asks,
        ("POST", "/v1/replies/conversations"): [
            {"conversations": [chat]},
            {"conversations": [chat | {"id": f"../../{other}/state/replies"}]},
            {"conversations": [chat | {"source": f"tenants/{other}"}]},
        ],
        ("POST", "/v1/feedback"): [
            {"feedback": [{"about": "reply", "answer": "rejected", "text": name, "source": f"tenants/{other}"}]},
            {"feedback": [{"about": "intent", "answer": "accepted", "message": "mine", "intent": f"{name} a"}]},
        ],
        ("POST", "/v1/erasures"): [
            {"conversations": [f"{name}-0", f"{name}-1"], "speakers": [name]},
            {"conversations": ["*", "%", f"../{other}"]},
            {"conversations": [f"{name}-0"], "source": name},
        ],
        ("GET", "/info"): [None],
        ("GET", "/metrics"): [None],
        ("GET", "/health/live"): [None],
        ("GET", "/health/ready"): [None],
        ("POST", "/admin/reload"): [None],
        ("POST", "/admin/snapshots"): [None, {"name": f"../tenants/{other}"}],
    }  # fmt: skip


def tries(other: str) -> Iterator[Try]:
    """Everything that is tried against one tenant."""
    for (method, path), sent in bodies(other).items():
        for body in sent:
            params = body["?"] if isinstance(body, dict) and "?" in body else None
            payload = None if params else body
            yield Try(method, path, payload, params)
            yield Try(method, path, payload, (params or {}) | {"tenant": other, "key": other})
        for name in HEADERS:
            yield Try(
                method, path, payload, params, {name: f"tenant={other}" if name in ("Forwarded", "Cookie") else other}
            )
        for key in ("", other, f"key-{other}", word(other), hashed(f"{other}-{'k' * 20}"), f"{other}-{'k' * 19}"):
            yield Try(method, path, payload, params, {"Authorization": f"Bearer {key}".strip()})
        for trick in TRICKS:
            yield Try(method, trick.format(other=other, path=path), payload, params)
        for wrong in ("PUT", "DELETE", "PATCH"):
            yield Try(wrong, path, payload, params)


def make_data(folder: Path, model: Path) -> None:
    """Intents and replies of each tenant and of the service itself, full of their owner's word."""
    from turnloom.corpus.engine import daft
    from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
    from turnloom.corpus.table import TableWriter
    from turnloom.intents import IntentClassifier
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "model").exists():
        (folder / "model").symlink_to(model.resolve())
    encoder = load_encoder(folder / "model")
    for tenant in TENANTS:
        place, own = folder / "tenants" / tenant, word(tenant)
        shutil.rmtree(place, ignore_errors=True)
        texts = [f"{own} card lost", f"{own} card gone", f"balance of {own}", f"money {own}"]
        fitted = IntentClassifier(encoder, method="prototypes").fit(texts, [f"{own} a"] * 2 + [f"{own} b"] * 2)
        fitted.save(place / "intents")
        dialogues = [
            Dialogue(
                f"{own}-{n}", own, [Turn(own, f"hello {own}"), Turn("agent", f"the reply {n} of {own}")], domains=[own]
            )
            for n in range(8)
        ]
        writer = TableWriter(folder / f"table-{tenant}")
        writer.write(daft().from_arrow(dialogues_to_arrow(dialogues)))
        writer.finish("study", {})
        ReplyIndex.build(folder / f"table-{tenant}", place / "replies", encoder)
        shutil.rmtree(folder / f"table-{tenant}")


def key_entries() -> list[dict[str, Any]]:
    entries = [{"name": f"key-{t}", "hash": hashed(f"{t}-{'k' * 20}"), "scopes": SCOPES, "tenant": t} for t in TENANTS]
    return [*entries, {"name": "study", "hash": hashed(ADMIN), "scopes": [*SCOPES, "admin"]}]


def files_of(folder: Path) -> dict[str, str]:
    """The contents of a tenant's folder."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".lock")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def state_of(client: httpx.Client, folder: Path, tenant: str) -> tuple[list[Any], dict[str, str]]:
    """What a tenant sees of its own, and has on disk."""
    headers = bearer(tenant)
    asked = {"context": ["hello"], "k": 50}
    seen: list[Any] = [client.post("/v1/replies", json=asked, headers=headers).json()]
    seen.append(client.get("/v1/intents", headers=headers).json())
    names = ({"intent": f"{word(tenant)} {letter}"} for letter in "ab")
    seen += [client.get("/v1/intents/examples", params=name, headers=headers).json() for name in names]
    return seen, files_of(folder / "tenants" / tenant)


def settled(client: httpx.Client, folder: Path, tenant: str) -> tuple[list[Any], dict[str, str]]:
    """The state of a tenant once everything that it added itself is indexed."""
    waiting = folder / "tenants" / tenant / "state" / "replies"
    before = None
    # While a round of indexing runs, what it indexes waits in a file, and nothing else may change for long.
    while (state := state_of(client, folder, tenant)) != before or any(
        path.stat().st_size for path in waiting.glob("*ing.jsonl")
    ):
        before = state
        time.sleep(2 * INDEXED_EVERY)
    return state


def counted(client: httpx.Client, tenant: str) -> float:
    """The number of requests that were counted for a tenant before this one."""
    text = client.get("/metrics", headers=bearer(tenant)).text
    return sum(
        float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith("turnloom_requests_total")
    )


def send(client: httpx.Client, one: Try, tenant: str) -> httpx.Response:
    """Send a request with its path as it is written: clients would tidy it."""
    url = client.base_url.copy_with(raw_path=one.path.partition("#")[0].encode())
    content = None if one.json is None else json.dumps(one.json).encode()
    headers = {**bearer(tenant), **one.headers, **({"Content-Type": "application/json"} if content else {})}
    request = client.build_request(one.method, url, params=one.params or None, content=content, headers=headers)
    return client.send(request)


def crossed(response: httpx.Response, one: Try, others: list[str]) -> list[str]:
    """Others whose words are in an answer beyond what the request said itself."""
    text = response.text + str(response.headers)
    names = [(other, name) for other in others for name in (word(other), f'"{other}"', f"key-{other}")]
    repeats = response.status_code >= 400  # An error may name what was asked for.
    return [other for other, name in names if name in text and not (repeats and name in one.said)]


def check_words(client: httpx.Client, folder: Path, tenant: str, others: list[str]) -> None:
    """Check that the words would be found: each tenant sees its own and nobody else's."""
    seen = json.dumps(state_of(client, folder, tenant)[0])
    assert word(tenant) in seen, tenant
    assert not any(word(other) in seen for other in others), tenant


def audited(folder: Path) -> Counter[str]:
    """The requests that have a line in some audit log."""
    from turnloom.service.audit import AuditLog

    states = [*folder.glob("tenants/*/state"), *folder.glob("state-*")]
    return Counter(str(line["request_id"]) for state in states for line in AuditLog(state).read())


WRITES = ("/v1/intents/examples", "/v1/replies/conversations", "/v1/feedback", "/v1/erasures")
AT_ONCE = 4


def changes_data(one: Try) -> bool:
    return one.method == "POST" and one.path.startswith(WRITES)


def attack(client: httpx.Client, folder: Path, attacker: str) -> tuple[int, list[dict[str, Any]], list[str]]:
    """All tries of one key; their number, the crossings, and the ids of requests that changed something."""
    others = [tenant for tenant in TENANTS if tenant != attacker]
    before = {other: (settled(client, folder, other), counted(client, other)) for other in others}
    crossings: list[dict[str, Any]] = []
    changes: list[str] = []
    victim = TENANTS[(TENANTS.index(attacker) + 1) % len(TENANTS)]
    planned = [
        replace(one, headers=one.headers | {"X-Request-Id": f"{attacker}-{n}"}) for n, one in enumerate(tries(victim))
    ]

    def attempt(one: Try) -> None:
        try:
            response = send(client, one, attacker)
        except httpx.RemoteProtocolError:  # What is no HTTP is cut off.
            return
        assert response.status_code < 500, (one, response.text)
        if found := crossed(response, one, others):
            crossings.append({"try": str(one), "by": attacker, "found": found, "status": response.status_code})
        if response.is_success and changes_data(one):
            changes.append(one.headers["X-Request-Id"])

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(attempt, (one for one in planned if not changes_data(one))))
    # What changes its own data comes last: then it has stored another's words itself.
    for one in filter(changes_data, planned):
        attempt(one)
    for other, (state, count) in before.items():
        # All that has happened to another is that it was asked for its count before.
        more, after = counted(client, other) - count - 1, state_of(client, folder, other)
        if more or after != state:
            files = [path for path in {*state[1], *after[1]} if state[1].get(path) != after[1].get(path)]
            crossings += [
                {"by": attacker, "changed": other, "requests": more, "sees": after[0] != state[0], "files": files}
            ]
    return len(planned), crossings, changes


def main() -> None:
    given = arguments().parse_args()
    folder = given.work
    make_data(folder, given.model)
    config = {"intents": None, "replies": None, "keys": key_entries(), "page": False, "limits": LIMITS}
    total, crossings, changes = 0, list[dict[str, Any]](), list[str]()
    with service(folder, **config) as (address, _), httpx.Client(base_url=address, timeout=300) as client:
        spec = client.get("/openapi.json").json()["paths"]
        routes = {(method.upper(), path) for path, methods in spec.items() for method in methods}
        assert routes == set(bodies("acme")), f"tell `bodies` how to attack {sorted(routes - set(bodies('acme')))}"
        for tenant in TENANTS:
            check_words(client, folder, tenant, [other for other in TENANTS if other != tenant])
        for tenant in TENANTS:
            count, found, changed = attack(client, folder, tenant)
            total, crossings, changes = total + count, crossings + found, changes + changed
        logged = audited(folder)
    unlogged = [identity for identity in changes if not logged[identity]]
    assert changes, "some tries change their own data"
    print(json.dumps(crossings, indent=1))
    if not given.dry:
        save("crossings", {"tries": total, "crossings": crossings, "changes": len(changes), "unlogged": unlogged})
        figures = {"tenant_tries": total, "tenant_crossings": len(crossings)}
        record("service", figures | {"audit_changes": len(changes), "audit_lines_missing": len(unlogged)})


if __name__ == "__main__":
    main()
