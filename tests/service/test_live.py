"""The app under uvicorn on this machine: clients that leave, queues that fill, models that are replaced."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.service.test_api import CHAT
from tests.service.toy import INTENTS, HeadedEncoder, listening, loaders, served, settings, with_intents, with_replies
from turnloom import journal
from turnloom.intents import IntentClassifier
from turnloom.service import admission
from turnloom.service.app import create_app
from turnloom.service.journal import Journal
from turnloom.service.live_intents import LiveIntents
from turnloom.service.resources import Loaders
from turnloom.service.snapshots import take_snapshot


def embed(address: str, text: str | list[str], **options: Any) -> httpx.Response:
    return httpx.post(f"{address}/v1/embeddings", json={"model": "toy", "input": text}, timeout=60, **options)


@pytest.fixture
def encoder() -> HeadedEncoder:
    return HeadedEncoder()


@pytest.fixture
def address(tmp_path: Path, encoder: HeadedEncoder) -> Iterator[str]:
    config = settings(tmp_path, batching={"max_wait_ms": 0}, limits={"request_seconds": 30, "texts": 64})
    with listening(create_app(config, loaders(encoder))) as found:
        yield found


def test_many_clients_at_once_get_their_own_vectors(address: str, encoder: HeadedEncoder) -> None:
    encoder.pause = 0.005
    texts = [f"text number {number} of many" for number in range(40)]

    def ask(text: str) -> Any:
        return embed(address, text).json()["data"][0]["embedding"]

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, texts))
    encoder.pause = 0
    np.testing.assert_array_equal(np.array(found, np.float32), encoder.encode(texts))
    assert max(map(len, encoder.calls[:-1])) > 1


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def metric(address: str, line: str) -> bool:
    return line in httpx.get(f"{address}/metrics", timeout=60).text


def test_a_client_that_leaves_is_not_computed_for(address: str, encoder: HeadedEncoder) -> None:
    encoder.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(embed, address, "first")
        wait_for(lambda: ["first"] in encoder.calls)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/v1/embeddings", json={"model": "toy", "input": "left"}, timeout=1)
        wait_for(lambda: metric(address, 'turnloom_dropped_jobs_total{model="toy",reason="cancelled"} 1.0'))
        encoder.gate.set()
        assert first.result().status_code == 200
    assert embed(address, "after").status_code == 200
    assert not any("left" in call for call in encoder.calls)


def test_a_request_that_takes_too_long_is_504(tmp_path: Path, encoder: HeadedEncoder) -> None:
    with listening(create_app(settings(tmp_path, limits={"request_seconds": 1}), loaders(encoder))) as address:
        encoder.pause = 2
        answer = embed(address, "slow")
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")


def test_openais_client_works_unchanged(address: str, encoder: HeadedEncoder) -> None:
    from openai import NotFoundError, OpenAI

    client = OpenAI(base_url=f"{address}/v1", api_key="any")
    texts = ["where is my lamp", "ten"]
    plain = client.embeddings.create(model="toy", input=texts)  # The client asks for base64 by itself.
    np.testing.assert_allclose([row.embedding for row in plain.data], encoder.encode(texts), rtol=1e-6)
    assert plain.usage.prompt_tokens == 5
    floats = client.embeddings.create(model="toy", input="ten", encoding_format="float")
    np.testing.assert_allclose(floats.data[0].embedding, encoder.encode(["ten"])[0], rtol=1e-6)
    query = client.embeddings.create(model="toy", input="ten", extra_body={"input_type": "query"})
    np.testing.assert_allclose(query.data[0].embedding, encoder.encode_query([["ten"]])[0], rtol=1e-6)
    assert [model.id for model in client.models.list()] == ["toy", "length"]
    with pytest.raises(NotFoundError, match="not served"):
        client.embeddings.create(model="other", input="a")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchains_embeddings_work(address: str, encoder: HeadedEncoder) -> None:
    from langchain_openai import OpenAIEmbeddings

    # Texts, not OpenAI's token numbers, are sent: the tokens of another model would mean nothing here.
    chain = OpenAIEmbeddings(base_url=f"{address}/v1", api_key="any", model="toy", check_embedding_ctx_length=False)
    texts = ["where is my lamp", "ten"]
    np.testing.assert_allclose(chain.embed_documents(texts), encoder.encode(texts), rtol=1e-6)
    np.testing.assert_allclose(chain.embed_query("ten"), encoder.encode(["ten"])[0], rtol=1e-6)


def test_a_reload_drops_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnloom.service.app.LOOK_FOR_RELOAD", 0.05)
    made: list[HeadedEncoder] = []

    def load(_: Any) -> HeadedEncoder:
        made.append(HeadedEncoder(f"model {len(made)}", pause=0.01))
        return made[-1]

    app = create_app(settings(tmp_path, limits={"request_seconds": 1}), Loaders(load, loaders(None).scorer))
    statuses: list[int] = []
    vectors: list[list[float]] = []
    stop = threading.Event()

    def ask(address: str) -> None:
        while not stop.is_set():
            answer = embed(address, "hello")
            statuses.append(answer.status_code)
            vectors.append(answer.json()["data"][0]["embedding"])

    with listening(app) as address, ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, address) for _ in range(4)]
        time.sleep(0.3)
        (tmp_path / "model" / "new").touch()  # The same files would be kept.
        assert httpx.post(f"{address}/admin/reload").status_code == 202
        deadline = time.monotonic() + 10
        while len(made) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        stop.set()
        for each in asking:
            each.result()
        while app.state.service._retired and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not app.state.service._retired, "an old model is kept for ever"
    assert set(statuses) == {200}
    first, second = (np.array(encoder.encode(["hello"])[0]) for encoder in made)
    which = [int(np.allclose(vector, second)) for vector in vectors]
    assert all(np.allclose(vector, (first, second)[choice]) for vector, choice in zip(vectors, which, strict=True))
    assert 0 < sum(which) < len(which)


def test_a_reload_follows_links_that_were_switched(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    parts = with_intents(tmp_path, encoder)
    (tmp_path / "intents").rename(tmp_path / "intents-1")
    another = IntentClassifier(encoder, method="prototypes").fit(["hi", "bye"], ["greet", "leave"], names=False)
    another.save(tmp_path / "intents-2")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "intents").symlink_to("intents-1")
    allowed = ["model", "reranker", "intents-1", "intents-2"]
    config = settings(tmp_path, allowed_folders=allowed, limits={"request_seconds": 1}, **parts)
    assert not config.model_copy(update={"scrub": False}).following_links().scrub, "what was changed stays changed"
    assert config.model_copy(update={"intents": None}).following_links().intents is None
    with served(config, encoder) as client:
        service = client.app.state.service  # type: ignore[attr-defined]

        def switch_to(folder: str) -> None:
            (tmp_path / "new").symlink_to(folder)
            (tmp_path / "new").replace(tmp_path / "intents")
            service.wish_reload()
            service.reload_if_asked()

        def listed() -> set[str]:
            return {intent["intent"] for intent in client.get("/v1/intents").json()["intents"]}

        assert listed() == set(INTENTS)
        switch_to("intents-2")
        assert listed() == {"greet", "leave"}
        copied = take_snapshot(service.config) / "intents" / "intents.safetensors"
        assert copied.read_bytes() == (tmp_path / "intents-2" / "intents.safetensors").read_bytes()
        switch_to("elsewhere")
        while service.reload_problem is None:  # Not before the replaced generation has ended.
            time.sleep(0.1)
            service.reload_if_asked()
        assert "not below an allowed folder" in service.reload_problem
        assert listed() == {"greet", "leave"}


def test_a_failed_reload_keeps_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder))
    models = iter([encoder, HeadedEncoder("another")])
    app = create_app(config, Loaders(lambda _: next(models), loaders(None).scorer))
    with listening(app) as address:
        (tmp_path / "model" / "new").touch()
        app.state.service.wish_reload()
        app.state.service.reload_if_asked()  # The intents are not the other model's: nothing is replaced.
        np.testing.assert_allclose(
            embed(address, "hello").json()["data"][0]["embedding"], encoder.encode(["hello"])[0], rtol=1e-6
        )
        assert "turnloom_failed_reloads 1.0" in httpx.get(f"{address}/metrics").text
        assert any("reload: " in problem for problem in httpx.get(f"{address}/info").json()["problems"])
        assert httpx.get(f"{address}/health/ready").status_code == 200, "the old model serves"
        app.state.service.draining = True
        assert httpx.get(f"{address}/health/ready").status_code == 503
        assert httpx.get(f"{address}/health/live").status_code == 200
        assert embed(address, "hello").status_code == 200


def test_changes_reach_other_processes_and_outlive_a_torn_write(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    with_intents(tmp_path, encoder)
    one, two = (LiveIntents(tmp_path / "intents", encoder, Journal(tmp_path / "j.jsonl")) for _ in range(2))
    assert one.add([(["zeppelin please"], ["zeppelin"])]) == 9
    assert two.listed()["zeppelin"] == 1
    with (tmp_path / "j.jsonl").open("ab") as file:
        file.write(b'{"do": "add", "exam')  # A process was killed here; nothing was acknowledged.
    assert two.add([(["zeppelin now"], ["zeppelin"])]) == 10
    assert one.remove([["zeppelin please"]], []) == 1
    again = LiveIntents(tmp_path / "intents", encoder, Journal(tmp_path / "j.jsonl"))
    assert again.examples("zeppelin") == [["zeppelin now"]]
    assert one.listed() == two.listed() == again.listed()
    assert again.answer([["zeppelin now"]], 1)[0].nearest[0].text == "zeppelin now"


def test_to_add_conversations_takes_no_longer_when_many_wait(
    tmp_path: Path, encoder: HeadedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each addition parsed all that waited: 9 ms at 2,000, so the more was added, the less could be."""
    parsed: list[bytes] = []
    parse = journal._record_of

    def counted(line: bytes) -> dict[str, Any] | None:
        parsed.append(line)
        return parse(line)

    monkeypatch.setattr(journal, "_record_of", counted)
    more = with_replies(tmp_path, encoder)
    more["replies"] |= {"add_every_seconds": 3_600, "max_pending": 50}
    with served(settings(tmp_path, **more), encoder) as client:
        for number in range(50):
            body = {"conversations": [CHAT | {"id": f"chat-{number}"}]}
            assert client.post("/v1/replies/conversations", json=body).json() == {"accepted": 1, "pending": number + 1}
        assert not parsed
        answer = client.post("/v1/replies/conversations", json={"conversations": [CHAT]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_pending")
        assert client.app.state.service.resources.replies.index_pending() == 50  # type: ignore[attr-defined]
        assert len(parsed) == 50
        wait_for(lambda: client.post("/v1/replies/conversations", json={"conversations": [CHAT]}).status_code == 202)
        assert client.app.state.service.resources.replies.pending == 1  # type: ignore[attr-defined]


def test_a_journal_counts_what_was_added_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each addition read all that waited: 10 MB at 10,000."""
    path = tmp_path / "j.jsonl"
    writer, reader = Journal(path), Journal(path)

    def add(number: int) -> None:
        with writer.writing():
            writer.append([{"number": number, "filler": "x" * 1_000}])

    assert reader.count() == 0
    for number in range(1_000):
        add(number)
    assert reader.count() == 1_000
    add(1_000)
    read = 0
    plain = Path.open

    class Counted:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def seek(self, position: int) -> int:
            return int(self._file.seek(position))

        def read(self, size: int) -> bytes:
            nonlocal read
            found: bytes = self._file.read(size)
            read += len(found)
            return found

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode: Counted(plain(path, mode)))
        assert reader.count() == 1_001
    assert read < 2_000
    path.unlink()
    assert reader.count() == 0
    for number in range(3):  # Another file, first shorter than what was counted, later longer.
        add(number)
    assert reader.count() == 3
    path.unlink()
    for number in range(5):
        add(10 + number)
    assert reader.count() == 5


def test_a_route_without_room_refuses_on_headers_for_a_moment(
    tmp_path: Path, encoder: HeadedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read, scrub and count for a refusal took as long as to add: under overload half of the work was refusals."""
    monkeypatch.setattr(admission, "CLOSED_SECONDS", 60.0)
    more = with_replies(tmp_path, encoder)
    more["replies"] |= {"add_every_seconds": 3_600, "max_pending": 1}
    with listening(create_app(settings(tmp_path, **more), loaders(encoder))) as address:

        def add(content: bytes | None = None) -> httpx.Response:
            body = {"conversations": [CHAT]} if content is None else None
            return httpx.post(f"{address}/v1/replies/conversations", json=body, content=content)

        assert add().status_code == 202
        by_the_route, by_its_headers = add(), add(b"no JSON")
        for refused in (by_the_route, by_its_headers):
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_pending")
            assert refused.headers["Retry-After"] == "10"
        suggested = httpx.post(f"{address}/v1/replies", json={"context": ["hello"]})
        assert suggested.status_code == 200
