"""The numbers of `inspect` against a naive count, and the warnings against corpora made to earn them."""

from __future__ import annotations

import collections
import random

import pytest

from turnloom.corpus.engine import daft
from turnloom.corpus.inspect import CorpusStatistics, inspect_page, measure, warnings_of
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow


def corpus(seed: int = 0, size: int = 300) -> list[Dialogue]:
    rng = random.Random(seed)
    words = ["yes", "no", "ok", "thank", "you", "please", "book", "a", "table", "for", "two", "tonight"]
    dialogues = []
    for number in range(size):
        turns = [
            Turn(rng.choice(["user", "agent"]), " ".join(rng.choices(words, k=rng.choice([1, 1, 2, 4, 5, 9, 70]))))
            for _ in range(rng.choice([1, 2, 3, 8, 50]))
        ]
        dialogues.append(Dialogue(str(number), rng.choice(["a", "b"]), turns))
    return dialogues + [Dialogue(f"copy{n}", "c", dialogues[n].turns) for n in range(30)]


def measured(dialogues: list[Dialogue]) -> CorpusStatistics:
    # Several partitions, so that sums over batches are tested too.
    table = dialogues_to_arrow(dialogues)
    half = len(dialogues) // 2
    return measure(daft().from_arrow(table.slice(0, half)).concat(daft().from_arrow(table.slice(half))))


def test_against_a_naive_count() -> None:
    dialogues = corpus()
    found = measured(dialogues)
    texts = [turn.text for dialogue in dialogues for turn in dialogue.turns]
    pairs = [(one, two) for d in dialogues for one, two in zip(d.turns, d.turns[1:], strict=False)]
    frequencies = collections.Counter(text.lower() for text in texts)
    assert found.dialogues == len(dialogues)
    assert found.turns == len(texts)
    assert found.words == sum(len(text.split()) for text in texts)
    assert found.adjacent_pairs == len(pairs)
    assert found.same_speaker_pairs == sum(one.speaker == two.speaker for one, two in pairs)
    assert found.pairs_over_3_words == sum(len(a.text.split()) > 3 and len(b.text.split()) > 3 for a, b in pairs)
    assert found.distinct_utterances == len(frequencies)
    assert found.top_utterances[0][1] == frequencies.most_common(1)[0][1]
    most_first = sorted(frequencies.values(), reverse=True)
    top = most_first[: max(1, round(len(most_first) * 0.01))]
    assert found.top_1_percent_share == pytest.approx(sum(top) / sum(most_first))
    assert found.speakers == dict(
        collections.Counter(turn.speaker for d in dialogues for turn in d.turns).most_common()
    )
    distinct = {tuple(turn.text.lower() for turn in dialogue.turns) for dialogue in dialogues}
    assert found.duplicate_dialogues == len(dialogues) - len(distinct)
    lengths = collections.Counter(min(len(text.split()), 60) for text in texts)
    assert found.words_per_turn == [lengths[n] for n in range(61)]
    sizes = collections.Counter(min(len(dialogue.turns), 40) for dialogue in dialogues)
    assert found.turns_per_dialogue == [sizes[n] for n in range(41)]
    assert found.sources["c"]["dialogues"] == 30


def test_warnings_are_earned() -> None:
    bad = " ".join(warnings_of(measured(corpus())))
    for piece in (
        "under 4 words: DSE will skip",
        "one turn only",
        "exact copies",
        "most frequent 1%",
        "goes on",
        "are few",
    ):
        assert piece in bad
    good = [
        Dialogue(str(n), "s", [Turn("ab"[t % 2], f"dialogue {n} says something new in turn {t}") for t in range(21)])
        for n in range(600)
    ]
    assert warnings_of(measured(good)) == []


@pytest.mark.parametrize(
    ("speaker", "says"), [("", "No turn has a speaker"), ("user", "All turns have the same speaker")]
)
def test_a_table_without_speakers_gets_one_piece_of_advice(speaker: str, says: str) -> None:
    said = [Turn(speaker, "one two three four"), Turn(speaker, "five six seven eight")]
    about = [warning for warning in warnings_of(measured([Dialogue("1", "s", said)])) if "speaker" in warning]
    assert about == [f"{says}: name the speaker's column with --map speaker=COLUMN."]


def test_words_of_a_script_without_spaces() -> None:
    chinese = measured([Dialogue(str(n), "s", [Turn("a", "我想退款"), Turn("b", "好的请稍等")]) for n in range(20)])
    assert chinese.words == 20 * 9
    assert chinese.pairs_over_3_words == chinese.adjacent_pairs
    assert not any("under 4 words" in warning for warning in warnings_of(chinese))


def test_the_share_of_the_most_frequent_by_hand() -> None:
    said = [Dialogue(f"a{n}", "s", [Turn("a", "ok")]) for n in range(99)]
    said += [Dialogue(f"b{n}", "s", [Turn("a", f"number {n}")]) for n in range(99)]
    assert measured(said).top_1_percent_share == pytest.approx(0.5)


def test_the_page_holds_the_numbers_and_escapes_what_people_wrote() -> None:
    dialogues = [Dialogue("1", "<b>", [Turn("<script>", "<img src=x onerror=alert(1)>"), Turn("b", "fine & good")])]
    html = inspect_page(measured(dialogues), "a<b")
    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "http" not in html.replace("http-equiv", "")
    assert html.count("<svg") == 3
