"""Constraints for pip that ask for the oldest version of each direct dependency.

Usage: python -m tools.lowest_versions > constraints.txt
"""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from tools.requirements import Wanted, wanted

TRIED = frozenset({"", "onnx", "replies", "serve", "dev"})
"""Extras that are installed to try the bounds; others are large or need a cluster."""


def constraints(rows: Iterable[Wanted]) -> list[str]:
    """One line a package; if several extras ask for it, the highest of their bounds holds."""
    bounds: dict[str, Version] = {}
    for row in rows:
        if row.extra in TRIED and row.lowest:
            bounds[row.name] = max(bounds.get(row.name, Version("0")), Version(row.lowest))
    # "2.6" means 2.6.0 or its first repair: a bound is a series, and some first releases were withdrawn.
    return [f"{name}=={version.public}.*" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    print("\n".join(constraints(wanted())))
