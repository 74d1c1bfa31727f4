"""Recall and over-scrub on the labelled halves of the tests, with and without the extra `privacy`.

A text counts as found if nothing of its marked values is left; a text without personal data counts as over-scrubbed if
anything in it was replaced. User names count apart, as names do. All sets but `eighth` and `held_back` were tuned on.
Nothing of these two is shown: don't tune on them.

Usage: python -m studies.corpus.privacy SPACY_MODEL [HALF ...]
"""

from __future__ import annotations

import sys
from collections import defaultdict

import pyarrow as pa
from tests.corpus.labelled_privacy import Labelled, is_right, read_half

from studies.lib.figures import record
from turnloom.corpus.privacy import scrub_names
from turnloom.corpus.privacy.patterns import scrub_texts

PREFIXES = {
    "development": "pii_dev",
    "independent": "pii_independent",
    "second": "pii_second",
    "third": "pii_third",
    "fourth": "pii_fourth",
    "held_back": "pii_own",
    "blind": "pii_blind",
    "terse": "pii_terse",
    "seventh": "pii_seventh",
    "eighth": "pii_eighth",
}
HEADLINE = "eighth"
"""By an author who had not seen the patterns, measured once: its figures are `pii_recall` and the like, too."""
MEASURED_ONCE = ("seventh", HEADLINE)
"""Measured before anyone had read them; only if they are named. `seventh` has been tuned on since."""


def _share(rows: list[Labelled], scrubbed: dict[str, str]) -> float:
    return sum(is_right(row, scrubbed[row.text]) for row in rows) / len(rows)


def measure(half: str, model: str) -> dict[str, float]:
    rows = read_half(half)
    texts = pa.array([row.text for row in rows], pa.large_string())
    changed = scrub_texts(texts)[0]
    default = dict(zip(texts.to_pylist(), changed.to_pylist(), strict=True))
    by_category: dict[str, list[Labelled]] = defaultdict(list)
    for row in rows:
        by_category[row.category].append(row)
    names, negatives, handles = (by_category.pop(category, []) for category in ("name", "none", "handle"))
    for category, marked in sorted(by_category.items()):
        print(f"{half} {category:>12}: {_share(marked, default):.3f} of {len(marked)}")
    said = pa.array([default[row.text] for row in names], pa.large_string())
    extra = dict(zip([row.text for row in names], scrub_names(said, model)[0].to_pylist(), strict=True))
    prefix = PREFIXES[half]
    figures = {f"{prefix}_recall_handles": _share(handles, default)} if handles else {}
    return figures | {
        f"{prefix}_recall": _share([row for marked in by_category.values() for row in marked], default),
        f"{prefix}_recall_names": _share(names, default),
        f"{prefix}_recall_names_extra": _share(names, extra),
        f"{prefix}_over_scrub": 1 - _share(negatives, default),
    }


def main() -> None:
    for half in sys.argv[2:] or [half for half in PREFIXES if half not in MEASURED_ONCE]:
        figures = measure(half, sys.argv[1])
        if half == HEADLINE:
            figures |= {name.replace(PREFIXES[half], "pii"): value for name, value in figures.items()}
        print(half, figures)
        record("corpus", figures)


if __name__ == "__main__":
    main()
