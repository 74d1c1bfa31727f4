"""A service over tiny models, in memory or on a free port of this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from tests.replies.toy import LengthScorer, WordEncoder, many, write_table
from turnloom.runtime.protocols import Context, Vectors
from turnloom.service.app import create_app
from turnloom.service.config import ServiceConfig
from turnloom.service.keys import hashed
from turnloom.service.resources import Loaders

INTENTS = {
    "lost card": ["i lost my card", "my card is gone", "card was stolen", "cannot find my card"],
    "balance": ["what is my balance", "show my account balance", "how much money is left", "balance please"],
}
KEYS = {"all": "tw-all", "reader": "tw-reader", "slow": "tw-slow"}


class HeadedEncoder(WordEncoder):
    """Contexts and replies have spaces of their own; counts and calls are kept."""

    def __init__(self, name: str = "toy", pause: float = 0.0) -> None:
        super().__init__(name)
        self.has_heads = True
        self.pause = pause
        self.gate = threading.Event()
        self.gate.set()
        self.calls: list[list[str]] = []
        self.threads: set[str] = set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.threads.add(threading.current_thread().name)
        time.sleep(self.pause)
        assert self.gate.wait(60)
        if any(text == "poison" for text in texts):
            raise ValueError("secret: poison")
        return super().encode(texts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        return np.roll(self.encode(replies), 1, axis=1)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        return np.roll(self.encode([self.format_context(context) for context in contexts]), 2, axis=1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


class Silent:
    """Records nothing of what waits."""

    def waiting_for_slots(self, requests: int) -> None:
        pass


def settings(folder: Path, **changes: Any) -> ServiceConfig:
    for name in ("model", "reranker"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    found = {"model": {"path": "model", "name": "toy"}, "reranker": {"path": "reranker", "name": "length"}} | changes
    # A busy machine is not what is tested.
    found["limits"] = {"request_seconds": 300, "wait_seconds": 60} | changes.get("limits", {})
    return ServiceConfig.model_validate(found).within(folder)


def with_intents(folder: Path, encoder: Any, pool: Sequence[str] = ()) -> dict[str, Any]:
    from turnloom.intents import IntentClassifier

    texts = [text for texts in INTENTS.values() for text in texts]
    labels = [name for name, texts in INTENTS.items() for _ in texts]
    IntentClassifier(encoder, method="prototypes").fit(texts, labels, pool=pool).save(folder / "intents")
    return {"intents": {"folder": "intents"}}


def with_replies(folder: Path, encoder: Any) -> dict[str, Any]:
    from turnloom.replies import ReplyIndex

    ReplyIndex.build(write_table(folder / "table", many(20)), folder / "replies", encoder)
    return {"replies": {"folder": "replies", "add_every_seconds": 0.2}}


def keys() -> list[dict[str, Any]]:
    everything = [
        *("embeddings", "rerank", "intents", "intents:write", "replies", "replies:write", "feedback"),
        "erase",
    ]
    everything += ["metrics", "admin"]
    return [
        {"name": "all", "hash": hashed(KEYS["all"]), "scopes": everything},
        {"name": "reader", "hash": hashed(KEYS["reader"]), "scopes": ["intents"]},
        {"name": "slow", "hash": hashed(KEYS["slow"]), "scopes": everything, "requests_per_minute": 3},
    ]


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}


def loaders(encoder: Any) -> Loaders:
    return Loaders(lambda _: encoder, lambda _: LengthScorer())


@contextmanager
def served(config: ServiceConfig, encoder: Any) -> Iterator[TestClient]:
    app = create_app(config, loaders(encoder))
    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=True) as client:
        yield client


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """The app under uvicorn in a thread; its address."""
    import uvicorn

    from turnloom.service.protocol import BoundedHttp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, http=BoundedHttp, ws="none")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
