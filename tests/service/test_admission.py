"""Who is let in when there is more than can be answered in time, and whose turn it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.test_live import metric, wait_for
from tests.service.toy import (
    KEYS,
    HeadedEncoder,
    Silent,
    bearer,
    keys,
    listening,
    loaders,
    served,
    settings,
    with_intents,
    with_replies,
)
from turnloom.service.admission import RESERVED, SLOTS, Admission, OverloadedError, Work
from turnloom.service.app import create_app
from turnloom.service.config import Limits
from turnloom.service.fairness import FairQueue

ASKS: dict[str, dict[str, Any]] = {
    "/v1/embeddings": {"model": "toy", "input": "what is my balance"},
    "/v1/intents": {"messages": ["what is my balance"]},
    "/v1/intents/examples": {"examples": [{"message": "what is left of my balance", "intent": "balance"}]},
    "/v1/replies": {"context": ["what does the sofa cost"]},
}


@pytest.fixture(scope="module")
def encoder() -> HeadedEncoder:
    return HeadedEncoder()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, encoder: HeadedEncoder) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("admission")
    more = with_intents(folder, encoder) | with_replies(folder, encoder)
    config = settings(folder, **more, batching={"max_wait_ms": 0}, limits={"wait_seconds": 0.5, "request_seconds": 60})
    with listening(create_app(config, loaders(encoder))) as found:
        yield found


@pytest.mark.parametrize("path", ASKS)
def test_every_route_sheds_what_would_wait_too_long(address: str, encoder: HeadedEncoder, path: str) -> None:
    def ask(_: int) -> tuple[int, float, str]:
        began = time.monotonic()
        answer = httpx.post(f"{address}{path}", json=ASKS[path], timeout=60)
        return answer.status_code, time.monotonic() - began, answer.headers.get("retry-after", "")

    encoder.gate.clear()
    with ThreadPoolExecutor(2 * SLOTS) as pool:
        asking = [pool.submit(ask, number) for number in range(2 * SLOTS)]
        wait_for(lambda: sum(each.done() for each in asking) >= SLOTS)
        encoder.gate.set()
        answers = [each.result() for each in asking]
    shed = [answer for answer in answers if answer[0] == 429]
    assert {status for status, *_ in answers} == {200, 429}
    assert len(shed) >= SLOTS
    assert all(int(after) >= 1 for _, _, after in shed)
    assert httpx.post(f"{address}{path}", json=ASKS[path], timeout=60).status_code == 200


@contextmanager
def full(address: str, encoder: HeadedEncoder) -> Iterator[None]:
    """All slots are taken and so much waits that more is refused."""
    encoder.gate.clear()
    try:
        with ThreadPoolExecutor(2 * SLOTS) as pool:
            ask = partial(httpx.post, f"{address}/v1/intents", json=ASKS["/v1/intents"], timeout=60)
            asking = [pool.submit(ask) for _ in range(2 * SLOTS)]
            wait_for(lambda: sum(each.done() for each in asking) >= SLOTS)
            # A slot may still be held for an earlier test; then one request more waits, and is refused later.
            wait_for(lambda: metric(address, "turnloom_waiting_requests 0.0"))
            try:
                yield
            finally:
                encoder.gate.set()
    finally:
        encoder.gate.set()


def test_a_refusal_on_headers_alone_is_what_the_app_would_answer(address: str, encoder: HeadedEncoder) -> None:
    """Only a connection that stays open is refused before the app; the app itself answers one that is to be closed."""

    def ask(**headers: str) -> httpx.Response:
        return client.post("/v1/intents", json=ASKS["/v1/intents"], headers={"X-Request-Id": "mine", **headers})

    def refusals() -> float:
        lines = httpx.get(f"{address}/metrics", timeout=60).text.splitlines()
        wanted = ("turnloom_requests_total", 'route="/v1/intents"', 'status="429"')
        return sum(float(line.split()[-1]) for line in lines if all(part in line for part in wanted))

    def shown(answer: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        assert 1 <= int(headers.pop("retry-after")) <= 60
        return (
            answer.status_code,
            answer.content,
            {n: headers[n] for n in headers if n not in ("date", "connection", "server")},
        )

    with httpx.Client(base_url=address, timeout=60) as client, full(address, encoder):
        before = refusals()
        early, late = [ask() for _ in range(3)], ask(Connection="close")
        assert refusals() == before + 4
        assert client.get("/health/live").status_code == 200
    assert [shown(each) for each in early] == [shown(late)] * 3
    assert late.status_code == 429
    assert late.headers["x-request-id"] == "mine"
    assert late.headers["connection"] == "close"
    assert not any("connection" in each.headers for each in early)


def test_health_and_metrics_are_answered_meanwhile(address: str, encoder: HeadedEncoder) -> None:
    encoder.gate.clear()
    with ThreadPoolExecutor(SLOTS) as pool:
        asking = [
            pool.submit(httpx.post, f"{address}/v1/intents", json=ASKS["/v1/intents"], timeout=60)
            for _ in range(SLOTS + 4)
        ]
        wait_for(lambda: metric(address, 'turnloom_requests_total{method="GET",route="/metrics"'))
        assert httpx.get(f"{address}/health/live", timeout=5).status_code == 200
        encoder.gate.set()
        assert {each.result().status_code for each in asking} <= {200, 429}


def test_work_of_a_client_that_left_is_dropped_in_threads_too(address: str, encoder: HeadedEncoder) -> None:
    encoder.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        calls = len(encoder.calls)
        first = pool.submit(httpx.post, f"{address}/v1/intents", json=ASKS["/v1/intents"], timeout=60)
        wait_for(lambda: len(encoder.calls) > calls)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/v1/intents", json={"messages": ["i left"]}, timeout=1)
        wait_for(lambda: metric(address, 'turnloom_dropped_jobs_total{model="toy",reason="cancelled"}'))
        encoder.gate.set()
        assert first.result().status_code == 200
    assert httpx.post(f"{address}/v1/intents", json=ASKS["/v1/intents"], timeout=60).status_code == 200
    assert not any("i left" in call for call in encoder.calls)


def test_a_request_has_so_many_tokens_and_a_key_so_many_a_minute(tmp_path: Path, encoder: HeadedEncoder) -> None:
    entries = [entry | ({"tokens_per_minute": 100} if entry["name"] == "slow" else {}) for entry in keys()]
    entries[2].pop("requests_per_minute")
    config = settings(tmp_path, keys=entries, limits={"tokens": 100})
    with served(config, encoder) as client:
        for path, body, param in (
            ("/v1/embeddings", {"model": "toy", "input": ["a" * 160] * 3}, "input"),
            ("/rerank", {"query": "a" * 160, "texts": ["b", "c", "d"]}, "texts"),
            ("/v1/rerank", {"query": "a", "documents": ["b" * 160] * 3}, "documents"),
        ):
            answer = client.post(path, json=body, headers=bearer("all"))
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_many_tokens"), path
            assert answer.json()["error"]["param"] == param
        large = {"model": "toy", "input": ["a" * 160] * 2}
        assert [client.post("/v1/embeddings", json=large, headers=bearer("all")).status_code for _ in "ab"] == [200] * 2
        assert client.post("/v1/embeddings", json=large, headers=bearer("slow")).status_code == 200
        answer = client.post("/v1/embeddings", json=large, headers=bearer("slow"))
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "token_quota")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert KEYS["slow"] not in answer.text


def run(steps: Callable[[], Any]) -> Any:
    return asyncio.run(steps())


def work_of(admission: Admission, key: str, seconds: float = 60) -> Work:
    return Work(admission, key, "POST /x", 0, time.monotonic() + seconds)


def test_one_key_leaves_slots_to_others_and_the_line_is_fair() -> None:
    async def steps() -> list[str]:
        admission = Admission(Limits(wait_seconds=30), Silent(), fair=True)
        served: list[str] = []
        all_have_asked = asyncio.Event()  # Before a request ends: what it took would change what later ones cost.

        async def ask(key: str) -> None:
            work = work_of(admission, key)
            await admission.enter(work)
            served.append(key)
            await all_have_asked.wait()
            work.release()

        greedy = [asyncio.create_task(ask("greedy")) for _ in range(3 * SLOTS)]
        await asyncio.sleep(0)
        modest = [asyncio.create_task(ask("modest")) for _ in range(RESERVED + 2)]
        await asyncio.sleep(0)
        all_have_asked.set()
        await asyncio.gather(*greedy, *modest)
        admission.shut_down()
        return served

    served = run(steps)
    assert served[: SLOTS - RESERVED] == ["greedy"] * (SLOTS - RESERVED)
    assert served[SLOTS - RESERVED : SLOTS] == ["modest"] * RESERVED
    assert served[SLOTS : SLOTS + 12].count("modest") == 2


def test_requests_that_arrive_together_are_all_refused_on_their_headers_or_not_at_all() -> None:
    """Between the check of its headers and its turn a request's body is read: refused then, that was for nothing."""

    async def steps() -> None:
        admission = Admission(Limits(wait_seconds=0.2), Silent(), fair=False)
        running = work_of(admission, "a")
        await admission.enter(running)
        together = [work_of(admission, "b") for _ in range(3 * SLOTS)]
        for work in together:
            admission.check(work)
        asking = [asyncio.create_task(admission.enter(work)) for work in together]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            admission.check(work_of(admission, "b"))
        grown = work_of(admission, "b")
        grown.checked_units = grown.units
        grown.resize(100)
        with pytest.raises(OverloadedError):
            await admission.enter(grown)
        assert not any(each.done() and each.exception() for each in asking)
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        admission.shut_down()

    run(steps)


