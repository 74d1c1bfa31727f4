"""Keys of tenants try to reach each other's data on every route."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from tests.replies.toy import dialogue, write_table
from tests.service.toy import HeadedEncoder, keys, served, settings
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.replies import ReplyIndex
from turnloom.service.keys import hashed
from turnloom.service.scopes import KeyScope

TENANTS = ("acme", "bolt")
SCOPES = sorted({*get_args(KeyScope)} - {"admin"})


def secret(tenant: str) -> str:
    return f"secretof{tenant}"


def headers(tenant: str) -> dict[str, str]:
    return {"Authorization": f"Bearer tw-{tenant}"}


def tenant_keys() -> list[dict[str, Any]]:
    return [{"name": name, "hash": hashed(f"tw-{name}"), "scopes": SCOPES, "tenant": name} for name in TENANTS]


def write_data(folder: Path, tenant: str, encoder: HeadedEncoder) -> None:
    """Intents and replies in which the tenant's secret is everywhere."""
    word = secret(tenant)
    texts = [f"{word} card lost", f"{word} card gone", f"balance of {word}", f"money {word}"]
    IntentClassifier(encoder, method="prototypes").fit(texts, [f"{word} a"] * 2 + [f"{word} b"] * 2).save(
        folder / "intents"
    )
    dialogues = [dialogue(f"{word}-{n}", f"hello {word}", f"the reply {n} of {word}") for n in range(5)]
    table = write_table(folder / "table", dialogues)
    ReplyIndex.build(table, folder / "replies", encoder)
    shutil.rmtree(table)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder, encoder = tmp_path_factory.mktemp("service"), HeadedEncoder()
    for tenant in TENANTS:
        write_data(folder / "tenants" / tenant, tenant, encoder)
    write_data(folder, "operator", encoder)
    own = {"intents": {"folder": "intents"}, "replies": {"folder": "replies", "add_every_seconds": 3_600}}
    config = settings(folder, keys=[*keys(), *tenant_keys()], **own)
    with served(config, encoder) as found:
        yield found


