"""The page that `turnloom inspect` writes."""

from __future__ import annotations

from turnloom.corpus.inspect.statistics import CorpusStatistics, warnings_of
from turnloom.pages.page import page, rows_table
from turnloom.pages.plots import bars, curve

__all__ = ["headline", "inspect_page"]

MAX_ROWS = 10


def headline(found: CorpusStatistics) -> dict[str, str]:
    """The figures to see first, in the terminal and on the page."""
    duplicates = found.duplicate_dialogues / found.dialogues if found.dialogues else 0
    return {
        "dialogues": f"{found.dialogues:,}",
        "turns": f"{found.turns:,}",
        "turns a dialogue": f"{found.turns / max(found.dialogues, 1):.1f}",
        "words a turn": f"{found.words / max(found.turns, 1):.1f}",
        "distinct utterances": f"{found.distinct_utterances:,}",
        "taken by the top 1%": f"{found.top_1_percent_share:.1%}",
        "duplicate dialogues": f"{duplicates:.1%}",
        "pairs over 3 words": f"{found.pairs_over_3_words:,}",
    }


def _top(counts: dict[str, int], whole: int) -> list[tuple[str, int, str]]:
    shown = list(counts.items())[:MAX_ROWS]
    rows = [(name or "(none)", count, f"{count / max(whole, 1):.1%}") for name, count in shown]
    rest = sum(counts.values()) - sum(count for _, count in shown)
    if rest:
        rows.append((f"{len(counts) - MAX_ROWS:,} others", rest, f"{rest / max(whole, 1):.1%}"))
    return rows


def inspect_page(found: CorpusStatistics, name: str) -> str:
    """The statistics as one self-contained HTML page."""
    sources = [(source, row["dialogues"], row["turns"]) for source, row in found.sources.items()]
    sections = {
        "Sources": rows_table(["source", "dialogues", "turns"], sources),
        "Speakers": rows_table(["speaker", "turns", "share"], _top(found.speakers, found.turns)),
        "Turns in a dialogue": bars("Turns in a dialogue", found.turns_per_dialogue[1:], "turns", first=1),
        "Words in a turn": bars("Words in a turn", found.words_per_turn, "words"),
        "How uneven the utterances are": curve(
            "Part of all turns that the most frequent utterances take",
            found.top_shares,
            "the most frequent part of distinct utterances, and the part of all turns it takes",
        ),
        "Most frequent utterances": rows_table(["utterance", "times"], found.top_utterances),
    }
    if found.personal_data:
        sections["Personal data"] = rows_table(["kind", "times"], list(found.personal_data.items()))
    if found.overlaps:
        sections["Benchmark material"] = rows_table(["found for", "turns and pairs"], list(found.overlaps.items()))
    lead = "What is in this dialogue table, and what to know before training on it."
    return page(f"Dialogues in {name}", lead, headline(found), warnings_of(found), sections)
