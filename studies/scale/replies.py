"""An index of up to ten million replies: recall, latency, memory, and bare LanceDB beside it.

Usage: python -m studies.scale.replies VECTORS FOLDER SIZE...

A reply's text is made of two phrases of the generated corpus; its vector is one of a vector table (VECTORS, of real
turns) plus noise, so that replies lie in clusters as real ones do. Questions are vectors of the same table that no
reply repeats. A million replies of width 384 take about 5 GB in FOLDER; an index is removed when it is measured, and
sizes whose result is there are skipped. Searches and their figures are those of `studies.applications.replies_scale`.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from studies.applications.replies_corpus import ASKED, NOISE
from studies.applications.replies_scale import in_fresh_process
from studies.corpus.generate import Generator, dialogue_rows
from studies.lib.figures import record
from studies.lib.memory import GIB, kibibytes
from studies.lib.results import Results
from turnloom.corpus.engine import daft
from turnloom.corpus.table import MANIFEST, TableWriter
from turnloom.replies import ReplyIndex
from turnloom.runtime import Context
from turnloom.runtime.protocols import Vectors, unit_rows
from turnloom.vectors import VectorTable

RESULTS = Results("scale")
DIALOGUES_AT_A_TIME = 200_000
NOISES = 50_000
QUESTIONS = 2 * ASKED
"""The first half are the contexts of the replies, on which an index measures its recall; the study asks the others."""


class Corpus:
    """Texts by number, and the vectors of texts."""

    def __init__(self, vectors: Path) -> None:
        generator = Generator()
        self.first = list(dict.fromkeys(generator.first.to_pylist()))
        # One less, so that numbers below the product of both have pairs of phrases of their own.
        self.second = list(dict.fromkeys(generator.second.to_pylist()))[: len(self.first) - 1]
        self.table = VectorTable(vectors)
        rows = np.random.default_rng(0).permutation(len(self.table))
        self._questions, self._bases = np.sort(rows[:QUESTIONS]), rows[QUESTIONS:]

    def questions(self) -> list[str]:
        return [f"{self.second[number]}?" for number in range(QUESTIONS)]

    def question_vectors(self) -> Vectors:
        return unit_rows(self.table.vectors[self._questions])

    def texts(self, numbers: np.ndarray) -> pa.Array:
        first = pa.array(self.first).take(pa.array(numbers % len(self.first)))
        second = pa.array(self.second).take(pa.array(numbers % len(self.second)))
        return pa.compute.binary_join_element_wise(first, second, ", ")

    @functools.cached_property
    def places(self) -> tuple[dict[str, int], dict[str, int]]:
        return tuple({text: place for place, text in enumerate(texts)} for texts in (self.first, self.second))  # type: ignore[return-value]

    @functools.cached_property
    def noise(self) -> Vectors:
        drawn = np.random.default_rng(1).normal(size=(NOISES, self.table.manifest.width))
        return np.asarray(NOISE * unit_rows(drawn), np.float32)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The vector of one base for each pair of phrases, plus noise that two mixes of both choose."""
        first, second = self.places
        pairs = [text.partition(", ")[::2] for text in texts]
        one = np.array([first.get(pair[0], 0) for pair in pairs], np.uint64)
        other = np.array([second.get(pair[1], 0) for pair in pairs], np.uint64)
        base = (one * np.uint64(2_654_435_761) + other * np.uint64(40_503)) % np.uint64(len(self._bases))
        noise = (one * np.uint64(97) + other * np.uint64(7_919)) % np.uint64(NOISES)
        return unit_rows(self.table.vectors[self._bases[base]].astype(np.float32) + self.noise[noise])


class CorpusEncoder:
    """The corpus's vectors by text: what a real encoder would give, without its time."""

    name = fingerprint = "generated"
    languages: frozenset[str] = frozenset()
    has_heads = True

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._asked = dict(zip(corpus.questions(), corpus.question_vectors(), strict=True))

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        return self._corpus.vectors(replies)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        return np.stack([self._asked[context[-1]] for context in contexts])

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.encode_document(texts)

    def format_context(self, context: Context) -> str:
        return "\n".join(context)


