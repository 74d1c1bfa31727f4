"""Slots after their text has changed: values changed the same way, and found again in the new text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.turn_arrays import with_field

__all__ = ["with_texts"]


def with_texts(flat: pa.StructArray, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.StructArray:
    """The turns with new texts, their slots changed along.

    A slot whose value no longer stands in the text is dropped: what stood there was replaced.

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
    rows, before = slots.to_pylist(), flat.field("text")
    for place in pc.indices_nonzero(touched).to_pylist():
        text = texts[place].as_py()
        values = change(pa.array([slot["value"] for slot in rows[place]], pa.large_string())).to_pylist()
        kept = []
        for slot, value in zip(rows[place], values, strict=True):
            if slot["value"] in before[place].as_py() and value not in text:
                continue
            start = _nearest(text, value, slot["start"])
            slot.update(value=value, start=start, end=None if start is None else start + len(value))
            kept.append(slot)
        rows[place] = kept
    return with_field(changed, "slots", pa.array(rows, slots.type))


def _nearest(text: str, value: str, before: int | None) -> int | None:
    """Where a value stands that stood at a place of the old text; None if it had none, or stands nowhere."""
    if before is None or not value:
        return None
    places = (found.start() for found in re.finditer(re.escape(value), text))
    return min(places, key=lambda place: abs(place - before), default=None)
