"""Names and addresses through the real Presidio, over a small spaCy pipeline made here."""

from __future__ import annotations

import pyarrow as pa
import pytest

from turnloom.corpus.engine import daft
from turnloom.corpus.privacy import personal_counts, scrub_names, scrubbed
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_from_arrow, dialogues_to_arrow
from turnloom.errors import TurnloomError


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline that knows three entities by rule, saved to disk as any spaCy model is."""
    import spacy

    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [
            {"label": "PERSON", "pattern": "Anna Smith"},
            {"label": "PERSON", "pattern": "Bob"},
            {"label": "GPE", "pattern": "12 Baker Street"},
        ]
    )
    folder = tmp_path_factory.mktemp("model") / "en_rules"
    pipeline.to_disk(folder)
    return str(folder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Presidio and spaCy warn about each other.
def test_names_and_addresses(model: str) -> None:
    texts = pa.array(["I am Anna Smith of 12 Baker Street", "nobody here", "Bob wrote to <EMAIL>"])
    changed, kinds = scrub_names(texts, model)
    assert changed.to_pylist() == ["I am <NAME> of <ADDRESS>", "nobody here", "<NAME> wrote to <EMAIL>"]
    assert kinds == [["NAME", "ADDRESS"], [], ["NAME"]]


@pytest.mark.slow
def test_a_model_that_is_not_there_is_not_downloaded() -> None:
    with pytest.raises(TurnloomError, match="en_nowhere is not a spaCy model"):
        scrub_names(pa.array(["Bob"]), "en_nowhere")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_with_the_patterns_in_a_table(model: str) -> None:
    turn = Turn("u", "Bob, jo@example.com", slots=[Slot("who", "Bob", 0, 3)])
    table = scrubbed(daft().from_arrow(dialogues_to_arrow([Dialogue("1", "s", [turn])])), model)
    assert personal_counts(table) == {"EMAIL": 1, "NAME": 1}
    names = ["dialogue_id", "source", "turns", "domains", "language", "labels"]
    (found,) = dialogues_from_arrow(table.select(*names).to_arrow())
    assert found.turns[0].text == "<NAME>, <EMAIL>"
    assert found.turns[0].slots == [Slot("who", "<NAME>", 0, 6)]
