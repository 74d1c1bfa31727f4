"""The vectorised views against literal loops over dialogues, and small cases by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from tests.views.naive import Row, naive_rows
from turnloom.corpus.engine import daft
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.views import Consecutive, ContextResponse, Dropout, Manipulations, Matching, Packed, ViewOptions, Windows
from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans, dialogue_rows

TEXTS = st.lists(
    st.sampled_from(["yes", "Grüß dich", "你好", "a table for two", "ok\tthen ", "🙂", "no\u3000way"]), max_size=4
)
SPEAKERS = st.sampled_from(["user", "System", "bob", "", None])


@st.composite
def conversations(draw: st.DrawFn) -> list[Dialogue]:
    found = []
    for number in range(draw(st.integers(0, 5))):
        said = draw(st.lists(st.tuples(SPEAKERS, TEXTS.map(" ".join)), max_size=7))
        turns = [Turn(speaker, text) for speaker, text in said]  # type: ignore[arg-type]
        found.append(Dialogue(f"id{number}", draw(st.sampled_from(["one", "two"])), turns))
    return found


def rows_of(
    dialogues: list[Dialogue], view: DialogueView, seed: int = 0, weights: dict[str, float] | None = None
) -> list[Row]:
    table = daft().from_arrow(dialogues_to_arrow(dialogues))
    found = dialogue_rows(table, view, seed=seed, weights=weights or {}, buckets=3).to_pylist()
    assert all(row["bucket"] % 3 == row["order"] * 3 >> 64 for row in found)
    return [(view.groups[row["bucket"] // 3], tuple(row["context"]), row.get("reply"), row["source"]) for row in found]


VIEWS = st.one_of(
    st.builds(
        Consecutive,
        turns=st.sampled_from([(1,), (2,), (3,), (1, 2, 3)]),
        min_words=st.integers(0, 3),
        speaker_change_only=st.booleans(),
    ),
    st.builds(
        Windows,
        sizes=st.sampled_from([(1, 2, 3), (2, 5), (1,)]),
        min_words=st.integers(0, 3),
        speaker_change_only=st.booleans(),
    ),
    st.builds(Dropout, min_words=st.integers(0, 3), distinct=st.booleans()),
    st.builds(
        ContextResponse,
        per_dialogue=st.sampled_from([1, 2, "all"]),
        max_turns=st.none() | st.integers(1, 3),
    ),
    st.builds(Packed, words=st.integers(1, 9)),
    st.builds(Matching, turns=st.integers(1, 3), min_words=st.integers(0, 3)),
    st.builds(
        Manipulations,
        min_turns=st.integers(1, 3),
        max_turns=st.none() | st.integers(1, 3),
        per_dialogue=st.sampled_from([1, 2, "all"]),
        speaker_change_only=st.booleans(),
    ),
)


@settings(max_examples=200)
@given(dialogues=conversations(), view=VIEWS, seed=st.integers(-5, 2**70))
def test_every_view_is_the_literal_loop(dialogues: list[Dialogue], view: DialogueView, seed: int) -> None:
    assert Counter(rows_of(dialogues, view, seed)) == Counter(naive_rows(dialogues, view, seed))


# Figure 2 of the DSE paper pairs each turn with the one after it.
RESTAURANT = Dialogue(
    "1",
    "dse",
    [
        Turn("user", "I am looking for restaurants"),
        Turn("system", "What type of food do you like?"),
        Turn("user", "I want some pizza"),
        Turn("system", "Sure, there are ten pizza places nearby"),
    ],
)
U1, U2, U3, U4 = (turn.text for turn in RESTAURANT.turns)


def pairs_of(view: DialogueView, dialogue: Dialogue = RESTAURANT) -> list[tuple[tuple[str, ...], str | None]]:
    return [(context, reply) for _, context, reply, _ in rows_of([dialogue], view)]


def test_the_dse_papers_pairs() -> None:
    assert pairs_of(Consecutive()) == [((U1,), U2), ((U2,), U3), ((U3,), U4)]
    assert pairs_of(Consecutive(turns=(2,))) == [((U1, U2), U3), ((U2, U3), U4)]
    assert pairs_of(Consecutive(turns=(3,))) == [((U1, U2, U3), U4)]
    assert len(pairs_of(Consecutive(turns=(3, 1, 2)))) == 6


def test_both_sides_have_more_than_three_words() -> None:
    said = ["one two three", "one two three four", "a  b\tc\nd", "x y z", "the last of them all"]
    dialogue = Dialogue("1", "s", [Turn("u", text) for text in said])
    assert pairs_of(Consecutive(), dialogue) == [((said[1],), said[2])]
    # Of a longer context the whole counts.
    assert pairs_of(Consecutive(turns=(2,)), dialogue) == [
        ((said[0], said[1]), said[2]),
        ((said[2], said[3]), said[4]),
    ]
    assert len(pairs_of(Consecutive(min_words=2), dialogue)) == 4


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    said = ["我的包裹在哪里", "请稍等一下", "好的", "已经发货了"]
    dialogue = Dialogue("1", "s", [Turn("ab"[place % 2], text) for place, text in enumerate(said)])
    assert pairs_of(Consecutive(), dialogue) == [((said[0],), said[1])]
    assert [reply for _, reply in pairs_of(Matching(turns=3, min_words=3), dialogue)] == [said[0], said[1], said[3]]
    assert [len(context) for context, _ in pairs_of(Packed(words=10), dialogue)] == [2, 2]


def test_one_speaker_going_on_gives_no_reply() -> None:
    turns = [Turn("a", "1"), Turn("a", "2"), Turn("b", "3"), Turn("", "4"), Turn("", "5")]
    view = Consecutive(min_words=0, speaker_change_only=True)
    assert [reply for _, reply in pairs_of(view, Dialogue("1", "s", turns))] == ["3", "4", "5"]


def test_windows_are_groups() -> None:
    found = rows_of([RESTAURANT], Windows())
    assert Counter(group for group, *_ in found) == {"window-1": 3, "window-2": 2, "window-3": 1}
    assert all(group == f"window-{len(context)}" for group, context, *_ in found)


def test_marks_say_who_speaks() -> None:
    view = ContextResponse(per_dialogue="all", max_turns=2)
    assert pairs_of(view)[1] == ((f"[SYS] {U2}", f"[USR] {U3}"), U4)
    greeted = Dialogue("1", "s", [Turn("AGENT", "hello"), Turn("user", "hi"), Turn("AGENT", "what is it?")])
    assert pairs_of(ContextResponse(), greeted) == [(("[SYS] hello", "[USR] hi"), "what is it?")]


def test_drawn_turns_depend_on_seed_and_dialogue_alone() -> None:
    turns = [Turn("ab"[place % 2], f"turn {place}") for place in range(30)]
    dialogues = [Dialogue(str(number), "s", turns) for number in range(20)]
    view = ContextResponse()
    drawn = rows_of(dialogues, view)
    assert sorted(rows_of(dialogues[::-1], view)) == sorted(drawn)
    assert sorted(row for dialogue in dialogues for row in rows_of([dialogue], view)) == sorted(drawn)
    assert sorted(rows_of(dialogues, view, seed=1)) != sorted(drawn)
    assert len({reply for _, _, reply, _ in drawn}) > 5


def test_replies_around_which_turns_lie_have_roles_and_orders_of_their_own() -> None:
    table = daft().from_arrow(dialogues_to_arrow([RESTAURANT]))
    found = dialogue_rows(table, Matching(turns=3), seed=0, weights={}, buckets=1).to_pylist()
    assert [row["role"] for row in found] == [0, 1, 0, 1]
    assert [tuple(row["context"]) for row in found] == [(U1, U2, U3, U4)] * 4
    # Replies of one dialogue do not stand side by side in the shuffled order because they share their context.
    assert len({row["order"] for row in found}) == 4


def test_no_turn_is_cut_or_lost_when_packed() -> None:
    dialogue = Dialogue("1", "s", [Turn("u", "w " * count) for count in (3, 4, 5, 30, 1, 1)])
    rows = [[len(text.split()) for text in context] for context, _ in pairs_of(Packed(words=10), dialogue)]
    assert rows == [[3, 4, 5], [30], [1, 1]]


def test_weights_leave_out_and_repeat() -> None:
    dialogues = [
        Dialogue(str(n), ["few", "many", "as is"][n % 3], [Turn("a", "x"), Turn("b", "y")]) for n in range(3000)
    ]
    found = Counter(row[3] for row in rows_of(dialogues, Consecutive(min_words=0), weights={"few": 0.2, "many": 2.5}))
    assert found["as is"] == 1000
    assert 150 < found["few"] < 250
    assert 2430 < found["many"] < 2570


class Recipe(BaseModel):
    view: ViewOptions


def test_a_recipe_names_a_view_by_kind() -> None:
    recipe = Recipe.model_validate({"view": {"kind": "windows", "sizes": [1, 2, 3], "min_words": 3}})
    assert recipe.view == Windows()
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe
    for wrong in ({"kind": "window"}, {"kind": "windows", "size": 1}, {"kind": "consecutive", "turns": []}):
        with pytest.raises(ValidationError):
            Recipe.model_validate({"view": wrong})


def test_rows_know_which_dialogue_they_are_of() -> None:
    """What is drawn as wrong for a row must not come from its own conversation."""
    said = [[Turn("a", f"{n}{place}") for place in range(4)] for n in "xy"]
    dialogues = [Dialogue(f"id{n}", "one", turns) for n, turns in enumerate(said)]
    view = Manipulations(speaker_change_only=False)
    found = dialogue_rows(daft().from_arrow(dialogues_to_arrow(dialogues)), view, seed=0, weights={}, buckets=1)
    keys: dict[str, set[int]] = {"x": set(), "y": set()}
    for row in found.to_pylist():
        keys[row["reply"][0]].add(row["dialogue"])
    assert [len(each) for each in keys.values()] == [1, 1]
    assert keys["x"] != keys["y"]


class _Asked(DialogueView):
    """As a plug-in's view: a turn with an act, and the turn before it."""

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        acts = pc.fill_null(pc.binary_join(dialogues.acts, " "), "")
        replies = np.flatnonzero(np.asarray(pc.match_substring(acts, "REQUEST")) & (dialogues.positions > 0))
        return Spans(replies - 1, replies, replies)


def test_a_view_can_choose_turns_by_their_acts() -> None:
    said = [("a table", []), ("for how many", ["INFORM", "REQUEST"]), ("two", []), ("where", ["REQUEST"])]
    plain = Dialogue("one", "s", [Turn("user", "hi"), Turn("system", "hello")])
    acted = Dialogue(
        "two", "s", [Turn(f"speaker {number % 2}", text, acts) for number, (text, acts) in enumerate(said)]
    )
    rows = rows_of([plain, acted], _Asked())
    assert {(context, reply) for _, context, reply, _ in rows} == {(("a table",), "for how many"), (("two",), "where")}
