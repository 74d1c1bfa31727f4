"""Confidence intervals of scores, and whether a model is better: a bootstrap over draws and test examples.

A score varies for two reasons: which examples were drawn, and which test messages happen to be in the set. Both are
resampled. Two models with the same draws and the same messages are compared pair by pair, which removes the variation
that they share.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.run import RunResult, TaskResult
from turnloom.errors import TurnloomError

Floats = npt.NDArray[np.float64]
RESAMPLES = 2_000
LEVEL = 0.05
NO_DIFFERENCE = "no clear difference"


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval; the ends are NaN where there is only one value."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Difference:
    """The difference between two runs on one task, or overall.

    Attributes:
        first: The first run's score.
        second: The second run's score.
        interval: The second score minus the first, with its uncorrected 95 % interval.
        p_value: The probability of a difference this large between equal models, Holm-corrected over the tasks.
        paired: Whether both runs used the same draws and test examples.
    """

    first: float
    second: float
    interval: Interval
    p_value: float
    paired: bool

    @property
    def is_clear(self) -> bool:
        """Whether one run is better than the other at the 5 % level."""
        return self.p_value < LEVEL

    def verdict(self, first: str, second: str) -> str:
        """Return the verdict in words, with the runs' names."""
        if not self.is_clear:
            return NO_DIFFERENCE
        return f"{second if self.interval.mean > 0 else first} is better by {abs(self.interval.mean):.2f}"


@dataclass(frozen=True)
class Comparison:
    """Two runs, task by task; `overall` compares the means over families of the means over tasks."""

    tasks: dict[str, Difference]
    overall: Difference


@dataclass(frozen=True)
class _Estimate:
    """A mean, the deviations of resampled means from it, and their degrees of freedom."""

    mean: float
    shifts: Floats
    freedom: float

    def interval(self) -> Interval:
        """Return percentiles, widened as Student's t is wider than the normal: ten draws estimate spread poorly."""
        from scipy.stats import norm, t

        wider = t.ppf(1 - LEVEL / 2, self.freedom) / norm.ppf(1 - LEVEL / 2)
        low, high = self.mean + wider * np.quantile(self.shifts, [LEVEL / 2, 1 - LEVEL / 2])
        return Interval(self.mean, float(low), float(high))

    def p_value(self) -> float:
        """Return the two-sided p-value from the standard error; 1 where there is none."""
        from scipy.stats import t

        error = float(self.shifts.std())
        if math.isnan(error) or abs(self.mean) < 1e-9:
            return 1.0
        return float(2 * t.sf(abs(self.mean) / error, self.freedom)) if error > 0 else 0.0


def _combined(weights: Sequence[float], parts: Sequence[_Estimate]) -> _Estimate:
    """Return a weighted sum of estimates, with degrees of freedom by Welch and Satterthwaite."""
    mean = sum(weight * part.mean for weight, part in zip(weights, parts, strict=True))
    shifts = np.sum([weight * part.shifts for weight, part in zip(weights, parts, strict=True)], axis=0)
    variances = [weight**2 * float(part.shifts.var()) for weight, part in zip(weights, parts, strict=True)]
    return _Estimate(mean, shifts, _freedom(variances, [part.freedom for part in parts]))


def _freedom(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    spread = sum(variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True))
    return sum(variances) ** 2 / spread if spread > 0 else math.inf


