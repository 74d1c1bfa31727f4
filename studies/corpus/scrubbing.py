"""Precision and recall of scrubbing on the hand-written labelled lines of the tests: the lowest of any kind counts.

Usage: python -m studies.corpus.scrubbing
"""

from __future__ import annotations

from tests.corpus.personal_data import score

from studies.lib.figures import record
from turnloom.corpus.privacy.patterns import find_personal


def main() -> None:
    scores = score(find_personal)
    for kind, found in scores.items():
        print(f"{kind:>7}: {found.marked} marked, precision {found.precision:.3f}, recall {found.recall:.3f}")
    marked, found, right = (sum(getattr(one, name) for one in scores.values()) for name in ("marked", "found", "right"))
    print(f"    all: {marked} marked, precision {right / found:.3f}, recall {right / marked:.3f}")
    record(
        "corpus",
        {
            "scrub_recall": min(one.recall for one in scores.values()),
            "scrub_precision": min(one.precision for one in scores.values()),
        },
    )


if __name__ == "__main__":
    main()
