"""The texts that teachers are asked about, as a dialogue table of one turn each: turns of open conversations, messages
with public labels, requests drawn from a grammar, and text unlike dialogue.

Labelled messages keep their intent; the other texts are there for the teachers alone. A language model wrote the
grammar (`requests.yaml`: what people want from companies of many kinds) without a look at any data. Text unlike
dialogue is at hand anyway: descriptions of Debian's packages and documentation strings of Python's library. It is
trained on, not shared.

Usage: TURNLOOM_DATA=... python -m studies.flagship.texts
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from turnloom.benchmarks.data import rows

TIER_A, OUT = Path("runs/tier-a"), Path("runs/flagship/texts")
SHORTEST, LONGEST = 3, 28
"""In words: shorter texts say little, longer ones cost the teachers time."""
MOST = {"twice": 14_000, "once": 9_000, "messages": 25_000, "debian": 9_000, "docstrings": 5_000, "requests": 40_000}
TWICE = {"sgd", "self_dialogue", "ubuntu_irc", "multiwoz21", "smcalflow"}
"""Sources of many domains, or of the most people."""
FEWEST = 4
"""Messages that an intent needs."""
NO_REQUESTS = {
    "contentonly",
    "outofdomain",
    "openinggreeting",
    "closinggreeting",
    "thankyou",
    "confirmation",
    "rejection",
}


def _draw(texts: Iterable[str], most: int) -> list[str]:
    """The texts with the smallest hashes: the same ones whatever their order."""
    fitting = {text for text in texts if SHORTEST <= len(text.split()) <= LONGEST}
    return sorted(fitting, key=lambda text: hashlib.sha256(text.encode()).digest())[:most]


def turns() -> Iterator[tuple[str, str]]:
    """Turns of the conversations that the recipe learns from, evenly over their sources."""
    said: dict[str, set[str]] = defaultdict(set)
    for path in sorted(TIER_A.rglob("*.parquet")):
        table = pq.read_table(path, columns=["source", "turns"])
        for source, dialogue in zip(table["source"].to_pylist(), table["turns"].to_pylist(), strict=True):
            said[source].update(turn["text"] for turn in dialogue)
    for source, texts in sorted(said.items()):
        yield from ((source, text) for text in _draw(texts, MOST["twice" if source in TWICE else "once"]))


def labelled() -> Iterator[tuple[str, str, str]]:
    """Messages of NLU++ and MultiDoGO and requests of SGD with what their authors say is meant."""
    found: list[tuple[str, str, str]] = []
    found += [
        ("multidogo", row["text"], row["label"][0])
        for row in rows("multidogo", "train")
        if len(row["label"]) == 1 and row["label"][0] not in NO_REQUESTS
    ]
    for domain in ("banking", "hotels"):
        found += [
            ("nlupp", row["text"], "+".join(sorted(row["label"]))) for row in rows("nlupp", domain) if row["label"]
        ]
    for row in rows("sgd", "train"):
        for turn in row["turns"]:
            if any(act.startswith("INFORM_INTENT") for act in turn.get("acts") or []) and turn.get("intent"):
                found.append(("sgd-requests", turn["text"], turn["intent"][0]))
    distinct = {(source, text.lower()): (source, text, intent) for source, text, intent in found if " " in text}
    sizes = Counter((source, intent) for source, _, intent in distinct.values())
    yield from (row for row in distinct.values() if sizes[row[0], row[2]] >= FEWEST)


def messages() -> Iterator[tuple[str, str]]:
    """What customers of MultiDoGO's six companies and of a restaurant wrote, without labels."""
    for name in ("multidogo", "restaurant8k"):
        yield from ((name, text) for text in _draw((row["text"] for row in rows(name, "train")), MOST["messages"]))


def requests() -> Iterator[tuple[str, str]]:
    """Requests to companies and assistants: sentences with a gap, and what fits into it."""
    kinds = yaml.safe_load(Path(__file__).with_name("requests.yaml").read_text(encoding="utf-8"))
    made = (frame.replace("{x}", x) for kind in kinds.values() for frame in kind["frames"] for x in kind["objects"])
    yield from (("requests", text) for text in _draw(made, MOST["requests"]))


def general() -> Iterator[tuple[str, str]]:
    """Descriptions of packages and documentation strings."""
    known = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    described = re.findall(r"^Description(?:-en)?: (.+)$", known, re.MULTILINE)
    yield from (("debian", text) for text in _draw(described, MOST["debian"]))
    yield from (("docstrings", text) for text in _draw(_docstrings(), MOST["docstrings"]))


def _docstrings() -> Iterator[str]:
    library = Path(sysconfig.get_path("stdlib"))
    for path in (path for path in library.rglob("*.py") if not {"site-packages", "test"} & set(path.parts)):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue  # Tests of what cannot be read.
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (said := ast.get_docstring(node)):
                yield " ".join(said.split("\n\n")[0].split())


def main() -> None:
    logs = OUT.with_name("logs")
    for made in (logs, OUT):
        shutil.rmtree(made, ignore_errors=True)
    logs.mkdir(parents=True)
    by_source: dict[str, list[dict[str, str]]] = defaultdict(list)
    seen: set[str] = set()
    for source, text, *intent in (*labelled(), *turns(), *messages(), *requests(), *general()):
        if text in seen:  # Its first copy has the label.
            continue
        seen.add(text)
        turn = {"speaker": "user", "text": text, **({"intent": intent[0]} if intent else {})}
        by_source[f"{source}-texts"].append(turn)
    for source, said in by_source.items():
        lines = [json.dumps({"id": str(number), "turns": [turn]}) + "\n" for number, turn in enumerate(said)]
        (logs / f"{source}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{source}: {len(said):,}")
    words = ["--min-turns", "1", "--no-near", "--no-scrub", "--hold-out", "dse,diaeval", "--out", str(OUT)]
    subprocess.run(["turnloom", "prepare", *sorted(map(str, logs.glob("*.jsonl"))), *words], check=True)


if __name__ == "__main__":
    main()