@lru_cache(maxsize=32)
def _weights(key: str, draws: int, groups: int) -> tuple[Floats, Floats]:
    """Draw how often each draw and each group is in each resample.

    Each resample has one fewer than there are, which makes the variance of resampled means the unbiased estimate.
    """
    rng = np.random.default_rng(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big"))
    rows, columns = (
        rng.multinomial(count - 1, np.full(count, 1 / count), RESAMPLES) / (count - 1)
        if count > 1
        else np.ones((RESAMPLES, 1))
        for count in (draws, groups)
    )
    return rows, columns


def _values(task: TaskResult) -> Floats:
    """Return a matrix of draws by groups of test examples; one column where a result has no groups."""
    if task.groups and len({len(row) for row in task.groups}) == 1 and task.groups[0]:
        return np.array(task.groups, np.float64)
    return np.array([[draw[task.info.main_score]] for draw in task.draws], np.float64)


def _estimate(values: Floats, mean: float, key: str) -> _Estimate:
    if values.size == 1:
        return _Estimate(mean, np.full(RESAMPLES, np.nan), math.inf)
    rows, columns = _weights(key, *values.shape)
    shifts = ((rows @ values) * columns).sum(axis=1) - values.mean()
    counts = [count for count in values.shape if count > 1]
    means = [values.mean(axis=1 - axis) for axis, count in enumerate(values.shape) if count > 1]
    variances = [float(side.var(ddof=1)) / len(side) for side in means]
    return _Estimate(mean, shifts, _freedom(variances, [count - 1 for count in counts]))


def _task_estimate(task: TaskResult) -> _Estimate:
    # Tasks on one set share its test messages. With the set as key, they are resampled alike, so that a mean over
    # tasks does not treat them as independent.
    return _estimate(_values(task), task.mean(), task.info.dataset)


def _difference(first: TaskResult, second: TaskResult) -> tuple[_Estimate, bool]:
    before, after = _values(first), _values(second)
    if first.seed == second.seed and before.shape == after.shape:
        return _estimate(after - before, second.mean() - first.mean(), first.info.dataset), True
    parts = [
        _estimate(before, first.mean(), f"{first.info.dataset} first"),
        _estimate(after, second.mean(), f"{first.info.dataset} second"),
    ]
    return _combined([-1, 1], parts), False


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for multiple comparisons, by Holm's step-down method.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(p_values), 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=lambda number: p_values[number])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[number]))
        corrected[number] = highest
    return corrected


def shared_tasks(runs: Sequence[RunResult]) -> list[str]:
    """Return the tasks that count in all runs; not geometry, where higher is not better."""

    def counts(run: RunResult, name: str) -> bool:
        return name in run.tasks and run.counts(run.tasks[name]) and run.tasks[name].info.family != "geometry"

    return [name for name in runs[0].tasks if all(counts(run, name) for run in runs)] if runs else []


def task_interval(task: TaskResult) -> Interval:
    """Return the mean of a task's main score with its 95 % interval."""
    return _task_estimate(task).interval()


def _by_family(run: RunResult, names: Sequence[str]) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(run.tasks[name].info.family, []).append(name)
    return families


def _shares(families: dict[str, list[str]]) -> dict[str, float]:
    """Return each task's weight in the mean over families of the mean over tasks."""
    return {name: 1 / len(names) / len(families) for names in families.values() for name in names}


def _overall(families: dict[str, list[str]], parts: dict[str, _Estimate]) -> _Estimate:
    shares = _shares(families)
    return _combined(list(shares.values()), [parts[name] for name in shares])


def mean_intervals(run: RunResult, names: Sequence[str]) -> tuple[Interval, dict[str, Interval]]:
    """Return a run's overall mean on some tasks, and the mean of each family, with 95 % intervals."""
    families = _by_family(run, names)
    parts = {name: _task_estimate(run.tasks[name]) for name in names}
    means = {family: _overall({family: members}, parts).interval() for family, members in families.items()}
    return _overall(families, parts).interval(), means


def compare_runs(first: RunResult, second: RunResult, names: Sequence[str] | None = None) -> Comparison:
    """Compare two runs on the tasks that both have, or on some of them.

    Raises:
        TurnloomError: If the runs share no tasks.
    """
    shared = [name for name in shared_tasks([first, second]) if names is None or name in names]
    if not shared:
        raise TurnloomError(
            f"{first.model} and {second.model} have no task in common", "evaluate both on the same suite"
        )
    found = {name: _difference(first.tasks[name], second.tasks[name]) for name in shared}
    corrected = holm([estimate.p_value() for estimate, _ in found.values()])
    tasks = {
        name: Difference(first.tasks[name].mean(), second.tasks[name].mean(), estimate.interval(), p_value, paired)
        for (name, (estimate, paired)), p_value in zip(found.items(), corrected, strict=True)
    }
    families = _by_family(first, shared)
    estimate = _overall(families, {name: part for name, (part, _) in found.items()})
    before, after = (
        sum(share * run.tasks[name].mean() for name, share in _shares(families).items()) for run in (first, second)
    )
    paired = all(difference.paired for difference in tasks.values())
    return Comparison(tasks, Difference(before, after, estimate.interval(), estimate.p_value(), paired))
