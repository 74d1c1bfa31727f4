"""Pip constraints that pin each direct dependency to its oldest supported version.

Usage: python -m tools.lowest_versions > constraints.txt
"""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from tools.requirements import Wanted, wanted

TRIED = frozenset({"", "onnx", "replies", "serve", "dev"})
"""Extras to install when testing the bounds; the others are large or need a cluster."""


def constraints(rows: Iterable[Wanted]) -> list[str]:
    """Return one line per package; if several extras need it, the highest bound wins."""
    bounds: dict[str, Version] = {}
    for row in rows:
        if row.extra in TRIED and row.lowest:
            bounds[row.name] = max(bounds.get(row.name, Version("0")), Version(row.lowest))
    # "2.6" means 2.6.0 or its first fix: a bound is a series, and some first releases were withdrawn.
    return [f"{name}=={version.public}.*" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    print("\n".join(constraints(wanted())))
