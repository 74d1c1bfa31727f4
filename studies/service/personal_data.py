"""Add personal data on every route that stores, then search all bytes on disk, uncompressed, for it.

The texts are those that the patterns were developed on: values in free wording, in odd forms, repeated and split. What
the patterns of `prepare` replace must be nowhere. What they miss is counted apart; `studies/corpus` measures
how much that is.

Usage: python -m studies.service.personal_data MODEL --work FOLDER
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from studies.lib.figures import record
from studies.service.lab import Served, arguments, client, prepare, save
from studies.service.on_disk import contents
from turnloom.service.scrubbing import scrubbed

LABELLED = Path(__file__).parents[2] / "tests" / "corpus" / "privacy"
SETS = ("third", "fourth")
"""The hardest, by authors who had not seen the patterns; these were widened by what they missed of them."""
SHORTEST = 6
"""Shorter values are found by chance."""
PER_REQUEST, EXAMPLES = 100, 10
LIMITS = {"wait_seconds": 60, "request_seconds": 300}
"""A busy machine is not what is tried."""


def labelled() -> Iterator[tuple[str, list[str]]]:
    """Texts, and the personal data in them."""
    for name in SETS:
        for line in (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if one["spans"]:
                yield one["text"], [one["text"][start:end] for start, end in one["spans"]]


def values_to_find(texts: Sequence[tuple[str, list[str]]]) -> tuple[set[str], set[str]]:
    """The values that the patterns replace everywhere, and those that they leave somewhere."""
    kept = "\n".join(scrubbed([text for text, _ in texts])).lower()
    values = {value for _, found in texts for value in found if len(value) >= SHORTEST}
    missed = {value for value in values if value.lower() in kept}
    return values - missed, missed


def requests(texts: Sequence[str], first: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field for texts of every route, those that store and those that should not."""
    turns = [{"speaker": "customer" if n % 2 else "agent", "text": text} for n, text in enumerate(texts)]
    yield "/v1/replies/conversations", {"conversations": [{"id": f"personal-{first}", "turns": turns}]}
    texts = texts[:EXAMPLES]  # Intents are fitted again with each addition, and scrubbed by the same function.
    yield "/v1/intents/examples", {"examples": [{"message": text, "intent": "personal"} for text in texts]}
    yield "/v1/intents/examples", {"examples": [{"message": ["hello", text], "intent": "personal"} for text in texts]}
    described = [{"intent": f"intent {first + n}", "description": text} for n, text in enumerate(texts)]
    yield "/v1/intents/examples", {"examples": described}
    for text in texts[:2] if first == 0 else ():  # Names: refused, or they hold nothing.
        name, pair = text[:200], turns[:2]
        yield "/v1/intents/examples", {"examples": [{"message": "hello", "intent": name}]}
        yield "/v1/intents/examples/remove", {"intents": [name]}
        yield "/v1/replies/conversations", {"conversations": [{"id": "1", "source": name, "turns": pair}]}
        yield "/v1/replies/conversations", {"conversations": [{"id": "2", "domains": [name], "turns": pair}]}
    yield "/v1/intents/examples/remove", {"messages": list(texts[:3])}
    yield "/v1/intents", {"messages": list(texts)}
    yield "/v1/replies", {"context": list(texts), "conversation": f"personal-{first}"}
    yield "/v1/embeddings", {"model": "model", "input": list(texts)}


def add_all(http: httpx.Client, texts: Sequence[str]) -> dict[str, int]:
    """Send everything; how often each route gave each status."""
    seen: dict[str, int] = {}
    for first in range(0, len(texts), PER_REQUEST):
        for path, body in requests(texts[first : first + PER_REQUEST], first):
            while (answer := http.post(path, json=body)).status_code == 429:
                time.sleep(1)
            assert answer.status_code < 500, answer.text
            name = f"{path} {answer.status_code}"
            seen[name] = seen.get(name, 0) + 1
    return seen


def wait_indexed(state: Path) -> None:
    """Until nothing waits to be indexed."""
    while any(path.exists() and path.stat().st_size for path in (state / "pending.jsonl", state / "adding.jsonl")):
        time.sleep(0.5)


def bytes_of(folders: Sequence[Path]) -> str:
    """All bytes of some folders and files, also uncompressed, in lower case."""
    paths = [path for one in folders for path in ([one] if one.is_file() else sorted(one.rglob("*"))) if path.is_file()]
    pieces = (piece for path in paths for piece in (str(path).encode(), *contents(path)))
    return b"\0".join(pieces).decode("utf-8", "replace").lower()


def occurs(value: str, content: str) -> bool:
    """Whether a value is somewhere, as it is or as in JSON. Digits of a longer number, such as a row id, are not."""
    for form in {value, json.dumps(value)[1:-1]}:
        before = r"(?<!\d)" if form[:1].isdecimal() else ""
        after = r"(?!\d)" if form[-1:].isdecimal() else ""
        if form.lower() in content and re.search(before + re.escape(form.lower()) + after, content):
            return True
    return False


def main() -> None:
    given = arguments().parse_args()
    texts = list(labelled())
    replaced, missed = values_to_find(texts)
    prepare(given.work, given.model, None)
    served = Served(given.work, logs={"level": "info"}, limits=LIMITS)
    try:
        state = given.work / f"state-{served.address.rpartition(':')[2]}"
        places = [state, given.work / "intents", given.work / "replies", given.work / "log"]
        with client(served.address) as http:
            http.timeout = httpx.Timeout(300)
            seen = add_all(http, [text for text, _ in texts])
            wait_indexed(state / "replies")
    finally:
        served.stop()
    content = bytes_of(places)
    assert "personal-0" in content, "what was added is there"
    assert "<email>" in content
    found = sorted(value for value in replaced if occurs(value, content))
    print(json.dumps(seen, indent=1), found[:40])
    print(f"{len(replaced)} values that patterns replace, {len(found)} found; {len(missed)} that they miss")
    if not given.dry:
        save("personal_data", {"answers": seen, "found": found, "bytes": len(content)})
        figures = {"unscrubbed_adds_found": len(found), "scrubbed_values": len(replaced)}
        record("service", figures | {"values_beyond_patterns": len(missed)})


if __name__ == "__main__":
    main()