def test_waiting_is_predicted_from_what_requests_took() -> None:
    async def steps() -> None:
        admission = Admission(Limits(wait_seconds=0.2), Silent(), fair=True)
        for _ in range(60):  # Each takes 20 ms.
            work = work_of(admission, "greedy")
            await admission.enter(work)
            await asyncio.sleep(0.02)
            work.release()
        assert 0.015 < work_of(admission, "greedy").seconds < 0.1
        running = [work_of(admission, "greedy") for _ in range(12)]
        for work in running[:4]:
            await admission.enter(work)

        async def enter_all() -> None:
            for work in running[4:]:
                await admission.enter(work)

        with pytest.raises(OverloadedError) as refused:
            await enter_all()
        assert refused.value.headers["Retry-After"] == "1"
        await admission.enter(work_of(admission, "modest"))  # Its own line is empty.
        with pytest.raises(OverloadedError):
            admission.check(work_of(admission, "greedy", seconds=0.05))
        admission.shut_down()

    run(steps)


def test_who_gave_up_does_not_wait_any_more() -> None:
    """Their number stayed in the metrics until the next request got its turn."""

    class Counts:
        waiting = 0

        def waiting_for_slots(self, requests: int) -> None:
            self.waiting = requests

    async def steps() -> list[int]:
        counts = Counts()
        admission = Admission(Limits(wait_seconds=0.3), counts, fair=False)
        together = [work_of(admission, "") for _ in range(SLOTS + 5)]
        for work in together:
            admission.check(work)
        waiting = [asyncio.create_task(admission.enter(work)) for work in together]
        await asyncio.sleep(0)
        seen = [counts.waiting]
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert sum(isinstance(each, OverloadedError) for each in found) == 5
        admission.shut_down()
        return [*seen, counts.waiting]

    assert run(steps) == [5, 0]


