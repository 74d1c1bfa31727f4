"""Build a vector table from dialogue tables, in ranges of keys; finished ranges survive a killed run."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from turnloom.corpus.engine import batch_function, daft, frugally, run_numbered, with_columns
from turnloom.corpus.table import WORK, Workspace, read_manifest, read_tables
from turnloom.corpus.turn_arrays import buckets_of, join_turns, split_turns
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, write_whole
from turnloom.runtime.protocols import Encoder, Progress, turn_encoder, wrong_model
from turnloom.vectors.table import DIALOGUES, KEYS, MANIFEST, VECTORS, VectorManifest, VectorTable, find_keys, text_keys

TURNS_PER_RANGE = 20_000
"""About a minute of encoding: what you lose when a run is killed."""
AT_A_TIME = 2_048
"""The number of texts between two progress reports."""
MOST_RANGES = 4_096


@dataclass(frozen=True)
class VectorOptions:
    """How to build a vector table.

    Attributes:
        load: Loads the encoder, once in each process that encodes; Ray must be able to pickle it.
        on_ray: Whether Ray's workers encode the ranges in parallel.
        turns_per_range: About how many turns to encode between two points from which a killed run can continue.
        command: The command or call to record in the manifest.
    """

    load: Callable[[], Encoder]
    on_ray: bool = False
    turns_per_range: int = TURNS_PER_RANGE
    command: str = "turnloom.vectors.build_vectors"


def build_vectors(
    tables: Sequence[Path], out: Path, options: VectorOptions, on_progress: Progress = lambda *_: None
) -> tuple[VectorManifest, int]:
    """Encode every distinct text of dialogue tables once.

    If a run is killed, the next one continues with the first unfinished range. An existing vector table of the same
    encoder is replaced and its vectors are reused: only new texts are encoded.

    Args:
        tables: The folders of dialogue tables.
        out: The vector table's folder.
        options: The encoder, and where it runs.
        on_progress: Called with a step, the share of it that is done, and a note.

    Returns:
        The manifest, and the number of texts encoded.

    Raises:
        TurnloomError: If the tables contain no text, or the folder contains other files or another model's vectors.
    """
    encoder = turn_encoder(options.load())
    manifests = [read_manifest(table) for table in tables]
    old = _same_model(out, encoder)
    hashes = sorted(manifest.content_hash for manifest in manifests)
    if old is not None and old.manifest.tables == hashes:
        return old.manifest, 0
    turns = sum(manifest.turns for manifest in manifests)
    ranges = min(MOST_RANGES, 1 + turns // options.turns_per_range)
    # The old vectors are not part of it: a run that was killed while replacing them continues without them.
    job = json.dumps([hashes, encoder.fingerprint, ranges])
    whole = WholeFolder(out, MANIFEST, "a vector table", beside=[WORK])
    work = Workspace(out / WORK, hashlib.sha256(job.encode()).hexdigest())
    on_progress("reading dialogues", 0.0, "")
    staged = work.step("texts", lambda folder: _stage_texts(tables, folder, ranges))
    on_progress("reading dialogues", 1.0, "")
    encoding = _Encoding(staged, work, ranges, out if old else None)
    if options.on_ray:
        encoding.on_ray(partial(load_once, encoder.fingerprint, options.load), on_progress)
    else:
        encoding.here(encoder, on_progress)
    texts, width, digest = encoding.assemble(whole.new)
    if not texts:
        raise TurnloomError(f"{tables[0]} holds no turns", "choose a table with conversations")
    dialogues = _write_dialogues(tables, whole.new)
    manifest = VectorManifest(
        model=encoder.name,
        fingerprint=encoder.fingerprint,
        width=width,
        texts=texts,
        dialogues=dialogues,
        turns=turns,
        tables=hashes,
        scrubbed=all("personal_data" in one.counts and one.counts["options"]["scrub"] for one in manifests),
        content_hash=hashlib.sha256(f"{digest} {hashes}".encode()).hexdigest()[:32],
        command=options.command,
    )
    write_whole(whole.new / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    encoded = encoding.encoded()
    whole.commit()
    work.remove()
    return manifest, encoded


def _same_model(out: Path, encoder: Encoder) -> VectorTable | None:
    """Return the existing vector table, if any."""
    if not (out / MANIFEST).exists():
        return None
    old = VectorTable(out)
    if old.manifest.fingerprint != encoder.fingerprint:
        raise wrong_model(
            out, old.manifest.model, old.manifest.fingerprint, encoder, "choose another --out, or use that model"
        )
    return old


def _stage_texts(tables: Sequence[Path], out: Path, ranges: int) -> None:
    """Write all texts with their keys, one folder of Parquet files per range of keys."""
    engine = daft()
    kinds = engine.DataType
    fields = {"key": kinds.uint64(), "text": kinds.string(), "range": kinds.int32()}

    @batch_function(kinds.list(kinds.struct(fields)))
    def texts(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        keys = text_keys(flat.field("text"))
        # Drop copies within a batch here; copies across batches meet in their range.
        _, first = np.unique(keys, return_index=True)
        first.sort()
        columns = [
            pa.array(keys[first]),
            flat.field("text").take(pa.array(first)),
            pa.array(buckets_of(keys[first], ranges)),
        ]
        found = pa.StructArray.from_arrays(columns, names=list(fields))
        return pa.LargeListArray.from_arrays(pa.array(np.searchsorted(first, offsets), pa.int64()), found)

    col = engine.col
    listed = read_tables(tables).select(texts(col("turns")).alias("one")).explode("one").where(col("one").not_null())
    with frugally():
        listed.select(*[col("one").get(name).alias(name) for name in fields]).write_parquet(
            str(out), partition_cols=["range"]
        )


def _read_range(staged: Path, number: int) -> tuple[Any, list[str]]:
    """Return the distinct keys of a range in order, and their texts."""
    files = sorted((staged / f"range={number}").glob("*.parquet"))
    if not files:
        return np.zeros(0, np.uint64), []
    rows = pa.concat_tables([pq.read_table(file, columns=["key", "text"], partitioning=None) for file in files])
    rows = rows.group_by(["key", "text"]).aggregate([]).sort_by("key")
    keys = rows["key"].to_numpy()
    if len(np.unique(keys)) != len(keys):
        place = int(np.flatnonzero(np.diff(keys) == 0)[0])
        one, other = rows["text"][place].as_py(), rows["text"][place + 1].as_py()
        raise TurnloomError(f"two texts have one key: {one!r} and {other!r}", "change one of them by a space")
    return keys, rows["text"].to_pylist()


_loaded: dict[str, Encoder] = {}
_loading = threading.Lock()


def load_once(fingerprint: str, load: Callable[[], Encoder]) -> Encoder:
    """Return this process's encoder, loading it at the first call.

    Each Ray task gets a copy of its function; a worker's tasks share only the state of modules.
    """
    with _loading:
        if fingerprint not in _loaded:
            encoder = load()
            encoder.encode(
                ["turnloom"]
            )  # A tokenizer initialises itself at its first text, which two threads must not do at once.
            _loaded.clear()  # One job runs at a time, so the last job's model can go.
            _loaded[fingerprint] = encoder
        return _loaded[fingerprint]


class _Encoding:
    """The ranges of one job: encode them in sequence or in parallel, then assemble them."""

    def __init__(self, staged: Path, work: Workspace, ranges: int, known: Path | None) -> None:
        self._staged, self._work, self._ranges, self._known = staged, work, ranges, known

    def _result(self, number: int) -> Path:
        return self._work.folder / f"range-{number:05}"

    def here(self, encoder: Encoder, on_progress: Progress) -> None:
        """Encode the ranges in this process."""
        for number in range(self._ranges):

            def show(part: float, number: int = number) -> None:
                on_progress("encoding texts", (number + part) / self._ranges, f"part {number + 1} of {self._ranges}")

            show(0.0)
            self.encode(number, encoder, show)
        on_progress("encoding texts", 1.0, "")

    def on_ray(self, load: Callable[[], Encoder], on_progress: Progress) -> None:
        """Encode the ranges on Ray's workers, all of which must be able to write to the folder."""
        run_numbered(self._ranges, lambda number: self.encode(number, load()))
        on_progress("encoding texts", 1.0, "")

    def encode(self, number: int, encoder: Encoder, on_part: Callable[[float], None] = lambda _: None) -> int:
        """Encode one range, unless an earlier run did; return the number of new texts."""
        folder = self._work.step(self._result(number).name, lambda out: self._encode(number, encoder, out, on_part))
        return int((folder / "encoded").read_text())

    def _encode(self, number: int, encoder: Encoder, out: Path, on_part: Callable[[float], None]) -> None:
        keys, texts = _read_range(self._staged, number)
        old = VectorTable(self._known) if self._known else None
        place = find_keys(old.keys, keys) if old else np.full(len(keys), -1)
        new = np.flatnonzero(place < 0)
        # Texts of similar length share a batch with little padding. The longest come first, so that progress speeds up.
        new = new[np.argsort([-len(texts[row]) for row in new], kind="stable")]
        pieces = []
        for start in range(0, len(new), AT_A_TIME):
            pieces.append(encoder.encode([texts[row] for row in new[start : start + AT_A_TIME]]).astype(np.float16))
            on_part(min(1.0, (start + AT_A_TIME) / len(new)))
        width = pieces[0].shape[1] if pieces else old.manifest.width if old else 0
        vectors = np.zeros((len(keys), width), np.float16)
        if pieces:
            vectors[new] = np.concatenate(pieces)
        if old is not None:
            vectors[place >= 0] = old.vectors[place[place >= 0]]
        np.save(out / KEYS, keys)
        np.save(out / VECTORS, vectors)
        (out / "encoded").write_text(str(len(new)))

    def encoded(self) -> int:
        """Return the number of new texts in all ranges."""
        return sum(int((self._result(number) / "encoded").read_text()) for number in range(self._ranges))

    def assemble(self, out: Path) -> tuple[int, int, str]:
        """Write all ranges as one array; return the number of texts, the width and a hash of the content."""
        keys = np.concatenate([np.load(self._result(number) / KEYS) for number in range(self._ranges)])
        np.save(out / KEYS, keys)
        digest = hashlib.sha256(keys.tobytes())
        width, begin, target = 0, 0, None
        for number in range(self._ranges):
            part = np.load(self._result(number) / VECTORS, mmap_mode="r")
            if not len(part):
                continue
            if target is None:
                width = part.shape[1]
                target = np.lib.format.open_memmap(out / VECTORS, "w+", np.float16, (len(keys), width))
            target[begin : begin + len(part)] = part
            digest.update(np.ascontiguousarray(part).tobytes())
            begin += len(part)
        if target is not None:
            target.flush()
        return len(keys), width, digest.hexdigest()


