"""Turn the measured cells into figures.json and the page's tables.

Usage: python -m studies.intents.summary [validation]

Without an argument, the figures are those of the test splits. `validation` only prints the tables.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from studies.intents.sets import HELD_OUT_SETS, MESSY, POOLS
from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks.suites import INTENTS

SHOTS = (0, 1, 2, 5, 10)
PEERS = {
    "setfit": ("setfit",),
    "autointent": ("autointent", "autointent-names"),
    "semantic-router": ("semantic-router",),
}
"""Other tools, and the ways in which each was run; the better one counts."""
FOUND_BY_PEERS = Path(__file__).parent / "peers.json"
Cells = dict[str, dict[str, Any]]


class Measured:
    """The cells of some draws: `values("snips", "clean", "1 names")` has one number per draw."""

    def __init__(self, runs: Cells, draws: Iterable[int]) -> None:
        self.runs, self.draws = runs, list(draws)

    def values(self, name: str, pool: str, cell: str, score: str = "accuracy") -> list[float]:
        """One number per draw that has been measured."""
        found = (self.runs.get(f"{name} {draw} {pool}", {}).get(cell, {}).get(score) for draw in self.draws)
        return [value for value in found if value is not None]

    def mean(self, pool: str, cell: str, score: str = "accuracy", names: Iterable[str] = INTENTS) -> float | None:
        """The mean over sets of the mean over draws; None if a set has none."""
        per_set = [self.values(name, pool, cell, score) for name in names]
        return statistics.fmean(map(statistics.fmean, per_set)) if all(per_set) else None

    def gain(self, name: str, pool: str, cell: str) -> tuple[float, float, float] | None:
        """The paired gain of a pool with its 95 % interval; None with fewer than three draws."""
        pairs = [
            (with_pool[cell]["accuracy"], without[cell]["accuracy"])
            for draw in self.draws
            if cell in (with_pool := self.runs.get(f"{name} {draw} {pool}", {}))
            and cell in (without := self.runs.get(f"{name} {draw} none", {}))
        ]
        if len(pairs) < 3:
            return None
        gains = np.array([one - other for one, other in pairs])
        half = float(t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1)) / len(gains) ** 0.5
        return float(gains.mean()), float(gains.mean()) - half, float(gains.mean()) + half


def worst_messy_loss(measured: Measured) -> float:
    """The largest mean loss among sets, shots and messy pools whose interval lies below zero."""
    gains = [
        measured.gain(name, pool, f"{shots} {kind}")
        for name in INTENTS
        for pool in MESSY
        for shots in SHOTS
        for kind in ("names", "examples")
    ]
    return max([-gain[0] for gain in gains if gain is not None and gain[2] < 0], default=0.0)


def peer_figures() -> dict[str, float]:
    """The means of other tools over the four sets, and the best of them."""
    found: dict[str, Any] = json.loads(FOUND_BY_PEERS.read_text()) if FOUND_BY_PEERS.exists() else {}
    wanted: dict[str, float] = {}
    for shots in (1, 5):
        for peer, ways in PEERS.items():
            means = [_peer_mean(found, way, shots) for way in ways]
            if any(mean is not None for mean in means):
                wanted[f"{peer}.mean4.{shots}shot"] = max(mean for mean in means if mean is not None)
        asked = [wanted[name] for peer in PEERS if (name := f"{peer}.mean4.{shots}shot") in wanted]
        if asked:
            wanted[f"best_peer.mean4.{shots}shot"] = max(asked)
    return wanted


def _peer_mean(found: dict[str, Any], peer: str, shots: int) -> float | None:
    """The mean over sets of the mean over draws; None if a set has no number."""
    per_set = [
        [
            value
            for key, value in found.items()
            if key.startswith(f"{peer} {name} {shots} ") and isinstance(value, float)
        ]
        for name in INTENTS
    ]
    return statistics.fmean(map(statistics.fmean, per_set)) if all(per_set) else None


def figures(measured: Measured) -> dict[str, float]:
    """The figures that can be computed from what has been measured."""
    wanted: dict[str, float | None] = {}
    for shots in SHOTS:
        wanted |= {
            f"mean4.{shots}shot.examples": measured.mean("none", f"{shots} examples"),
            f"mean4.{shots}shot.names": measured.mean("none", f"{shots} names"),
            f"mean4.{shots}shot.pool": measured.mean("clean", f"{shots} examples"),
            f"mean4.{shots}shot.names_pool": measured.mean("clean", f"{shots} names"),
        }
        messy = [measured.mean(pool, f"{shots} names") for pool in MESSY]
        if all(value is not None for value in messy):
            wanted[f"messy.mean4.{shots}shot.names_pool"] = statistics.fmean(v for v in messy if v is not None)
        for kind, pool, cell in (
            ("examples", "none", "examples"),
            ("names", "none", "names"),
            ("names_pool", "clean", "names"),
        ):
            wanted[f"heldout.{shots}shot.{kind}"] = measured.mean(pool, f"{shots} {cell}", names=HELD_OUT_SETS)
            wanted[f"airline.{shots}shot.{kind}"] = measured.mean(pool, f"{shots} {cell}", names=["airline"])
    plain, codes = measured.mean("none", "1 examples"), measured.mean("none", "1 codes")
    if plain is not None and codes is not None:
        wanted["codes_loss"] = plain - codes
    wanted["worst_messy_loss"] = worst_messy_loss(measured)
    wanted["oos_auroc_with_pool"] = measured.mean("clean", "1 names", "auroc", ["clinc150"])
    wanted["oos_auroc_without_pool"] = measured.mean("none", "1 names", "auroc", ["clinc150"])
    for shots in (0, 1, 5):
        wanted[f"false_reject_asked_10.{shots}shot.names_pool"] = measured.mean(
            "clean", f"{shots} names", "false_reject"
        )
        wanted[f"draws.{shots}shot"] = float(
            min(len(measured.values(name, "clean", f"{shots} names")) for name in INTENTS)
        )
    messy_draws = [len(measured.values(name, pool, "1 names")) for name in INTENTS for pool in MESSY]
    wanted["draws.messy.1shot"] = float(min(messy_draws))
    return {name: value for name, value in wanted.items() if value is not None}


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def print_tables(measured: Measured) -> None:
    """Print the page's tables."""
    print("| examples | alone | + names | + pool | + both | " + " | ".join(f"both, {pool}" for pool in MESSY) + " |")
    print("|" + "---|" * (5 + len(MESSY)))
    for shots in SHOTS:
        plain = [measured.mean(pool, f"{shots} {kind}") for pool in ("none", "clean") for kind in ("examples", "names")]
        messy = [measured.mean(pool, f"{shots} names") for pool in MESSY]
        print(f"| {shots} | " + " | ".join(map(_cell, [*plain, *messy])) + " |")
    print("\n| set | examples | pool | gain with names | gain without |\n|---|---|---|---|---|")
    for name in (*INTENTS, *HELD_OUT_SETS):
        for shots in SHOTS:
            for pool in POOLS:
                gains = [measured.gain(name, pool, f"{shots} {kind}") for kind in ("names", "examples")]
                if any(gains):
                    said = [
                        "" if each is None else f"{each[0]:+.1f} [{each[1]:+.1f}, {each[2]:+.1f}]" for each in gains
                    ]
                    print(f"| {name} | {shots} | {pool} | {said[0]} | {said[1]} |")


def main() -> None:
    validation = sys.argv[1:] == ["validation"]
    measured = Measured(Results("intents").runs(), range(100, 110) if validation else range(10))
    print_tables(measured)
    if validation:
        print({name: round(value, 2) for name, value in figures(measured).items()})
    else:
        record("intents", figures(measured) | peer_figures())


if __name__ == "__main__":
    main()
