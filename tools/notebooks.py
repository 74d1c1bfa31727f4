"""Run the notebooks of the cookbook, and save their outputs.

Usage: python -m tools.notebooks [NAME ...]

Each runs in its own folder in the clone and writes its files elsewhere. Standard error (warnings, progress bars) is not
saved. If all of them succeed, the number of notebooks is recorded.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from studies.lib.figures import record

ROOT = Path(__file__).parents[1]
COOKBOOK = ROOT / "docs" / "cookbook"
SECONDS = 600
"""For a busy machine; on an idle one, a notebook takes less than a minute."""


def notebooks() -> list[Path]:
    """Return every notebook of the cookbook."""
    return sorted(COOKBOOK.glob("*.ipynb"))


def run(path: Path) -> Any:
    """Run a notebook and return it with new outputs; a failing cell is an error."""
    import nbformat
    from nbclient import NotebookClient

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.execution_count = None
    return notebook


def main() -> None:
    import nbformat

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="which ones; all if none is named")
    names = parser.parse_args().names
    for path in notebooks():
        if names and path.stem not in names:
            continue
        begun = time.perf_counter()
        notebook = run(path)
        nbformat.write(notebook, path)
        print(f"{time.perf_counter() - begun:6.1f} s  {path.relative_to(ROOT)}", flush=True)
    if not names:
        record("onboarding", {"notebooks_run": len(notebooks())})


if __name__ == "__main__":
    main()
