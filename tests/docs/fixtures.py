"""What the pages speak of, made small: models, tables, files and sets that are there before a page begins."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

from tools.code_blocks import ROOT, pages

from tests.benchmarks.known_answers import write_sets
from tests.intents.guide_model import write_model
from tests.replies.toy import dialogue, many, write_table
from turnloom.corpus.catalog import load_catalog

CHATS = [
    dialogue(1, "Hi, my parcel never arrived", "Could you give me the order number?", "It is 4471", "It comes today."),
    dialogue(2, "How do I change my address?", "Under Account, then Addresses.", "thanks", "You are welcome!"),
    dialogue(3, "The parcel is late", "could you give me the order number?", "thanks", "You are welcome!"),
]
MODELS = ("my-model", "all-MiniLM-L6-v2", "gte-small")
MINI = "turnloom-mini"
"""The model that a page installs: the clone's own, so what a page shows of it can be checked."""
THINGS = (
    "lamp",
    "desk",
    "chair",
    "vase",
    "rug",
    "shelf",
    "sofa",
    "mirror",
    "clock",
    "bench",
    "stool",
    "plant",
    "kettle",
    "teapot",
    "tray",
    "cup",
)
ANSWERED_ALIKE = [
    dialogue(400 + number, f"where is the {thing}?", "i look into it") for number, thing in enumerate(THINGS)
]
"""Questions with one answer, for views that need such."""
INTENTS = {
    "track_order": ("where is", "has anyone sent", "i still wait for", "please track"),
    "return_item": ("how do i return", "i want to send back", "this is wrong, take back", "can i give back"),
}
ANY_ROW = {"text": "what is kept apart", "response": "this", "a": "one", "b": "two", "question": "why", "answer": "so"}
CITIES, DAYS = ("rome", "bern", "york", "paris"), ("today", "tomorrow", "sunday")


def write_models(place: Path, words: str) -> None:
    """Encoders that know the words of the pages, another one, and a cross-encoder."""
    import torch
    from sentence_transformers import CrossEncoder, SentenceTransformer

    for name in MODELS:
        write_model(place / name, words)
    model = SentenceTransformer(str(place / "my-model"), device="cpu")
    CrossEncoder(str(place / "my-model"), num_labels=1, device="cpu").save_pretrained(str(place / "my-reranker"))
    with torch.no_grad():
        next(iter(model.parameters())).mul_(2)
    shutil.copytree(ROOT / "models" / MINI, place / MINI)
    for name in ("better-model", "gte-small"):
        model.save(str(place / name), create_model_card=False)


def write_files(place: Path) -> None:
    """Labelled messages, tagged utterances, and a table with columns of its own names."""
    things = ("my parcel", "the lamp", "those shoes", "my order", "the chair", "a desk", "the vase", "our rug")
    rows = [f'"{way} {thing}",{intent}' for intent, ways in INTENTS.items() for way in ways for thing in things]
    (place / "examples.csv").write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    strangers = [f"sing me song number {number},oos" for number in range(20)]
    (place / "my-intents.csv").write_text("text,label\n" + "\n".join([*rows, *strangers]) + "\n", encoding="utf-8")
    tags = ["O", "O", "B-city", "B-day"]
    tagged = [{"text": f"fly to {city} {day}", "slots": tags} for city in CITIES for day in DAYS]
    (place / "my-utterances.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tagged), encoding="utf-8")
    (place / "export.tsv").write_text(
        "ticket\tn\twho\tbody\n7\t1\tuser\thello\n7\t2\tdesk\tgood day\n", encoding="utf-8"
    )
    csv = "conversation_id,role,message\n1,customer,where is my parcel\n1,agent,it is on its way\n"
    (place / "chats.csv").write_text(csv, encoding="utf-8")


def write_place(place: Path) -> None:
    """The folder in which a page is run."""
    write_models(place, " ".join(path.read_text(encoding="utf-8") for path in pages()))
    write_files(place)
    for name in ("corpus", "chats", "prepared"):
        asked = [] if name == "corpus" else ANSWERED_ALIKE
        write_table(place / name, [*CHATS, *many(12, first=100), *asked])
    write_table(place / "todays-chats", many(3, first=200))
    write_table(place / "held-out", many(40, first=300))
    write_sets(place / "sets")
    fill_sets(place / "sets")


def fill_sets(root: Path) -> None:
    """Files of the sets that no task reads but holding out does: what another set has of that kind."""
    catalog = load_catalog().values()
    there = [(entry, root / entry.name) for entry in catalog if (root / entry.name).is_dir()]
    files = [(file.kind, folder / f"{name}.jsonl.gz") for entry, folder in there for name, file in entry.files.items()]
    by_kind = {kind: path for kind, path in files if path.exists()}
    for kind, path in files:
        if path.exists():
            continue
        if kind in by_kind:
            shutil.copyfile(by_kind[kind], path)
        else:
            path.write_bytes(gzip.compress(json.dumps(ANY_ROW).encode() + b"\n"))
