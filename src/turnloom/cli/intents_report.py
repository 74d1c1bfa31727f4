"""What `turnloom intents fit` says about a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.cli.console import console, say

if TYPE_CHECKING:
    from turnloom.intents import IntentClassifier, PoolReport, Rate


def percent(rate: Rate) -> str:
    """Return a rate with its interval, in percent."""
    return f"{100 * rate.rate:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def say_pool(report: PoolReport) -> None:
    """Say what a pool did."""
    sampled = f" (a sample of {report.messages:,})" if report.used < report.messages else ""
    say(f"Pool: {report.believed:,} of {report.used:,} messages{sampled} clearly have an intent")
    if report.right_with is not None and report.right_without is not None:
        shares = f"{100 * report.right_with:.1f} % with the pool, {100 * report.right_without:.1f} % without"
        say(f"  left-out examples recognised: {shares}")
    if not report.trusted:
        say("  the pool is not used: few messages are familiar, or left-out examples are recognised better without it")
        return
    most = sorted(report.strengthened.items(), key=lambda pair: -pair[1])[:5]
    say(f"  most for: {', '.join(f'{name} ({count:,})' for name, count in most)}")
    if report.scarce:
        more = f" and {len(report.scarce) - 10} more" if len(report.scarce) > 10 else ""
        say(f"  almost no message for: {', '.join(report.scarce[:10])}{more}")


def say_fitted(classifier: IntentClassifier, out: Path) -> None:
    """Say what a classifier learned, from what, and how often it should turn messages away."""
    state, scope = classifier.fitted, classifier.scope
    counts = state.examples.counts
    each = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    tried = ", ".join(f"{name} {100 * value:.1f} %" for name, value in state.choice.scores.items())
    say(f"{len(counts)} intents with {each} examples each, {len(state.examples)} in all")
    if classifier.pool_report is not None:
        say_pool(classifier.pool_report)
    say(f"Method: {state.choice.method}" + (f" (right for left-out examples: {tried})" if tried else ""))
    guesses = {"single examples": "one example per intent", "names": "no examples"}
    guess = f" ({guesses[scope.source]}: a guess; give --held-out messages)" if scope.source in guesses else ""
    console.print(f"In scope from {scope.threshold:.3f} on. From {scope.source}{guess}:")
    say(f"  in-scope messages turned away: {percent(scope.false_reject)}")
    if scope.false_accept is not None:
        say(f"  out-of-scope messages let in: {percent(scope.false_accept)}")
    say(f"Saved in {out}. Next: turnloom intents predict {out} MESSAGES")
