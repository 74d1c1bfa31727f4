"""Keys, counts, and the approximate index against exact search."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.replies.toy import WordEncoder, dialogue, many, write_table
from turnloom.replies import ReplyIndex, ann, evaluate_replies
from turnloom.replies.ann import choose_plan, create_vector_index, exact_neighbours, nearest, outgrown, tune
from turnloom.replies.manifest import AnnPlan
from turnloom.replies.occurrences import KeyRanges, group_occurrences
from turnloom.replies.search import count_words, fuse, rarest_words
from turnloom.replies.store import Store, answered, vector_array
from turnloom.runtime.protocols import unit_rows


@given(st.integers(1, 50), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_every_key_is_in_one_range(count: int, keys: list[int]) -> None:
    ranges = KeyRanges(count)
    found = ranges.of(np.array(keys, np.int64))
    for key, number in zip(keys, found.tolist(), strict=True):
        bounds = [number * 2**64 // count - 2**63, (number + 1) * 2**64 // count - 2**63]
        assert bounds[0] <= key < bounds[1]


def test_ranges_in_sql_cut_a_table_without_overlap(tmp_path: Path) -> None:
    keys = [-(2**63), -5, -1, 0, 1, 2**62, 2**63 - 1]
    store = Store(tmp_path)
    table = store.create("keys", pa.schema([("key", pa.int64())]))
    store.upsert(table, pa.table({"key": keys}), "key")
    for count in (1, 2, 3, 7):
        ranges = KeyRanges(count)
        for number in range(count):
            found = store.rows(table, ranges.predicate("key", number), ["key"])["key"].to_pylist()
            expected = [key for key in keys if ranges.of(np.array([key]))[0] == number]
            assert sorted(found) == expected


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join), st.integers(1, 6))
def test_the_rarest_words_are_looked_for(text: str, most: int) -> None:
    counts = count_words(["a b c", "A a b!", "b, d", "e"])
    kept = rarest_words(text, counts, most)
    known = set(text.split()) & set("abcde")
    if len(known) <= most:
        assert kept == text
    else:
        left = set(text.split()) - set(kept.split())
        assert len(left) == len(known) - most
        assert kept.split() == [word for word in dict.fromkeys(text.split()) if word not in left]
        assert max(counts[word] for word in kept.split()) <= min(counts[word] for word in left)


def test_a_word_is_counted_once_a_text_and_characters_without_spaces_are_kept_together() -> None:
    assert count_words(["yes yes", "Yes?"]) == {"yes": 2}
    assert rarest_words("我想订一张去北京的火车票", Counter(), 1) == "我想订一张去北京的火车票"


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.lists(st.sampled_from("xyz"), max_size=2)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(),
)
def test_grouping_equals_a_loop(said: list[tuple[int, str, list[str]]], random: object) -> None:
    rows = [
        {
            "occurrence": number,
            "reply": reply,
            "dialogue_id": f"d{number}",
            "source": source,
            "turn": number,
            "domains": domains or None,
        }
        for number, (reply, source, domains) in enumerate(said)
    ]
    random.shuffle(rows)  # type: ignore[attr-defined]
    schema = pa.schema(
        [
            ("occurrence", pa.int64()),
            ("reply", pa.int64()),
            ("dialogue_id", pa.string()),
            ("source", pa.string()),
            ("turn", pa.int32()),
            ("domains", pa.list_(pa.string())),
        ]
    )
    found = {row["key"]: row for row in group_occurrences(pa.Table.from_pylist(rows, schema)).to_pylist()}
    counts = Counter(reply for reply, _, _ in said)
    sources, domains = defaultdict(set), defaultdict(set)
    for reply, source, named in said:
        sources[reply].add(source)
        domains[reply].update(named)
    assert {key: row["count"] for key, row in found.items()} == counts
    for key, row in found.items():
        first = [number for number, (reply, _, _) in enumerate(said) if reply == key][:5]
        assert [place["turn"] for place in row["conversations"]] == first
        assert row["sources"] == sorted(sources[key])
        assert row["domains"] == sorted(domains[key])
        assert row["weight"] == pytest.approx(1 / (np.log(counts[key]) + 1))


def test_fusion_by_hand() -> None:
    fused = fuse([["a", "b", "c"], ["c", "a"]], constant=1)
    assert fused == pytest.approx({"a": 1 / 2 + 1 / 3, "b": 1 / 3, "c": 1 / 4 + 1 / 2})


def test_plans_follow_the_size() -> None:
    assert choose_plan(5_999, 384).kind == "exact"
    large = choose_plan(1_000_000, 384)
    assert (large.partitions, large.sub_vectors, large.bits, large.recall) == (244, 192, 4, None)
    assert [(choose_plan(50_000, size).sub_vectors, choose_plan(50_000, size).bits) for size in (50, 15)] == [
        (50, 4),
        (15, 8),
    ]
    assert not outgrown(large, 1_900_000)
    assert outgrown(large, 2_100_000)
    assert outgrown(large, 10_000)
    assert not outgrown(choose_plan(100, 8), 150)


def test_probes_are_as_many_as_the_recall_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    vectors = unit_rows(random.normal(size=(2_000, 16)).astype(np.float32))
    queries = unit_rows(random.normal(size=(20, 16)).astype(np.float32))
    store = Store(tmp_path)
    rows = pa.table({"key": np.arange(2_000), "vector": vector_array(vectors)})
    table = store.create("vectors", rows.schema)
    store.upsert(table, rows, "key")
    truth = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    batches = table.search().select(["key", "vector"]).to_batches(300)
    assert np.array_equal(exact_neighbours(batches, queries), truth)
    plan = AnnPlan(kind="ivf_pq", rows=2_000, partitions=16, sub_vectors=8, nprobes=1, recall=None)
    create_vector_index(table, plan)
    chosen = tune(store, table, plan, queries, "key")
    assert chosen.recall is not None
    # Lance trains its partitions from a random start: this holds for all of them.
    assert chosen.recall >= ann.TARGET_RECALL or chosen.nprobes >= plan.partitions
    assert chosen.probes == 20
    reader = store.reader("vectors")
    rows = [answered(nearest(reader, query, chosen, limit=100, columns=["key"])) for query in queries]
    found = [each["key"].to_pylist()[:10] for each in rows]
    measured = np.mean([len(set(keys) & set(true.tolist())) / 10 for keys, true in zip(found, truth, strict=True)])
    assert measured == pytest.approx(chosen.recall)
    monkeypatch.setattr(ann, "TARGET_RECALL", 0.1)
    assert tune(store, table, plan, queries, "key").nprobes == 4 <= chosen.nprobes


def test_an_index_large_enough_is_approximate_and_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "EXACT_BELOW", 300)
    monkeypatch.setattr(ann, "ROWS_PER_PARTITION", 100)
    encoder = WordEncoder()
    index = ReplyIndex.build(write_table(tmp_path / "one", many(400)), tmp_path / "index", encoder)
    assert (index.version.ann.kind, index.version.ann.partitions) == ("ivf_pq", 4)
    assert (index.version.ann.recall or 0) >= 0.97
    assert index.version.ann.probes > 100
    added = index.add(write_table(tmp_path / "two", many(50, first=400)))
    assert added.ann.partitions == 4
    text = "Your lamp number 430 is on its way"
    assert index.suggest([text], 1, mode="vector", rarity=0, repeats=True)[0].text == text
    assert index.add(write_table(tmp_path / "three", many(600, first=500))).ann.partitions == 11


def test_evaluation_counts_what_is_found(tmp_path: Path) -> None:
    dialogues = [
        dialogue(1, "red apples", "red apples"),
        dialogue(2, "green pears", "green pears"),
        dialogue(3, "blue plums", "something else entirely"),
        *[dialogue(10 + number, "hello", f"blue plums {number}") for number in range(11)],
    ]
    encoder = WordEncoder()
    index = ReplyIndex.build(write_table(tmp_path / "table", dialogues), tmp_path / "index", encoder)
    asked = [*dialogues[:3], dialogue(4, "never", "never said")]
    held_out = write_table(tmp_path / "held-out", asked)
    assert evaluate_replies(index, held_out, mode="vector").top10 == 0  # What was said is not suggested again.
    scores = evaluate_replies(index, held_out, mode="vector", repeats=True)
    assert (scores.contexts, scores.in_index, scores.top1, scores.rerank_top1) == (4, 75, 50, None)
    assert scores.top10 == 50
    assert evaluate_replies(index, held_out, mode="text", limit=2).contexts == 2

    class Oracle:
        name = fingerprint = "oracle"
        languages: frozenset[str] = frozenset()

        def score(self, context: list[str], replies: list[str]) -> np.ndarray:
            return np.array([float(reply == "something else entirely") for reply in replies])

    better = ReplyIndex(tmp_path / "index", encoder, scorer=Oracle())
    scores = evaluate_replies(better, held_out, mode="vector", reranked=20, rerank_weight=1, repeats=True)
    assert (scores.top1, scores.rerank_top1, scores.rerank_top10) == (50, 25, 75)
