"""Fetch a public set: download it in its own format, verify it, and convert it to Turnloom's files."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from turnloom.corpus.catalog import DataSet, data_root
from turnloom.corpus.readers import READERS, ReadOptions
from turnloom.corpus.readers.logfile import Rejection
from turnloom.corpus.schema import Dialogue
from turnloom.errors import TurnloomError
from turnloom.files import replacing

BASE_URL = "https://raw.githubusercontent.com"
Rows = dict[str, Iterator[dict[str, Any]]]
"""Maps each file of the set to its rows."""


class FetchPlan(BaseModel):
    """The downloads of a set: a repository at a commit, and each file's git blob id."""

    model_config = ConfigDict(extra="forbid")

    repository: str
    commit: str
    files: dict[str, str]


@cache
def fetch_plan(name: str) -> FetchPlan | None:
    """Return the downloads of a set; None if you have to get it by hand."""
    text = resources.files("turnloom.corpus.catalog").joinpath("fetch.yaml").read_text(encoding="utf-8")
    entry = yaml.safe_load(text).get(name)
    return None if entry is None else FetchPlan(**entry)


def _clinc150(folder: Path) -> Rows:
    parts = json.loads((folder / "data/data_full.json").read_text(encoding="utf-8"))
    return {part: ({"text": text, "label": label} for text, label in rows) for part, rows in parts.items()}