def _write_dialogues(tables: Sequence[Path], out: Path) -> int:
    """Write each dialogue as the rows of its turns; return the number of dialogues."""
    folder = str(out / KEYS)

    def rows(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        places = find_keys(np.load(folder, mmap_mode="r"), text_keys(flat.field("text")))
        return [join_turns(offsets, pa.array(places)), join_turns(offsets, pa.array(_speaker_numbers(offsets, flat)))]

    fields = {"rows": pa.large_list(pa.int64()), "speakers": pa.large_list(pa.int16())}
    with frugally():
        table = with_columns(read_tables(tables).select("dialogue_id", "source", "turns"), fields, rows, "turns")
        table.exclude("turns").write_parquet(str(out / DIALOGUES), compression="zstd")
    files = sorted((out / DIALOGUES).glob("*.parquet"))
    for number, path in enumerate(files):
        path.rename(path.with_name(f"part-{number:05}.parquet"))
    return sum(pq.read_metadata(path).num_rows for path in (out / DIALOGUES).glob("*.parquet"))


def _speaker_numbers(offsets: Any, flat: pa.StructArray) -> Any:
    """Number each turn's speaker within its dialogue, from 0 in order of appearance."""
    codes = flat.field("speaker").fill_null("").dictionary_encode().indices.to_numpy()
    numbers = np.zeros(len(codes), np.int16)
    for start, end in pairwise(offsets):
        _, first, inverse = np.unique(codes[start:end], return_index=True, return_inverse=True)
        numbers[start:end] = np.argsort(np.argsort(first))[inverse]
    return numbers
