"""Count the source: its size, long modules, import cycles, duplicated blocks.

Usage: python -m tools.house

Prints the counts and records them in studies/onboarding/figures.json.
"""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

from studies.lib.figures import record

__all__ = ["counts", "duplicate_blocks", "import_cycles", "long_modules"]

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
LONGEST = 300
DUPLICATED = 12
ADD_A_LOSS = "tests.training.test_new_loss"


def modules() -> dict[Path, int]:
    """Return every module of the source with its number of lines."""
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(SOURCE.rglob("*.py"))}


def long_modules() -> dict[str, int]:
    """Return the modules with more than 300 lines."""
    return {path.relative_to(SOURCE).as_posix(): lines for path, lines in modules().items() if lines > LONGEST}


def _lines_in_functions(path: Path) -> set[int]:
    """Return the lines of a module that only run when a function is called."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    nodes = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, functions))
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _file(module: str, source: Path) -> Path:
    path = source.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def import_cycles(package: str = "turnloom", source: Path = SOURCE) -> list[list[str]]:
    """Find modules that import each other at import time; imports in functions and for type checkers do not count.

    Args:
        package: The package to look at.
        source: The folder that holds it.

    Returns:
        The members of each cycle.
    """
    import grimp
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    names = sorted(graph.modules)
    number = {name: index for index, name in enumerate(names)}
    edges = np.zeros((len(names), len(names)), dtype=bool)
    for name in names:
        later = _lines_in_functions(_file(name, source))
        for imported in graph.find_modules_directly_imported_by(name):
            details = graph.get_import_details(importer=name, imported=imported)
            edges[number[name], number[imported]] = any(one["line_number"] not in later for one in details)
    _, component = connected_components(edges, connection="strong")
    components: dict[int, list[str]] = {}
    for name, which in zip(names, component.tolist(), strict=True):
        components.setdefault(which, []).append(name)
    return [members for members in components.values() if len(members) > 1]


def duplicate_blocks(folder: Path = SOURCE) -> list[str]:
    """Count blocks of at least twelve lines that occur in two modules, by pylint's duplicate-code."""
    options = ["--ignore-comments", "--ignore-docstrings", "--ignore-imports", "--ignore-signatures"]
    program = "import sys; from pylint.checkers.symilar import Run; Run(sys.argv[1:])"
    files = [str(path) for path in sorted(folder.rglob("*.py"))]
    more_than = str(DUPLICATED - 1)  # pylint reports blocks longer than its limit.
    command = [sys.executable, "-c", program, "--duplicates", more_than, *options, *files]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.search(r"^TOTAL lines=", said, re.MULTILINE), said
    return [block.strip() for block in re.split(r"^(?=\d+ similar lines in )", said, flags=re.MULTILINE)[1:]]


def places_to_add_a_loss() -> int:
    """Count the files that a new loss touches, as listed by the test that adds one."""
    return len(importlib.import_module(ADD_A_LOSS).PLACES)


def counts() -> dict[str, float]:
    """Return every count by its name."""
    return {
        "src_lines": sum(modules().values()),
        "src_modules": len(modules()),
        "modules_over_300_lines": len(long_modules()),
        "import_cycles": len(import_cycles()),
        "duplicate_blocks_12": len(duplicate_blocks()),
        "places_to_add_a_loss": places_to_add_a_loss(),
    }


def main() -> None:
    for name, lines in long_modules().items():
        print(f"{name} has {lines} lines")
    for members in import_cycles():
        print(f"a cycle of imports: {', '.join(members)}")
    record("onboarding", counts())


if __name__ == "__main__":
    main()