def test_who_leaves_while_waiting_leaves_no_trace() -> None:
    async def steps() -> None:
        admission = Admission(Limits(wait_seconds=30), Silent(), fair=False)
        running = [work_of(admission, "") for _ in range(SLOTS)]
        for work in running:
            await admission.enter(work)
        waiting = [asyncio.create_task(admission.enter(work_of(admission, ""))) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting[:3]:
            task.cancel()
        running[0].release()  # The turn of one that was just cancelled must go to the next.
        await asyncio.gather(*waiting[:3], return_exceptions=True)
        await asyncio.wait_for(waiting[3], 5)
        for work in running[1:]:
            work.release()
        await asyncio.wait_for(waiting[4], 5)
        assert admission._running.total() == 2
        assert not len(admission._queue)
        admission.shut_down()

    run(steps)


def test_who_was_served_least_is_next() -> None:
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "a3"):
        queue.push("a", item)
    assert queue.pop() == "a1"
    queue.charge("a", 5)
    queue.push("b", "b1")
    queue.push("b", "b2")
    assert [queue.pop(), queue.pop(lambda item: item != "b2")] == ["b1", "a2"]
    queue.charge("a", 5)
    assert queue.remove("b", "b2")
    assert not queue.remove("b", "b2")
    queue.push("c", "c1")  # Was idle, and saved nothing up.
    queue.charge("c", 100)
    assert [queue.pop(), queue.pop(), queue.pop()] == ["a3", "c1", None]
