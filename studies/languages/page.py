"""Writes the tables of the page from the figures.

Usage: python -m studies.languages.page
"""

from __future__ import annotations

import json
from pathlib import Path

from studies.languages.scripts import FEWEST_TOPICS
from studies.lib.tables import put_tables

HERE = Path(__file__).parent
SHOPS = {"zh": "Chinese", "ar": "Arabic", "de": "German", "ja": "Japanese", "hi": "Hindi", "es": "Spanish"}
MORE = {"mixed": "two languages per chat", "hi_use": "Hindi, with an encoder that does not know it"}
MEASURES = {
    "jddc_sts": "JDDC, similarity (Spearman)",
    "jddc_map": "JDDC, retrieval (MAP)",
    "jddc_mrr": "JDDC, retrieval (MRR)",
    "ecd_sts": "ECD, similarity (Spearman)",
    "ecd_map": "ECD, retrieval (MAP)",
    "ecd_mrr": "ECD, retrieval (MRR)",
    "cdconv_accuracy": "CDConv, kinds of contradiction (accuracy)",
}


def shops_table(figures: dict[str, float]) -> list[str]:
    lines = [
        "| shop | dialogues | turns that are pairs | topics found of six | draft intents | examples in their topic |",
        "|---|---|---|---|---|---|",
    ]
    for name, shown in (SHOPS | MORE).items():
        one = {key: figures[f"shop.{name}_{key}"] for key in ("dialogues", "pair_share", "topics", "groups", "purity")}
        found = f"**{one['topics']:.0f}**" if one["topics"] >= FEWEST_TOPICS else f"{one['topics']:.0f}"
        shares = f"{100 * one['pair_share']:.0f} % | {found} | {one['groups']:.0f} | {100 * one['purity']:.0f} %"
        lines.append(f"| {shown} | {one['dialogues']:.0f} | {shares} |")
    return lines


def chinese_table(figures: dict[str, float]) -> list[str]:
    lines = [
        "| test split | frozen | with heads | spread | gain, 95 % interval | paper: BERT | paper: DialogueCSE |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, shown in MEASURES.items():
        cells = [f"{figures[f'frozen.{name}']:.1f}", f"{figures[f'heads.{name}']:.1f}"]
        if f"heads.{name}_gain_low" in figures:
            low, high = (figures[f"heads.{name}_gain_{end}"] for end in ("low", "high"))
            cells += [f"{figures[f'heads.{name}_spread']:.1f}", f"{low:+.1f} to {high:+.1f}"]
        else:
            cells += ["", ""]
        cells += [f"{figures[key]:.1f}" if key in figures else "" for key in (f"paper.bert_{name}", f"paper.{name}")]
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    figures: dict[str, float] = json.loads((HERE / "figures.json").read_text())
    put_tables(HERE / "README.md", shops_table(figures), chinese_table(figures))


if __name__ == "__main__":
    main()