def _banking77(folder: Path) -> Rows:
    def rows(split: str) -> Iterator[dict[str, Any]]:
        with (folder / f"banking_data/{split}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield {"text": row["text"], "label": row["category"]}

    return {split: rows(split) for split in ("train", "test")}


def _snips(folder: Path) -> Rows:
    def lines(split: str, name: str) -> list[str]:
        return (folder / f"data/snips/{split}/{name}").read_text(encoding="utf-8").splitlines()

    def rows(split: str) -> Iterator[dict[str, Any]]:
        columns = (lines(split, name) for name in ("seq.in", "seq.out", "label"))
        for text, tags, label in zip(*columns, strict=True):
            yield {"text": text.strip(), "slots": tags.split(), "label": label.strip()}

    return {split: rows(split) for split in ("train", "valid", "test")}


def _turns_row(dialogue: Dialogue, name: str) -> dict[str, Any]:
    """Convert a dialogue to a row of the `turns` format, without empty fields."""
    turns = [
        {field: value for field, value in asdict(turn).items() if value or field in ("speaker", "text")}
        for turn in dialogue.turns
    ]
    return {"id": name, "domains": dialogue.domains or [], "turns": turns}


def _dialogues(stream: io.BufferedIOBase, reader: str, name: str, path: str) -> Iterator[Dialogue]:
    for entry in READERS[reader].read(stream, path, ReadOptions(name, name)):  # type: ignore[arg-type]
        if isinstance(entry, Rejection):
            problem = f"{path}, line {entry.line}: {entry.reason}"
            raise TurnloomError(problem, "the source has changed: please report it")
        yield entry.dialogue


def _sgd(folder: Path) -> Rows:
    def rows(split: str) -> Iterator[dict[str, Any]]:
        for path in sorted((folder / split).glob("dialogues_*.json")):
            with path.open("rb") as stream:
                for dialogue in _dialogues(stream, "sgd", "sgd", str(path)):
                    # SGD reuses ids across its splits.
                    yield _turns_row(dialogue, f"{split}/{dialogue.dialogue_id}")

    return {split: rows(split) for split in ("train", "dev", "test")}


def _multiwoz21(folder: Path) -> Rows:
    """Read the archive: one file of all dialogues, and the lists of val and test ids."""
    archive = zipfile.ZipFile(folder / "data/MultiWOZ_2.1.zip")
    members = {Path(name).name: name for name in archive.namelist() if "__MACOSX" not in name}
    listed = {}
    for split in ("val", "test"):
        member = next(members[name] for name in (f"{split}ListFile.txt", f"{split}ListFile.json") if name in members)
        listed[split] = {line.strip().removesuffix(".json") for line in archive.read(member).decode().splitlines()}

    def rows(split: str) -> Iterator[dict[str, Any]]:
        with archive.open(members["data.json"]) as stream:
            content = io.BufferedReader(io.BytesIO(stream.read()))
        for dialogue in _dialogues(content, "multiwoz", "multiwoz21", "MultiWOZ_2.1.zip/data.json"):
            own = next((part for part, names in listed.items() if dialogue.dialogue_id in names), "train")
            if own == split:
                yield _turns_row(dialogue, dialogue.dialogue_id)

    return {split: rows(split) for split in ("train", "val", "test")}


_CONVERTERS: dict[str, Callable[[Path], Rows]] = {
    "banking77": _banking77,
    "clinc150": _clinc150,
    "multiwoz21": _multiwoz21,
    "sgd": _sgd,
    "snips": _snips,
}


def _write(rows: Iterator[dict[str, Any]], path: Path) -> int:
    count = 0
    # mtime 0 and no name, so that the same rows give the same bytes.
    with (
        replacing(path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8") as file,
    ):
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def fetch(
    dataset: DataSet,
    *,
    plan: FetchPlan | None = None,
    base_url: str | None = None,
    accept_noncommercial: bool = False,
    on_bytes: Callable[[int], None] = lambda _: None,
    on_file: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[str, int]:
    """Download a set into the data folder and convert it; return the row count of each written file.

    A mirror (`base_url`) must have the layout ``<base>/<repository>/<commit>/<path>``. With `accept_noncommercial` the
    user agrees to comply with a non-commercial licence. `on_bytes` is called with the size of each chunk, `on_file`
    with each file's path and number.
    """
    if dataset.use == "noncommercial" and not accept_noncommercial:
        raise TurnloomError(
            f"{dataset.name} may not be used commercially ({dataset.licence})",
            "add --accept-noncommercial if your use keeps to that",
        )
    plan = plan or fetch_plan(dataset.name)
    if plan is None:
        places = " and ".join(dataset.sources)
        raise TurnloomError(
            f"{dataset.name} is not fetched automatically; it is at {places} under: {dataset.licence}",
            f"convert it to JSON Lines and put it into {data_root() / dataset.name}",
        )
    folder = data_root() / dataset.name
    downloads = folder / "download"
    for number, (path, blob_id) in enumerate(plan.files.items()):
        on_file(path, number, len(plan.files))
        download(f"{base_url or BASE_URL}/{plan.repository}/{plan.commit}/{path}", downloads / path, blob_id, on_bytes)
    return {
        name: _write(rows, folder / f"{name}.jsonl.gz") for name, rows in _CONVERTERS[dataset.name](downloads).items()
    }


_CHUNK = 2**18
_TRIES = 4


def git_blob_id(path: Path) -> str:
    """Compute the id that git gives to a file's content, which public repositories publish for every file."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _continue(url: str, partial: Path, on_bytes: Callable[[int], None]) -> None:
    """Fetch the missing rest of a partial file; start over if the server ignores the range."""
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # Nothing is missing; the checksum decides.
            return
        raise
    with response, partial.open("ab" if response.status == 206 else "wb") as file:
        if response.status != 206 and have:
            on_bytes(-have)
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            on_bytes(len(chunk))
        expected = response.headers.get("Content-Length")
        received = file.tell() - (have if response.status == 206 else 0)
        if expected is not None and received < int(expected):
            raise OSError(f"the connection ended after {received:,} of {int(expected):,} bytes")


def download(url: str, target: Path, blob_id: str, on_bytes: Callable[[int], None] = lambda _: None) -> None:
    """Download a file unless it exists with this git blob id. An interrupted download is kept and resumed."""
    if target.exists() and git_blob_id(target) == blob_id:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    for attempt in range(1, _TRIES + 1):
        try:
            _continue(url, partial, on_bytes)
            break
        except (OSError, urllib.error.URLError) as error:
            gone = isinstance(error, urllib.error.HTTPError) and error.code in (401, 403, 404, 410)
            if gone or attempt == _TRIES:
                problem = f"{url} cannot be downloaded ({error})"
                raise TurnloomError(problem, "run the command again; it resumes") from error
            time.sleep(0.2 * 2**attempt)
    if git_blob_id(partial) != blob_id:
        partial.unlink()
        raise TurnloomError(f"{url} is not the published file (its checksum differs)", "run the command again")
    partial.rename(target)
