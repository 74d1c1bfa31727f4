"""`turnloom quickstart` on real logs: how long it takes for 15,000 conversations, and whether what comes out is good.

Usage: TURNLOOM_DATA=... python -m studies.onboarding.real_logs run FOLDER [CONVERSATIONS]
       TURNLOOM_DATA=... python -m studies.onboarding.real_logs sheet FOLDER
       python -m studies.onboarding.real_logs score FOLDER RATINGS RATINGS

The logs are threads of airlines' customers (TwACS, CC BY-NC-SA: read, never stored here), written like a support desk's
export. `run` times the command; once it has finished, it is not run again. `sheet` writes what two raters read: 200
replies that the service would suggest in threads which the command did not see, 50 replies that were really given in
others, in random order and without saying which is which, and 40 drafted groups. Threads in which the service keeps
silent are counted and left out. `score` records the figures and keeps the
ratings. FOLDER stays outside the repository.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from studies.lib.agreement import agreement
from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks.data import rows
from turnloom.corpus.cleaning.sign_offs import are_parts, without_signatures
from turnloom.corpus.privacy.patterns import scrub_texts
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.service.config_file import load_config

CONVERSATIONS, SUGGESTED, TRUE, GROUPS, MEMBERS = 15_000, 200, 50, 40, 12
LOOKED_AT = 2_000
"""Threads that were looked at while the order of replies was worked out."""
SPEAKERS = {"user": "customer", "system": "agent"}
MODEL = "models/turnloom-mini"
RUBRIC = Path(__file__).with_name("rubric.txt")
SECONDS = "seconds.json"
RESULTS = Results("onboarding")


def threads() -> tuple[list[Any], list[Any]]:
    """Return the threads that the command reads, and the others, in random order."""
    every = sorted(rows("twitter_airlines_twacs", "all"), key=lambda one: str(one["id"]))
    random.Random(44).shuffle(every)
    return every[:CONVERSATIONS], every[CONVERSATIONS:]


def run(folder: Path, conversations: str = str(CONVERSATIONS)) -> None:
    """Write the export and time the command, unless it was done; with fewer conversations, nothing is recorded."""
    read = threads()[0][: int(conversations)]
    if not (folder / SECONDS).exists():
        shutil.rmtree(folder, ignore_errors=True)  # Half a run cannot be timed.
        folder.mkdir(parents=True)
        with (folder / "export.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["ticket_id", "author_role", "body"])
            for thread in read:
                lines.writerows([thread["id"], SPEAKERS[turn["speaker"]], turn["text"]] for turn in thread["turns"])
        words = ["quickstart", str(folder / "export.csv"), "--start", MODEL, "--out", str(folder / "quickstart")]
        mapping = "dialogue_id=ticket_id,speaker=author_role,text=body"
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "turnloom.cli.main", *words, "--map", mapping], check=True)
        (folder / SECONDS).write_text(json.dumps({"seconds": time.perf_counter() - began, "cores": cores()}))
    took = json.loads((folder / SECONDS).read_text())
    if len(read) == CONVERSATIONS:
        minutes = {"quickstart_minutes_15k_dialogues": took["seconds"] / 60, "quickstart_15k_cores": took["cores"]}
        record("onboarding", minutes)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def cleaned(texts: list[str]) -> list[str]:
    """Return turns as a prepared table has them, so that a sheet shows no personal data either."""
    return list(without_signatures(scrub_texts(pa.array(texts, pa.large_string()))[0]).to_pylist())


def open_index(made: Path) -> ReplyIndex:
    """Return the reply index that the command made, with its model."""
    return ReplyIndex(made / "replies", load_encoder(load_config(made / "service.yaml").model.path))


def cut_before_replies(conversations: Iterable[Any], rng: random.Random) -> Iterator[tuple[list[str], list[str], str]]:
    """Yield, of each thread in which an agent replies, the turns before one reply, the same as shown, and the reply."""
    for thread in conversations:
        turns = cleaned([turn["text"] for turn in thread["turns"]])
        agent = [place for place, turn in enumerate(thread["turns"]) if place and turn["speaker"] == "system"]
        if agent:
            place = rng.choice(agent)
            said = zip(thread["turns"], turns[:place], strict=False)
            yield turns[:place], [f"{SPEAKERS[turn['speaker']]}: {text}" for turn, text in said], turns[place]


def write_sheet(folder: Path) -> None:
    """Write replies and groups to rate, the rubric, and the key to what each reply is."""
    made, rng = folder / "quickstart", random.Random(0)
    items: list[tuple[str, dict[str, Any]]] = []
    asked = cut_before_replies(threads()[1][LOOKED_AT:], rng)
    suggest, silent = suggester(made), 0
    while len(items) < SUGGESTED:
        turns, said, _ = next(asked)
        reply = suggest(turns)
        silent += reply is None
        if reply is not None:
            items.append(("suggested", {"conversation": said, "reply": reply}))
    whole = ((said, true) for _, said, true in asked if not are_parts(pa.array([true]))[0].as_py())
    items += [("true", {"conversation": said, "reply": true}) for said, true in islice(whole, TRUE)]
    rng.shuffle(items)
    sheet = folder / "sheet"
    sheet.mkdir(exist_ok=True)
    write_lines(sheet / "replies.jsonl", [shown for _, shown in items])
    write_lines(sheet / "groups.jsonl", groups(made / "intents.csv", rng))
    key = {"silent": silent, "kinds": [kind for kind, _ in items]}
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")
    shutil.copy(RUBRIC, sheet)
    print(sheet)


def suggester(made: Path) -> Callable[[list[str]], str | None]:
    """Return what suggests the first reply as the service would: in its mode, and nothing where it is unsure."""
    replies = load_config(made / "service.yaml").replies
    assert replies is not None
    index, options = open_index(made), {"mode": replies.mode, "min_score": replies.min_score}
    return lambda turns: next((one.text for one in index.suggest(turns, 1, **options)), None)  # type: ignore[arg-type]


def groups(path: Path, rng: random.Random) -> list[dict[str, Any]]:
    """Return some of the drafted groups: the name, and members at random."""
    members: dict[str, list[str]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            members[row["label"]].append(row["text"])
    chosen = rng.sample(sorted(members), min(GROUPS, len(members)))
    return [{"name": name, "messages": rng.sample(members[name], min(MEMBERS, len(members[name])))} for name in chosen]


def write_lines(path: Path, shown: list[dict[str, Any]]) -> None:
    """Write one item per line, with its number."""
    lines = [json.dumps({"item": item, **one}, ensure_ascii=False) + "\n" for item, one in enumerate(shown)]
    path.write_text("".join(lines), encoding="utf-8")


def score(folder: Path, *ratings: str) -> None:
    """Record what the raters say, each figure the mean of theirs, and how far they agree."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    raters = [json.loads(Path(path).read_text(encoding="utf-8")) for path in ratings]
    kinds, silent = key["kinds"], key["silent"]
    answered = 100 * kinds.count("suggested") / (kinds.count("suggested") + silent)
    record("onboarding", rated(kinds, raters) | {"replies_answered_percent": answered})
    RESULTS.put("rated", {"key": key, **{f"rater{number}": rater for number, rater in enumerate(raters, 1)}})


