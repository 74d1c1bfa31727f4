"""The reply that was given, found among all replies of held-out conversations: by search alone, and re-ranked.

The mode, and how much frequent replies count less, are chosen on the validation splits: what is measured there is kept
in replies_validation.json, by the encoder's fingerprint, and not measured again. Ten examples are written to a page.

Usage: TURNLOOM_DATA=... python -m studies.applications.replies_end_to_end MODEL FOLDER [RERANKER]
"""

from __future__ import annotations

import functools
import itertools
import json
import statistics
import sys
from pathlib import Path

from studies.lib.figures import STUDIES, record
from turnloom.corpus import convert
from turnloom.corpus.catalog import get_dataset
from turnloom.corpus.table import MANIFEST
from turnloom.replies import ReplyIndex, ReplyOptions, ReplyScores, evaluate_replies
from turnloom.replies.evaluate import sample_contexts
from turnloom.runtime import Encoder, Scorer, load_encoder
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.runtime.scorer import load_scorer

SETS = ("sgd", "multiwoz21")
MODES = ("vector", "text", "hybrid")
RARITIES = (0.0, 0.1, 0.3, 1.0)
CONTEXTS, EXAMPLES = 1_000, 10
LICENCES = "The dialogues are of the test splits of SGD (CC BY-SA 4.0) and MultiWOZ 2.1 (CC BY 4.0)."
VALIDATION = STUDIES / "applications" / "replies_validation.json"
PAGE = STUDIES / "applications" / "replies_examples.md"


def index_of(
    dataset: str, split: str, folder: Path, encoder: Encoder, scorer: Scorer | None
) -> tuple[ReplyIndex, Path]:
    table = folder / f"{dataset}-{split}"
    if not (table / MANIFEST).exists():
        convert(get_dataset(dataset).logs(split), table, command="studies.applications.replies_end_to_end")
    place = folder / f"{dataset}-{split}-{encoder.fingerprint[:8]}"
    return ReplyIndex.build(table, place, encoder, ReplyOptions(), scorer=scorer), table


def chosen_setting(folder: Path, encoder: Encoder) -> tuple[str, float]:
    """The mode and rarity with the best mean Top-1 on the validation splits."""
    kept: dict[str, dict[str, dict[str, float]]] = json.loads(VALIDATION.read_text()) if VALIDATION.exists() else {}
    known = kept.setdefault(encoder.fingerprint, {})
    opened = functools.cache(lambda dataset: index_of(dataset, "dev", folder, encoder, None))
    found: dict[tuple[str, float], list[float]] = {}
    for dataset, mode, rarity in itertools.product(SETS, MODES, RARITIES):
        name = f"{dataset} {mode} {rarity}"
        if name not in known:
            index, table = opened(dataset)
            scores = evaluate_replies(index, table, limit=CONTEXTS, mode=mode, rarity=rarity)  # type: ignore[arg-type]
            known[name] = {"top1": scores.top1, "top10": scores.top10}
            VALIDATION.write_text(json.dumps(kept, indent=1) + "\n")
            print(name, known[name], flush=True)
        found.setdefault((mode, rarity), []).append(known[name]["top1"])
    return max(found, key=lambda setting: statistics.fmean(found[setting]))


def examples(index: ReplyIndex, table: Path, dataset: str, mode: str, rarity: float) -> list[str]:
    """Contexts, what was said, and the three best suggestions, for a person to read."""
    lines = []
    for row in sample_contexts([table], index, EXAMPLES // len(SETS)).to_pylist():
        lines += [f"## {dataset}", "", *[f"> {turn}  " for turn in row["context"]], "", f"Said: **{row['text']}**", ""]
        for reply in index.suggest(row["context"], 3, mode=mode, rarity=rarity):  # type: ignore[arg-type]
            lines.append(f"1. {reply.text} ({reply.score:.3f}, given {reply.count}x)")
        lines.append("")
    return lines


def main(model: str, folder: Path, reranker: Path | None) -> None:
    fast = computes_bf16_fast()
    encoder = load_encoder(model, bf16=fast)
    scorer = load_scorer(reranker, bf16=fast) if reranker else None
    mode, rarity = chosen_setting(folder, encoder)
    results: dict[str, ReplyScores] = {}
    title = f"Replies found by {encoder.name}" + (f", re-ranked by {scorer.name}" if scorer else "")
    page = [f"# {title}", "", f"Mode {mode}, rarity {rarity}, chosen on the validation splits. {LICENCES}", ""]
    for dataset in SETS:
        index, table = index_of(dataset, "test", folder, encoder, scorer)
        results[dataset] = evaluate_replies(index, table, limit=CONTEXTS, mode=mode, rarity=rarity)  # type: ignore[arg-type]
        page += examples(index, table, dataset, mode, rarity)
    PAGE.write_text("\n".join(page), encoding="utf-8")
    figures = {"end_to_end_rarity": rarity}
    for field, name in (
        ("top1", "end_to_end_top1"),
        ("top10", "end_to_end_top10"),
        ("rerank_top1", "end_to_end_rerank_top1"),
        ("rerank_top10", "end_to_end_rerank_top10"),
    ):
        each = {dataset: getattr(scores, field) for dataset, scores in results.items()}
        if None not in each.values():
            figures[name] = statistics.fmean(each.values())
            figures |= {f"{name}.{dataset}": value for dataset, value in each.items()}
    record("applications", figures)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
