"""Templates, the book of what fills them, and augmentation that cannot explode."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnloom.corpus.tagging import Tagged, read_bio
from turnloom.errors import TurnloomError
from turnloom.views.templates import EntityBook, Template, augment, template_of, templater

# The simplified scenario of TaDSE's Table 2.
TELEVISION = read_bio("turn on television in lounge", ["O", "O", "B-device", "O", "B-room"])
LAMP = read_bio("turn on lamp in bedroom", ["O", "O", "B-device", "O", "B-room"])
FAN = read_bio("turn on fan in study", ["O", "O", "B-device", "O", "B-room"])


def test_the_papers_example() -> None:
    said = [TELEVISION, LAMP, FAN]
    assert {template_of(tagged) for tagged in said} == {Template(("turn on ", " in ", ""), ("device", "room"))}
    book = EntityBook().add(said)
    made = augment(template_of(LAMP), book, k=3, cap=100)
    assert len(made) == 9
    assert {"turn on lamp in lounge", "turn on fan in bedroom", "turn on television in study"} <= {t.text for t in made}


NAMES = st.sampled_from(["a", "b.c", "d_e"])
WORDS = st.text("xyz é", min_size=1, max_size=4).filter(str.strip)


@given(st.lists(st.tuples(WORDS, NAMES, WORDS), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 9))
def test_every_augmented_utterance_maps_back_to_its_template(
    parts: list[tuple[str, str, str]], k: int, cap: int
) -> None:
    text, slots = "", []
    for before, name, value in parts:
        text += before
        slots.append((name, len(text), len(text) + len(value)))
        text += value
    tagged = Tagged(text, tuple(slots))
    template = template_of(tagged)
    assert template.fill([value for _, value in tagged.values()]) == tagged
    book = EntityBook().add([tagged])
    made = augment(template, book, k=k, cap=cap)
    assert len(made) <= cap
    assert made
    for one in made:
        assert template_of(one) == template
        assert all(value in book.top(name, k) for name, value in one.values())


def test_a_sample_is_distinct_and_depends_on_seed_and_template_alone() -> None:
    names = tuple(f"slot{n}" for n in range(30))
    template = Template(("",) + (" ",) * 30, names)
    book = EntityBook().add([template.fill([f"v{n}{m}" for n in range(30)]) for m in range(5)])
    made = augment(template, book, k=5, cap=50)
    assert len({tagged.text for tagged in made}) == 50
    assert made == augment(template, book, k=5, cap=50)
    assert made != augment(template, book, k=5, cap=50, seed=1)


def test_frequent_values_first_and_equal_ones_by_the_alphabet() -> None:
    template = Template(("go to ", ""), ("city",))
    book = EntityBook().add([template.fill([city]) for city in ("rome", "bern", "rome", "paris")])
    assert book.top("city", 2) == ["rome", "bern"]


def test_nothing_but_training_utterances_is_in_the_book() -> None:
    train, test = read_bio("fly to rome", ["O", "O", "B-city"]), read_bio("fly to oslo", ["O", "O", "B-city"])
    book = EntityBook().add([train])
    assert [tagged.text for tagged in augment(template_of(test), book, k=5, cap=10)] == ["fly to rome"]


def test_noisy_slots_share_their_values() -> None:
    one, two, other = Template(("x ", ""), ("org",)), Template(("y ", ""), ("bank",)), Template(("z ", ""), ("day",))
    said = [one.fill(["chase"]), one.fill(["delta"]), two.fill(["chase"]), other.fill(["today"])]
    assert EntityBook().add(said).noisy() == {"org": 0.5, "bank": 1.0}


def test_tags_that_go_on_without_beginning_begin() -> None:
    assert read_bio("a  b", ["B-x", "I-x"]).slots == (("x", 0, 4),)
    found = read_bio("a b c d", ["I-x", "I-x", "I-y", "B-y"])
    assert found.slots == (("x", 0, 3), ("y", 4, 5), ("y", 6, 7))
    with pytest.raises(TurnloomError, match="2 words and 1 tags"):
        read_bio("a b", ["O"])


def test_templates_of_utterances_that_nobody_annotated() -> None:
    to_templates = templater(lambda texts: [[("city", 7, 11)] if "rome" in text else [] for text in texts])
    assert to_templates(["fly to rome", "thank you"]) == ["fly to {SLOT}", "thank you"]


def test_of_overlapping_slots_the_first_and_longest_stays() -> None:
    found = Tagged.of(
        "new york city", [("city", 0, 13), ("state", 0, 8), ("what", 9, 13), ("none", 4, 4), ("far", 9, 99)]
    )
    assert found.slots == (("city", 0, 13),)