def rated(key: list[str], raters: list[dict[str, Any]]) -> dict[str, float]:
    """Return the figures of two raters' answers; `key` says what each reply is."""
    flat = []
    for rater in raters:
        assert {int(item) for item in rater["replies"]} == set(range(len(key))), "every reply is rated once"
        named = [(f"{aspect} {item}", said) for item, both in rater["groups"].items() for aspect, said in both.items()]
        flat.append((rater["replies"], dict(named)))

    def share(answers: list[list[str]], wanted: str) -> float:
        return 100 * sum(one.count(wanted) for one in answers) / sum(map(len, answers))

    def replies(kind: str) -> list[list[str]]:
        return [[said[str(item)] for item, what in enumerate(key) if what == kind] for said, _ in flat]

    def aspect(name: str) -> list[list[str]]:
        return [[said for item, said in answers.items() if item.startswith(name)] for _, answers in flat]

    (same, kappa), (same_groups, _) = (agreement(*both) for both in zip(*flat, strict=True))
    return {
        "replies_rated": key.count("suggested"),
        "replies_rated_fit_percent": share(replies("suggested"), "fits"),
        "replies_rated_wrong_percent": share(replies("suggested"), "wrong"),
        "true_replies_rated_fit_percent": share(replies("true"), "fits"),
        "true_replies_rated_wrong_percent": share(replies("true"), "wrong"),
        "replies_rated_agreement": 100 * same,
        "replies_rated_kappa": kappa,
        "groups_rated": len(raters[0]["groups"]),
        "groups_rated_coherent_percent": share(aspect("coherent"), "yes"),
        "names_rated_readable_percent": share(aspect("readable"), "yes"),
        "groups_rated_agreement": 100 * same_groups,
    }


def main(what: str, folder: str, *arguments: str) -> None:
    {"run": run, "sheet": write_sheet, "score": score}[what](Path(folder), *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