def attempts(other: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """What a key can send to each route to get another tenant's data: its words, names, ids, sources and folders."""
    word = secret(other)
    conversation = {
        "id": f"{word}-0",
        "source": word,
        "turns": [{"speaker": "user", "text": "hi"}, {"speaker": "system", "text": "ho"}],
    }
    return {
        ("POST", "/v1/embeddings"): [{"json": {"input": "hi", "model": name}} for name in (other, f"../{other}")],
        ("GET", "/v1/models"): [{}, {"params": {"tenant": other}}],
        ("POST", "/rerank"): [{"json": {"query": "hi", "texts": ["ho"]}}],
        ("POST", "/v1/rerank"): [{"json": {"query": "hi", "documents": ["ho"]}}],
        ("GET", "/v1/intents"): [{}, {"params": {"tenant": other}}, {"headers": {"X-Tenant": other}}],
        ("POST", "/v1/intents"): [{"json": {"messages": ["card lost", "secret"], "examples": 20}}],
        ("GET", "/v1/intents/examples"): [{"params": {"intent": f"{word} {name}"}} for name in "ab"],
        ("POST", "/v1/intents/examples"): [{"json": {"examples": [{"message": "mine", "intent": "mine"}]}}],
        ("POST", "/v1/intents/examples/remove"): [
            {"json": {"intents": [f"{word} a"]}},
            {"json": {"messages": [f"money {word}"]}},
        ],
        ("POST", "/v1/replies"): [
            {"json": {"context": ["hello"], "k": 50, "conversation": f"{word}-0", **more}}
            for more in ({}, {"sources": ["test", word]}, {"domains": [word]}, {"mode": "text"}, {"mode": "hybrid"})
        ],
        ("POST", "/v1/replies/conversations"): [{"json": {"conversations": [conversation]}}],
        ("POST", "/v1/feedback"): [
            {"json": {"feedback": [{"about": "reply", "answer": "rejected", "text": word, "source": word}]}},
            {"json": {"feedback": [{"about": "intent", "answer": "accepted", "message": word, "intent": f"{word} a"}]}},
        ],
        ("POST", "/v1/erasures"): [
            {"json": {"conversations": [f"d{word}-{n}" for n in range(5)]}},
            {"json": {"conversations": ["d0"], "source": word}},
        ],
        ("GET", "/info"): [{}, {"params": {"tenant": other}}],
        ("GET", "/metrics"): [{}, {"params": {"tenant": other}}],
        ("GET", "/health/live"): [{}],
        ("GET", "/health/ready"): [{}],
        ("POST", "/admin/snapshots"): [{}, {"params": {"tenant": other}}],
        ("POST", "/admin/reload"): [{}, {"params": {"tenant": other}}],
    }


def state_of(client: TestClient, tenant: str) -> list[Any]:
    """What a tenant sees of its own data."""
    asked = {"context": ["hello"], "k": 50}
    replies = client.post("/v1/replies", json=asked, headers=headers(tenant)).json()
    names = [f"{secret(tenant)} {name}" for name in "ab"]
    examples = [
        client.get("/v1/intents/examples", params={"intent": name}, headers=headers(tenant)).json() for name in names
    ]
    resources = client.app.state.service.resources.tenants[tenant]  # type: ignore[attr-defined]
    return [replies, examples, resources.replies.pending]


@pytest.mark.parametrize("tenant", TENANTS)
def test_no_route_leads_to_another_tenant(client: TestClient, tenant: str) -> None:
    (other,) = set(TENANTS) - {tenant}
    routes = {
        (method.upper(), path)
        for path, methods in client.get("/openapi.json").json()["paths"].items()
        for method in methods
    }
    assert routes == set(attempts(other)), "every route is tried"
    before = state_of(client, other)
    assert secret(other) in str(before), "there is something to find"
    for (method, path), ways in attempts(other).items():
        for way in ways:
            sent = {**way.get("headers", {}), **headers(tenant)}
            response = client.request(method, path, **{**way, "headers": sent})
            seen = response.text + str(response.headers)
            for named in way.get("json", {}).get("intents", []):
                seen = seen.replace(f"there is no intent '{named}'", "")  # It repeats what it was asked for.
            assert response.status_code < 500
            assert not any(name in seen for name in (secret(other), f'"{other}"')), (method, path, way)
    assert state_of(client, other) == before


def test_what_a_tenant_adds_is_in_its_folder_alone(client: TestClient, tmp_path: Path) -> None:
    added = {"examples": [{"message": "newly added here", "intent": "new"}]}
    assert client.post("/v1/intents/examples", json=added, headers=headers("acme")).status_code == 200
    tenants = client.app.state.service.config.tenants  # type: ignore[attr-defined]
    holding = [path for path in tenants.parent.rglob("*.jsonl") if b"newly added here" in path.read_bytes()]
    assert holding == [tenants / "acme" / "state" / "intents.jsonl"]
    assert "new" in str(client.get("/v1/intents", headers=headers("acme")).json()["intents"])
    assert "new" not in str(client.get("/v1/intents", headers=headers("bolt")).json()["intents"])


def test_keys_without_tenant_do_not_see_tenants_data(client: TestClient) -> None:
    own = {"Authorization": "Bearer tw-all"}
    intents = client.get("/v1/intents", headers=own).text
    replies = client.post("/v1/replies", json={"context": ["hi"], "k": 50}, headers=own).text
    for text in (intents, replies):
        assert secret("operator") in text
        assert not any(secret(tenant) in text for tenant in TENANTS)
    for tenant in TENANTS:
        client.get("/v1/intents", headers=headers(tenant))
    metrics = client.get("/metrics", headers=own).text
    assert all(f'tenant="{tenant}"' in metrics for tenant in TENANTS), "the operator sees all counts"


def test_damage_of_one_tenant_stops_no_other(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    for tenant in TENANTS:
        write_data(tmp_path / "tenants" / tenant, tenant, encoder)
    (tmp_path / "tenants" / "acme" / "intents" / "intents.json").write_text("{")
    with served(settings(tmp_path, keys=tenant_keys()), encoder) as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/v1/intents", headers=headers("acme")).status_code == 503
        assert client.get("/v1/intents", headers=headers("bolt")).status_code == 200
        assert client.get("/info", headers=headers("acme")).json()["problems"]
        assert not client.get("/info", headers=headers("bolt")).json()["problems"]


def test_links_and_missing_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tenants" / "acme").mkdir(parents=True)
    config = settings(tmp_path, keys=tenant_keys())
    with pytest.raises(TurnloomError, match="tenant bolt: there is no folder"):
        config.for_tenant("bolt")
    (tmp_path / "tenants" / "bolt").mkdir()
    (tmp_path / "tenants" / "bolt" / "replies").symlink_to(tmp_path / "tenants" / "acme")
    with pytest.raises(TurnloomError, match="leads out of its folder"):
        config.for_tenant("bolt")


@pytest.mark.parametrize("change", [{"tenant": "../acme"}, {"tenant": "A"}, {"scopes": ["admin"]}, {"name": "bolt"}])
def test_impossible_keys_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        settings(tmp_path, keys=[tenant_keys()[0] | change, tenant_keys()[1]])
    with pytest.raises(ValidationError, match="same hash"):
        settings(tmp_path, keys=[tenant_keys()[0], tenant_keys()[0] | {"name": "copy"}])
