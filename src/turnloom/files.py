"""Write folders atomically, and replace files in one step.

Everything is staged in `.partial` inside the folder and moved into place when all of it is written. One file, the
marker (such as a table's `manifest.json`), is removed first and written last: a folder with its marker is complete.
`.files.json` lists what was written, with checksums. Nothing else is ever deleted, and a folder with any other file is
refused.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from turnloom.checksums import Checksums, checksum, differing, listing_text, read_listing
from turnloom.errors import TurnloomError

LISTING = ".files.json"
PARTIAL = ".partial"
CHECKED_BYTES = 2**30
"""This much is compared with its checksums whenever it is read: about a second's work."""
_NAMED = 3
"""How many of a folder's other files an error lists."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces `path` if the block succeeds.

    Example:
        ``with replacing(folder / "vectors.npy") as temporary: numpy.save(temporary, vectors)``
    """
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file atomically: no reader and no crash ever sees half of it."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def make_private(folder: Path) -> None:
    """Let only the owner read and write a folder and everything in it; what belongs to others stays as it is."""
    for path in [folder, *folder.rglob("*")]:
        with suppress(OSError):  # Another process's temporary file has gone, or it is not ours.
            path.chmod(0o700 if path.is_dir() else 0o600)


class WholeFolder:
    """A folder that is written completely or not at all.

    Write its contents to `new`, then call `commit`. A killed run leaves a folder without its marker, and the next run
    starts again. Files from an earlier run are replaced; other files are not touched.

    Args:
        folder: The folder; created if it does not exist.
        marker: The name of the file that marks the folder as complete.
        what: Its contents, for errors: "a table", "an export".
        beside: Names of other files and folders that may exist in it and stay.
        caches: Names of folders derived from the contents, which are deleted with them.
        keep_others: Keep other files instead of refusing the folder.

    Attributes:
        partial: A scratch folder of this run, removed at the end.
        new: The folder in it whose contents become the folder's.

    Raises:
        TurnloomError: If the folder contains other files, or cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        marker: str,
        what: str,
        *,
        beside: Collection[str] = (),
        caches: Collection[str] = (),
        keep_others: bool = False,
    ) -> None:
        self.folder, self.marker = folder, marker
        self.partial = folder / PARTIAL
        self.new = self.partial / "new"
        self._caches = caches
        if not keep_others:
            refuse_other_files(folder, what, beside={*beside, *caches})
        try:
            shutil.rmtree(self.partial, ignore_errors=True)
            self.new.mkdir(parents=True)
        except OSError as error:
            raise TurnloomError(f"{folder} cannot be written ({error.strerror})", "choose another folder") from error

    def publish(self, name: str) -> Path:
        """Move one staged file into place before the folder is complete; return its path."""
        self._list({**_listed(self.folder), name: checksum(self.new / name)})
        return (self.new / name).replace(self.folder / name)

    def commit(self) -> None:
        """Replace the folder's old contents by the new."""
        new = {path.relative_to(self.new).as_posix(): checksum(path) for path in self.new.rglob("*") if path.is_file()}
        old = listed_files(self.folder)
        # Old and new names, so that after a kill every file in the folder is still known to be ours.
        self._list(dict.fromkeys(old | set(new)))
        (self.folder / self.marker).unlink(missing_ok=True)
        for name in self._caches:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in old - set(new):
            (self.folder / name).unlink(missing_ok=True)
            _remove_empty(self.folder, name)
        for name in sorted(new, key=lambda name: (name == self.marker, name)):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.new / name).replace(self.folder / name)
        self._list(new)
        shutil.rmtree(self.partial)

    def _list(self, files: Mapping[str, str | None]) -> None:
        # Staged in `.partial`: a temporary file left in the folder by a kill would look like somebody else's.
        staged = self.partial / LISTING
        write_whole(staged, listing_text(files))
        staged.replace(self.folder / LISTING)


def listed_files(folder: Path) -> set[str]:
    """Return the files that `WholeFolder` wrote to a folder, relative to it.

    Raises:
        TurnloomError: If the list is damaged, or names a file outside the folder.
    """
    return set(_listed(folder))


def _listed(folder: Path) -> Checksums:
    path = folder / LISTING
    files = read_listing(path)
    if not all(_inside(folder, name) for name in files):
        raise TurnloomError(f"{path} is damaged", "choose another folder, or remove this one if you don't need it")
    return files


def list_again(folder: Path) -> None:
    """List all files of a folder again, with their checksums, after some were changed in place."""
    files = (path for path in folder.rglob("*") if path.is_file() and path != folder / LISTING)
    write_whole(folder / LISTING, listing_text({path.relative_to(folder).as_posix(): checksum(path) for path in files}))


_checked: dict[Path, tuple[int, int]] = {}


def check_files(folder: Path, pattern: str = "*", most: int = CHECKED_BYTES) -> None:
    """Compare files with their checksums before they are read, once in each process.

    Args:
        folder: A folder that `WholeFolder` wrote. What an older version wrote has no checksums.
        pattern: Which of its files.
        most: Files of more bytes in total are not compared: `turnloom verify` does.

    Raises:
        TurnloomError: If one is damaged; the message names it.
    """
    listed = {
        name: value for name, value in read_listing(folder / LISTING).items() if PurePosixPath(name).match(pattern)
    }
    stats = {name: (folder / name).stat() for name in listed if (folder / name).is_file()}
    if sum(stat.st_size for stat in stats.values()) > most:
        return
    stamps = {folder / name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}
    new = {name: value for name, value in listed.items() if _checked.get(folder / name) != stamps.get(folder / name)}
    for path, problem in differing(folder, new).items():
        raise TurnloomError(f"{path} {problem}", "restore it from a backup, or make it again")
    _checked.update(stamps)


def refuse_other_files(folder: Path, what: str, beside: Collection[str] = ()) -> None:
    """Refuse a folder that contains other files.

    Raises:
        TurnloomError: If there are any; the message names the first ones.
    """
    if folder.exists() and not folder.is_dir():
        raise TurnloomError(f"{folder} is a file", "choose a folder")
    known = listed_files(folder)
    own = {PARTIAL, LISTING, *beside}
    others = []
    for top in sorted(folder.iterdir()) if folder.exists() else []:
        if top.name not in own:
            below = sorted(top.rglob("*")) if top.is_dir() and not top.is_symlink() else [top]
            names = (path.relative_to(folder).as_posix() for path in below if not path.is_dir() or path == top)
            others += [name for name in names if name not in known]
    if others:
        named = ", ".join(others[:_NAMED]) + (f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else "")
        raise TurnloomError(f"{folder} holds files that are not {what}'s ({named})", "choose an empty folder")


def _inside(folder: Path, name: str) -> bool:
    """Whether a listed name is a file inside the folder after following links; a forged list must not delete others."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return False
    return (folder / pure).parent.resolve().is_relative_to(folder.resolve())


def _remove_empty(folder: Path, name: str) -> None:
    """Remove the folders of a deleted file that are now empty."""
    with suppress(OSError):  # It is not empty, or already gone.
        for parent in PurePosixPath(name).parents[:-1]:
            (folder / parent).rmdir()
