"""Do suggested replies fit? Two raters read 200 contexts with the replies of search, re-ranker and the true one, blind.

Usage: TURNLOOM_DATA=... python -m studies.reranker.judge write MODEL FOLDER
       python -m studies.reranker.judge score FOLDER RATINGS RATINGS

`write` makes FOLDER/items.jsonl, one reply to rate per line, in random order, and FOLDER/key.json, which says what each
one is; the texts are those of SGD, MultiWOZ and STAR and stay outside the repository. Raters follow RUBRIC and write
one JSON object, from an item's number to "fits", "harmless" or "wrong". `score` records the figures and keeps the
ratings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from studies.lib.agreement import agreement
from studies.lib.figures import record
from studies.reranker.arms import RESULTS
from studies.reranker.turn_level import CACHE, FOUND, SETS, reader
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.tasks.appropriate_reply import judged_replies
from turnloom.runtime.protocols import unit_rows

CONTEXTS = 200
RUBRIC = """
You see a conversation between a customer (user) and an agent (system), and one reply that the agent might give next.
- fits: a competent agent could say exactly this now. Names, numbers, dates and places may differ from what you expect
  if nothing in the conversation contradicts them.
- harmless: not what should come next, but it does no damage; for example polite words, or a question that the
  conversation allows though it does not help.
- wrong: it contradicts the conversation, answers something else, repeats what was settled, or is about another matter.
Rate each reply on its own. Do not guess which system it is from.
"""
SYSTEMS = ("true", "search", "reranked")


def write(model: str, folder: str) -> None:
    """Draw contexts of three test splits, find replies, and write them in blind order."""
    encoder, rng, rows = CachedEncoder(reader(model), CACHE), np.random.default_rng(0), []
    for name in SETS:
        judged = judged_replies(name)
        replies = list(dict.fromkeys(one.reply for one in judged))
        documents = unit_rows(encoder.encode_document(replies))
        for place in rng.permutation(len(judged))[: -(-CONTEXTS // len(SETS))]:
            one = judged[place]
            state = encoder.encoder.start(one.context)
            ranked = np.argsort(-(documents @ state.query()[0]), kind="stable")[: FOUND + len(one.context)]
            best = np.array([row for row in ranked if replies[row] not in one.context][:FOUND])
            shown = (one.reply, replies[best[0]], replies[best[state.rerank(documents[best]).argmax()]])
            rows.append((list(one.context), dict(zip(SYSTEMS, shown, strict=True))))
    rows = rows[:CONTEXTS]
    # A reply that two systems give is rated once.
    asked = [(number, text) for number, (_, shown) in enumerate(rows) for text in dict.fromkeys(shown.values())]
    order = rng.permutation(len(asked)).tolist()
    place_of = {asked[place]: item for item, place in enumerate(order)}
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    items = [
        {"item": item, "conversation": rows[asked[place][0]][0], "reply": asked[place][1]}
        for item, place in enumerate(order)
    ]
    (out / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    key = [{system: place_of[number, text] for system, text in shown.items()} for number, (_, shown) in enumerate(rows)]
    (out / "key.json").write_text(json.dumps(key), encoding="utf-8")
    (out / "rubric.txt").write_text(RUBRIC.lstrip(), encoding="utf-8")


def score(folder: str, *ratings: str) -> None:
    """Record how often each system's reply fits, by the mean of the raters, and how often they agree."""
    key = json.loads((Path(folder) / "key.json").read_text(encoding="utf-8"))
    raters = [json.loads(Path(path).read_text(encoding="utf-8")) for path in ratings]
    fits = {
        system: np.mean([[rated[str(row[system])] == "fits" for row in key] for rated in raters], axis=0)
        for system in SYSTEMS
    }
    gain = 100 * (fits["reranked"] - fits["search"])
    error = float(gain.std() / np.sqrt(len(gain)))
    same, kappa = agreement(*raters)
    record(
        "reranker",
        {
            **{f"judged_fit_{system}": 100 * float(values.mean()) for system, values in fits.items()},
            "judged_agreement": 100 * same,
            "judged_kappa": kappa,
            "judged_gain_low": float(gain.mean()) - 1.96 * error,
            "judged_gain_high": float(gain.mean()) + 1.96 * error,
            "judged_contexts": len(key),
        },
    )
    RESULTS.put("judged", {"key": key, **{f"rater{number}": rated for number, rated in enumerate(raters)}})


def main(what: str, *arguments: str) -> None:
    if what == "write":
        write(*arguments)
    else:
        score(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
