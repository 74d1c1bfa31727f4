"""Each variant of each export is recognised with no option, and read as it was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.variant_reading import matches, read_dialogues, said_in
from tests.corpus.variants import VARIANTS, Variant
from turnloom.corpus.readers import READERS


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_recognised_and_read(variant: Variant, tmp_path: Path) -> None:
    formats, dialogues = read_dialogues(variant.write(tmp_path))
    assert formats == {variant.reader}
    missing = [said for said in variant.said if not any(matches(dialogue, said) for dialogue in dialogues)]
    assert not missing, [said_in(dialogue) for dialogue in dialogues]
    assert len(dialogues) == len(variant.said)


def test_every_reader_has_a_variant() -> None:
    without_options = set(READERS) - {"json"}  # JSON of unknown shape needs its paths.
    assert {variant.reader for variant in VARIANTS} == without_options
    assert len({variant.name for variant in VARIANTS}) == len(VARIANTS) >= 60
