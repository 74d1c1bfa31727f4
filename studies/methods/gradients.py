"""How far gradients over processes and in mini-batches are from those of one process with the whole batch.

Usage: python -m studies.methods.gradients
"""

from __future__ import annotations

from tests.objectives.processes import cached_errors, on_processes, parallel_errors

from studies.lib.figures import record


def main() -> None:
    spread = on_processes(parallel_errors)
    cached = {name: error for name, error in spread.items() if "/cached/" in name} | cached_errors()
    plain = {name: error for name, error in spread.items() if "/cached/" not in name}
    print(f"{len(plain)} comparisons over processes, {len(cached)} in mini-batches")
    record(
        "methods",
        {
            "gradient_max_relative_error_processes": max(plain.values()),
            "gradient_max_relative_error_cached": max(cached.values()),
        },
    )


if __name__ == "__main__":
    main()
