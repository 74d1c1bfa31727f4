"""Slots after their text has changed: values changed the same way, and found again in the new text."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from turnwise.corpus.turn_arrays import with_field

__all__ = ["with_texts"]


def with_texts(flat: pa.StructArray, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.StructArray:
    """The turns with new texts, their slots changed along.

    A slot whose value no longer stands in the text keeps its name and value and loses its place.

    Args:
        flat: The turns.
        texts: The new texts.
        change: What was done to the texts, to do to the slots' values too.
    """
    slots = flat.field("slots")
    touched = pc.and_(
        pc.not_equal(texts, flat.field("text")), pc.fill_null(pc.greater(pc.list_value_length(slots), 0), False)
    )
    changed = with_field(flat, "text", texts)
    if not pc.any(touched).as_py():
        return changed
    rows = slots.to_pylist()
    for place in pc.indices_nonzero(touched).to_pylist():
        text = texts[place].as_py()
        values = change(pa.array([slot["value"] for slot in rows[place]], pa.large_string())).to_pylist()
        for slot, value in zip(rows[place], values, strict=True):
            start = text.find(value) if value else -1
            found = (start, start + len(value)) if start >= 0 else (None, None)
            slot.update(value=value, start=found[0], end=found[1])
    return with_field(changed, "slots", pa.array(rows, slots.type))
