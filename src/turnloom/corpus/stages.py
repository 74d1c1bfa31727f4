"""Steps that are done once: a killed run goes on with the first step that is not finished."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["Workspace", "remove_workspace"]


class Workspace:
    """A folder of intermediate results, all of one job.

    Args:
        folder: Where; what another job left there is removed.
        job: What identifies the job: its inputs and options.
    """

    def __init__(self, folder: Path, job: str) -> None:
        self.folder = folder
        mark = folder / "job"
        if not mark.exists() or mark.read_text() != job:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark.write_text(job)

    def step(self, name: str, build: Callable[[Path], object]) -> Path:
        """The result of a step: as it was left if it was finished, else built from scratch.

        A step counts as finished when its mark is written, which is the last thing that happens.
        """
        result, mark = self.folder / name, self.folder / f"{name}.done"
        if not mark.exists():
            shutil.rmtree(result, ignore_errors=True)
            result.mkdir()
            build(result)
            mark.touch()
        return result

    def remove(self) -> None:
        """Remove all intermediate results."""
        remove_workspace(self.folder)


def remove_workspace(folder: Path) -> None:
    """Remove a workspace, and the folder of workspaces if it was the last."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # Others are still there, or none was.
        folder.parent.rmdir()
