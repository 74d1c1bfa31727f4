"""Building, searching, adding, deleting: against naive counts and naive search."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.replies.toy import LengthScorer, WordEncoder, dialogue, many, write_table
from turnloom.corpus.schema import Dialogue
from turnloom.errors import TurnloomError
from turnloom.replies import ReplyIndex, ReplyOptions
from turnloom.replies.search import MOST_WORDS, Mode
from turnloom.replies.store import Store

ENCODER = WordEncoder()


def stored(index: ReplyIndex) -> dict[str, int]:
    """Every reply with its count, read from the table that a reader sees."""
    rows = index._searcher.replies.search().select(["key", "text", "count"]).to_arrow().to_pylist()
    assert len({row["key"] for row in rows}) == len(rows)
    return {row["text"]: row["count"] for row in rows}


def naive_counts(dialogues: list[Dialogue]) -> Counter[str]:
    return Counter(turn.text for each in dialogues for turn in each.turns[1:] if turn.speaker == "agent")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("replies")
    ReplyIndex.build(write_table(place / "table", many(60)), place / "index", ENCODER, shard_size=100)
    return place / "index"


@pytest.fixture
def index(folder: Path) -> ReplyIndex:
    return ReplyIndex(folder, ENCODER)


def test_replies_are_deduplicated_and_counted(index: ReplyIndex) -> None:
    assert stored(index) == naive_counts(many(60))
    assert len(index) == 60 + 10 + 1
    version = index.version
    assert (version.number, version.occurrences.rows, version.model) == (1, 180, "words")
    assert version.ann.kind == "exact"


def test_vector_search_equals_naive(index: ReplyIndex) -> None:
    texts = list(stored(index))
    for context in (["where is my lamp"], ["hello", "what does the sofa cost"], ["thanks"]):
        vectors = ENCODER.encode_document(texts).astype(np.float64)
        query = ENCODER.encode_query([context])[0].astype(np.float64)
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        found = index.suggest(context, 8, mode="vector", rarity=0)
        expected = np.sort(cosines)[::-1][:8]
        assert [suggestion.similarity for suggestion in found] == pytest.approx(expected, abs=1e-5)
        assert [suggestion.score for suggestion in found] == pytest.approx((1 + expected) / 2, abs=1e-5)
        by_text = dict(zip(texts, cosines, strict=True))
        assert [by_text[suggestion.text] for suggestion in found] == pytest.approx(expected, abs=1e-5)


def test_frequent_replies_weigh_less(index: ReplyIndex) -> None:
    for rarity in (0.0, 0.5, 1.0):
        found = {hit.text: hit for hit in index.suggest(["the lamp costs"], 71, mode="vector", rarity=rarity)}
        for text, count in (("The lamp costs ten", 6), ("You are welcome!", 60)):
            irf = 1 / (np.log(count) + 1)
            similarity = found[text].similarity
            assert similarity is not None
            assert found[text].count == count
            assert found[text].score == pytest.approx((1 + similarity) / 2 * irf**rarity, abs=1e-5)


def test_hybrid_is_the_sum_of_reciprocal_ranks(index: ReplyIndex) -> None:
    context = ["where is my lamp order 20"]
    ranks: dict[str, list[float]] = defaultdict(list)
    for mode, weight in (("vector", 2), ("text", 1)):
        for rank, hit in enumerate(index.suggest(context, 71, mode=mode, rarity=0), 1):  # type: ignore[arg-type]
            ranks[hit.text].append(weight / (2 + rank))
    found = index.suggest(context, 71, mode="hybrid", rarity=0)
    assert len(found) == len(ranks) == 71
    for hit in found:
        assert hit.score == pytest.approx(sum(ranks[hit.text]))
    assert found[0].text == "Your lamp number 20 is on its way"
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_words_need_no_model(folder: Path) -> None:
    index = ReplyIndex(folder)
    assert index.suggest(["number 33"], 1)[0].text == "Your sofa number 33 is on its way"
    assert index.suggest(["'quotes' AND (brackets) OR *"], 1) == []
    with pytest.raises(TurnloomError, match="mode 'vector' needs the model"):
        index.suggest(["number 33"], 1, mode="vector")


def test_a_long_question_finds_by_its_rare_words(folder: Path) -> None:
    index = ReplyIndex(folder)
    rare = " ".join(str(number) for number in range(33, 33 + MOST_WORDS))
    found = index.suggest([f"your number is on its way {rare} unknown"], 71)
    assert len(found) == MOST_WORDS
    assert all(hit.text.split()[3] in rare.split() for hit in found)
    unknown = " ".join(f"unknown{place}" for place in range(20))
    assert len(index.suggest([f"{unknown} on its way"], 71)) == 60


def test_an_index_that_lost_all_replies_finds_none(tmp_path: Path) -> None:
    index = ReplyIndex.build(write_table(tmp_path / "table", many(3)), tmp_path / "index", ENCODER)
    index.delete(where="turn >= 0")
    assert len(index) == 0
    assert index.suggest(["where is my lamp"], 3) == index.suggest(["where is my lamp"], 3, mode="text") == []


def test_conversations_are_named(index: ReplyIndex) -> None:
    [first] = index.suggest(["number 33"], 1, mode="text")
    assert [(place.dialogue_id, place.source, place.turn) for place in first.conversations] == [("d33", "chats", 1)]
    shared = next(hit for hit in index.suggest(["thanks"], 71) if hit.text == "You are welcome!")
    assert shared.count == 60
    assert len({place.dialogue_id for place in shared.conversations}) == 5
    assert {place.turn for place in shared.conversations} == {5}


def test_the_scorer_decides_the_order(folder: Path) -> None:
    index = ReplyIndex(folder, ENCODER, scorer=LengthScorer())
    plain = ReplyIndex(folder, ENCODER).suggest(["where is my lamp"], 20)
    found = index.suggest(["where is my lamp"], 3, reranked=20, rerank_weight=1)
    longest = sorted((len(hit.text) for hit in plain), reverse=True)[:3]
    assert [hit.score for hit in found] == longest
    assert {hit.text for hit in found} <= {hit.text for hit in plain}
    assert {hit.search_score for hit in found} <= {hit.score for hit in plain}


@pytest.mark.parametrize("mode", ["vector", "text", "hybrid"])
def test_what_was_said_is_not_suggested_again(index: ReplyIndex, mode: Mode) -> None:
    reply = "Your lamp number 10 is on its way"
    asked = ["hello", f" {reply.upper()}", "which lamp number"]
    with_repeats = [hit.text for hit in index.suggest(asked, 60, mode=mode, repeats=True)]
    assert reply in with_repeats
    without = [hit.text for hit in index.suggest(asked, 60, mode=mode)]
    assert without[:59] == [text for text in with_repeats if text != reply]
    first = with_repeats[:3]
    assert len(index.suggest([*first, "which lamp number"], 5, mode=mode)) == 5


def test_filters(tmp_path: Path) -> None:
    dialogues = [
        dialogue(1, "hi", "hello there friend", source="one", domains=["taxi"]),
        dialogue(2, "hi", "hello there", source="two", domains=["hotel", "taxi"]),
        dialogue(3, "hi", "Hello  THERE", source="one", domains=["train"]),
    ]
    index = ReplyIndex.build(write_table(tmp_path / "table", dialogues), tmp_path / "index", ENCODER)
    for mode in ("vector", "text", "hybrid"):

        def texts(where: str, mode: str = mode) -> set[str]:
            found = index.suggest(["hello there"], 5, mode=mode, where=where, repeats=True)  # type: ignore[arg-type]
            return {" ".join(hit.text.lower().split()) for hit in found}

        assert texts("count > 1") == {"hello there"}
        assert texts("array_has_any(sources, ['two'])") == {"hello there"}
        assert texts("array_has_any(domains, ['taxi'])") == {"hello there", "hello there friend"}
        assert texts("text LIKE '%friend'") == {"hello there friend"}
    with pytest.raises(TurnloomError, match=r"the condition 'nothing > 1' is wrong .*it may name text, count"):
        index.suggest(["hello"], where="nothing > 1")


def test_add_counts_nothing_twice(tmp_path: Path) -> None:
    encoder = WordEncoder()
    table = write_table(tmp_path / "table", many(20))
    index = ReplyIndex.build(table, tmp_path / "index", encoder, shard_size=30)
    encoded = encoder.encoded
    assert index.add(table).number == 1
    more = write_table(tmp_path / "more", [*many(10, first=15), dialogue(3, *_longer(3))])
    assert index.add(more, shard_size=20).number == 2
    expected = naive_counts([*many(25), Dialogue("d3", "chats", dialogue(3, *_longer(3)).turns[6:])])
    assert stored(index) == expected
    assert encoder.encoded - encoded == 5 + 1 + 1  # The new replies, and one to see the length of vectors.
    again = write_table(tmp_path / "again", many(3))
    assert index.add(again).number == 3
    assert stored(index) == expected


def _longer(number: int) -> list[str]:
    return [*[turn.text for turn in many(1, first=number)[0].turns], "one more thing", "Of course"]


def test_delete_conversations_and_replies(tmp_path: Path) -> None:
    index = ReplyIndex.build(write_table(tmp_path / "table", many(20)), tmp_path / "index", ENCODER, shard_size=30)
    assert index.delete(conversations=["d3", "d13", "it's not there"]).number == 2
    left = [each for each in many(20) if each.dialogue_id not in ("d3", "d13")]
    assert stored(index) == naive_counts(left)
    assert "The sofa costs ten" not in stored(index)
    assert index.suggest(["number 3"], 1, mode="text", where="text LIKE '%number 3 %'") == []
    index.delete(replies=["you are  WELCOME!"])
    assert stored(index) == {t: c for t, c in naive_counts(left).items() if t != "You are welcome!"}
    shared = next(hit for hit in index.suggest(["the lamp costs"], 9) if hit.text == "The lamp costs ten")
    assert {place.dialogue_id for place in shared.conversations} == {"d0", "d10"}
    with pytest.raises(TurnloomError, match="the condition 'colour = 1' is wrong"):
        index.delete(where="colour = 1")
    index.delete(where="source = 'chats' AND turn = 3")
    assert {text[:4] for text in stored(index)} == {"Your"}
    with pytest.raises(TurnloomError, match="nothing to delete was named"):
        index.delete()


def test_versions_stay_until_they_are_pruned(tmp_path: Path) -> None:
    place = tmp_path / "index"
    index = ReplyIndex.build(write_table(tmp_path / "table", many(10)), place, ENCODER)
    reader = ReplyIndex(place, ENCODER)
    index.add(write_table(tmp_path / "more", many(10, first=10)))
    index.delete(conversations=["d0"])
    assert [version.number for version in index.versions] == [1, 2, 3]
    assert stored(reader) == stored(ReplyIndex(place, ENCODER, version=1)) == naive_counts(many(10))
    assert stored(ReplyIndex(place, ENCODER, version=2)) == naive_counts(many(20))
    assert reader.refresh().number == 3
    assert stored(reader) == naive_counts(many(19, first=1))
    assert index.prune(2) == [1]
    assert stored(ReplyIndex(place, ENCODER, version=2)) == naive_counts(many(20))
    assert stored(index) == naive_counts(many(19, first=1))
    names = {name for table in ("replies_1", "occurrences_1") for name in Store(place).open(table).tags.list()}
    assert names == {"v2", "v3"}
    with pytest.raises(TurnloomError, match="has no version 1: it has 2, 3"):
        ReplyIndex(place, ENCODER, version=1)
    assert index.prune(1) == [2]
    assert stored(ReplyIndex(place, ENCODER)) == naive_counts(many(19, first=1))
    assert index.suggest(["number 5"], 1)[0].text == "Your table number 5 is on its way"


def test_another_model_is_refused_until_vectors_are_made_anew(tmp_path: Path) -> None:
    place, table = tmp_path / "index", write_table(tmp_path / "table", many(12))
    options = ReplyOptions(contexts=True)
    old = ReplyIndex.build(table, place, ENCODER, options)
    other = WordEncoder("other", 16)
    with pytest.raises(TurnloomError, match=r"holds vectors of words \(words-32\), not of other \(other-16\)"):
        ReplyIndex(place, other)
    with pytest.raises(TurnloomError, match="holds vectors of words"):
        ReplyIndex.build(write_table(tmp_path / "more", many(3, 20)), place, other, options)
    new = ReplyIndex.reembed(place, other, shard_size=5)
    assert stored(new) == stored(old) == naive_counts(many(12))
    fresh = ReplyIndex.build(table, tmp_path / "fresh", other, options)
    for mode in ("vector", "contexts", "all"):
        context = ["where is my rug order 6"]
        got, expected = (each.suggest(context, 6, mode=mode) for each in (new, fresh))  # type: ignore[arg-type]
        assert [hit.score for hit in got] == pytest.approx([hit.score for hit in expected])
    assert old.suggest(["number 7"], 1)[0].text == "Your mirror number 7 is on its way"
    encoded = other.encoded
    assert ReplyIndex.reembed(place, other).version.number == 2
    assert other.encoded == encoded


def test_similar_contexts(tmp_path: Path) -> None:
    dialogues = [
        dialogue(1, "my card is lost", "We will block it"),
        dialogue(2, "my card is stolen", "we will  block it"),
        dialogue(3, "what is the weather", "Sunny all day"),
    ]
    table = write_table(tmp_path / "table", dialogues)
    index = ReplyIndex.build(table, tmp_path / "index", ENCODER, ReplyOptions(contexts=True))
    found = index.suggest(["my card is lost"], 3, mode="contexts", rarity=0)
    assert [" ".join(hit.text.lower().split()) for hit in found] == ["we will block it", "sunny all day"]
    assert found[0].score == pytest.approx(1)
    assert index.suggest(["my card is lost"], 3, mode="contexts", where="count = 1")[0].text == "Sunny all day"
    plain = ReplyIndex.build(table, tmp_path / "plain", ENCODER)
    with pytest.raises(TurnloomError, match="this index has no contexts"):
        plain.suggest(["my card"], mode="all")


def test_which_turns_are_replies(tmp_path: Path) -> None:
    dialogues = [dialogue(1, "hi there", "hello you", "ok", "fine")]
    table = write_table(tmp_path / "table", dialogues)
    for options, expected in (
        (ReplyOptions(), {"hello you", "fine"}),
        (ReplyOptions(min_words=2), {"hello you"}),
        (ReplyOptions(speakers="everyone"), {"hello you", "ok", "fine"}),
        (ReplyOptions(system_speakers=("Customer",)), {"ok"}),
    ):
        place = tmp_path / options.model_dump_json()[:60].replace("/", "") / str(len(expected))
        assert set(stored(ReplyIndex.build(table, place, ENCODER, options))) == expected


def test_mistakes(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table", [dialogue(1, "hi")])
    with pytest.raises(TurnloomError, match="holds no replies"):
        ReplyIndex.build(table, tmp_path / "index", ENCODER)
    assert not (tmp_path / "index").exists()
    with pytest.raises(TurnloomError, match="holds no index of replies"):
        ReplyIndex(tmp_path / "index", ENCODER)
    with pytest.raises(TurnloomError, match="holds files that are not an index's"):
        ReplyIndex.build(table, tmp_path, ENCODER)
    with pytest.raises(TurnloomError, match="is not a folder"):
        ReplyIndex.build(tmp_path / "nothing", tmp_path / "other", ENCODER)
    index = ReplyIndex.build(write_table(tmp_path / "good", many(2)), tmp_path / "fine", ENCODER)
    with pytest.raises(TurnloomError, match="with other options"):
        ReplyIndex.build(table, tmp_path / "fine", ENCODER, ReplyOptions(min_words=3))
    with pytest.raises(TurnloomError, match="holds an index of other tables: add to it"):
        ReplyIndex.build(table, tmp_path / "fine", ENCODER)
    assert ReplyIndex.build(tmp_path / "good", tmp_path / "fine", ENCODER).version.number == 1
    with pytest.raises(TurnloomError, match="needs a turn of context"):
        index.suggest([])
    with pytest.raises(TurnloomError, match="a list of turns, not one text"):
        index.suggest("hello")
    assert not (tmp_path / "other").exists()
    with pytest.raises(TurnloomError, match="there is no mode 'best'"):
        index.suggest(["hi"], mode="best")  # type: ignore[arg-type]