def write_questions(corpus: Corpus, folder: Path) -> None:
    """What `replies_scale` asks, in the files where it looks."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = pa.table({"context": [[text] for text in corpus.questions()], "text": [""] * QUESTIONS})
    with pa.ipc.new_file(folder / "base.arrow", rows.schema) as file:
        file.write_table(rows)
    np.save(folder / "contexts.npy", corpus.question_vectors())
    np.save(folder / "replies.npy", np.zeros((1, 1), np.float32))


def write_table(corpus: Corpus, folder: Path, size: int) -> Path:
    """A dialogue table of a question and a reply each."""
    if (folder / MANIFEST).exists():
        return folder
    writer, questions = TableWriter(folder), pa.array(corpus.questions()[:ASKED])
    for start in range(0, size, DIALOGUES_AT_A_TIME):
        numbers = np.arange(start, min(start + DIALOGUES_AT_A_TIME, size))
        both = pa.concat_arrays([questions.take(pa.array(numbers % ASKED)), corpus.texts(numbers)])
        count = len(numbers)
        order = np.arange(2 * count).reshape(2, count).T.ravel()
        rows = dialogue_rows(both.take(pa.array(order)), np.tile([0, 1], count), 2 * np.arange(count + 1), start)
        writer.write(daft().from_arrow(rows))
    writer.finish("studies.scale.replies", {})
    return folder


def build(vectors: Path, folder: Path, size: int) -> dict[str, float]:
    corpus = Corpus(vectors)
    write_questions(corpus, folder)
    table = write_table(corpus, folder / f"table-{size}", size)
    start, processor = time.perf_counter(), time.process_time()
    index = ReplyIndex.build(table, folder / f"index-{size}", CorpusEncoder(corpus))
    plan = index.version.ann
    stored = sum(path.stat().st_size for path in (folder / f"index-{size}").rglob("*") if path.is_file())
    return {
        "replies": len(index),
        "build_minutes": (time.perf_counter() - start) / 60,
        "build_processor_minutes": (time.process_time() - processor) / 60,
        "build_gib": kibibytes("VmHWM") / GIB,
        "disk_gib": stored / 2**30,
        "partitions": plan.partitions,
        "nprobes": plan.nprobes,
        "recall_on_own_contexts": plan.recall or 0.0,
    }


def name_of(size: int) -> str:
    return f"{size // 1_000_000}m" if size >= 1_000_000 else f"{size // 1_000}k"


def measure(vectors: Path, folder: Path, size: int) -> None:
    name = f"replies-{size}"
    if RESULTS.get(name, "done"):
        return
    known = RESULTS.runs().get(name, {})
    if "replies" not in known:
        command = [sys.executable, "-m", "studies.scale.replies", "--build", str(vectors), str(folder), str(size)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        RESULTS.put(name, json.loads(printed.strip().splitlines()[-1]))
    for step, gives in (("truth", ""), ("search", "search_gib"), ("bare", "speed_ratio_to_bare")):
        if not gives or gives not in RESULTS.runs()[name]:
            RESULTS.put(name, in_fresh_process(step, folder, size))
            print(size, step, RESULTS.runs()[name], flush=True)
    RESULTS.put(name, {"done": True})
    for made in ("table", "index"):
        shutil.rmtree(folder / f"{made}-{size}")


def main(vectors: Path, folder: Path, sizes: Sequence[int]) -> None:
    for size in sizes:
        measure(vectors, folder, size)
        point, short = RESULTS.runs()[f"replies-{size}"], name_of(size)
        named = {
            "p95_ms": "hybrid_p95_ms",
            "recall_at_10": "recall_at_10",
            "search_gib": "search_gib",
            "build_gib": "build_gib",
            "build_minutes": "build_minutes",
            "ratio_to_bare_lancedb": "speed_ratio_to_bare",
        }
        record("scale", {f"replies_{short}_{figure}": point[field] for figure, field in named.items()})


if __name__ == "__main__":
    if sys.argv[1] == "--build":
        print(json.dumps(build(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]), [int(size) for size in sys.argv[3:]])
