"""Whether intervals and verdicts keep what they promise, on simulated runs whose truth is known.

Usage: python -m studies.baselines.intervals
"""

from __future__ import annotations

import numpy as np
from tests.benchmarks.test_compare import TRUTH, result, simulated, simulated_pair

from studies.lib.figures import record
from turnloom.benchmarks.compare import compare_runs, task_interval

INTERVALS, COMPARISONS = 4_000, 2_000


def main() -> None:
    rng = np.random.default_rng(2024)
    found = [task_interval(result(simulated(rng, 10, 50))) for _ in range(INTERVALS)]
    covered = np.mean([interval.low <= TRUTH <= interval.high for interval in found])
    equal = [compare_runs(*simulated_pair(rng, 0)) for _ in range(COMPARISONS)]
    wrong = np.mean([any(task.is_clear for task in one.tasks.values()) for one in equal])
    better = [compare_runs(*simulated_pair(rng, 4)) for _ in range(COMPARISONS // 4)]
    record(
        "baselines",
        {
            "interval_coverage": float(covered),
            "equal_models_called_different": float(wrong),
            "equal_models_called_different_overall": float(np.mean([one.overall.is_clear for one in equal])),
            "four_points_found": float(np.mean([one.tasks["task7"].is_clear for one in better])),
        },
    )


if __name__ == "__main__":
    main()
