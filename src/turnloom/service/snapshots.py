"""Copy everything that a service needs while it runs, and put such a copy back: models, intents, replies and changes.

A snapshot is consistent: while the data of a tenant is copied, no conversations are indexed and nothing is erased, and
writes to each journal wait for the moment in which it is copied. What was acknowledged before is in it.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK
from turnloom.files import WholeFolder, write_whole
from turnloom.journal import Journal, locked
from turnloom.replies.manifest import LOCK, sole_writer
from turnloom.replies.writer import WORK
from turnloom.service.audit import Actor, AuditLog
from turnloom.service.config import ServiceConfig
from turnloom.service.erasure import INDEXING
from turnloom.service.verify import verify

MARKER = "snapshot.json"
TIME = "%Y-%m-%dT%H-%M-%S-%fZ"
SERVING, RESTORING = "serving.lock", "restoring"
"""In the `state` folder: held by all that serve it, and what is being restored."""
JOURNALS = ("intents.jsonl", "replies/pending.jsonl", "replies/adding.jsonl", FEEDBACK)


def _parts(config: ServiceConfig) -> Iterator[tuple[str, ServiceConfig]]:
    """Iterate over the service's own data and that of each tenant, with its folder in a snapshot."""
    yield ".", config
    for name in config.tenant_names:
        yield f"tenants/{name}", config.for_tenant(name)


def _folders(config: ServiceConfig) -> dict[str, Path]:
    """Return the folders of everything but changes, by their names in a snapshot."""
    found = {"model": config.model.path} | ({"reranker": config.reranker.path} if config.reranker else {})
    for where, part in _parts(config):
        found |= {f"{where}/intents": part.intents.folder} if part.intents else {}
        found |= {f"{where}/replies": part.replies.folder} if part.replies else {}
    return found


def take_snapshot(config: ServiceConfig) -> Path:
    """Copy everything to a new folder below `snapshots`, and return it.

    Raises:
        TurnloomError: If something cannot be read, or another process writes to an index.
    """
    config = config.following_links()
    name = datetime.now(timezone.utc).strftime(TIME)
    config.snapshots.mkdir(mode=0o700, parents=True, exist_ok=True)
    out = config.snapshots / name
    whole = WholeFolder(out, MARKER, "a snapshot")
    out.chmod(0o700)
    try:
        for model, folder in _folders(config).items():
            if model in ("model", "reranker"):
                shutil.copytree(folder, whole.new / model)
        for where, part in _parts(config):
            _copy_data(part, whole.new / where)
        about = {"version": __version__, "taken": name, "folders": sorted(_folders(config))}
        write_whole(whole.new / MARKER, json.dumps(about, indent=1) + "\n")
        whole.commit()
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    return out


def _copy_data(config: ServiceConfig, out: Path) -> None:
    """Copy the intents, the replies and the journals of a tenant, as they are at one moment."""
    state = config.state
    with ExitStack() as stack:
        if config.replies is not None:
            stack.enter_context(locked(state / "replies" / INDEXING))
            stack.enter_context(sole_writer(config.replies.folder))
            ignored = shutil.ignore_patterns(LOCK, WORK)
            shutil.copytree(config.replies.folder, out / "replies", ignore=ignored)
        for name in JOURNALS:
            journal = Journal(state / name)
            with journal.writing():
                if name == JOURNALS[0] and config.intents is not None:
                    shutil.copytree(config.intents.folder, out / "intents")
                if journal.path.exists():
                    (out / "state" / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(journal.path, out / "state" / name)


@contextmanager
def serving(state: Path) -> Iterator[None]:
    """Keep a service's state from being restored, with all others that serve it.

    Raises:
        TurnloomError: If a restore was interrupted.
    """
    with (state / SERVING).open("a") as file:
        _lock(file, fcntl.LOCK_SH, "it is being restored", "wait until that is done")
        if (state / RESTORING).exists():
            snapshot = (state / RESTORING).read_text(encoding="utf-8")
            raise TurnloomError(f"{state}: a restore was interrupted", f"run it again: turnloom restore {snapshot}")
        yield


def _lock(file: IO[str], how: int, problem: str, fix: str) -> None:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise TurnloomError(problem, fix) from error


def restore_snapshot(snapshot: Path, config: ServiceConfig) -> None:
    """Put everything back as it was when a snapshot was taken: models, intents, replies and changes together.

    If it is interrupted, the service does not start until the same call has finished it.

    Raises:
        TurnloomError: If the folder holds no whole snapshot or not one of this service, or the service runs.
    """
    if not (snapshot / MARKER).is_file():
        raise TurnloomError(f"{snapshot} holds no whole snapshot", "take one with: turnloom snapshot CONFIG")
    damage = verify(snapshot).problems
    for path, problem in damage.items():
        raise TurnloomError(f"{path} {problem}", "restore another snapshot")
    saved = json.loads((snapshot / MARKER).read_text(encoding="utf-8"))["folders"]
    for name in config.tenant_names:  # On another machine, there are none yet.
        for kind in ("intents", "replies"):
            if f"tenants/{name}/{kind}" in saved:
                (config.tenants / name / kind).mkdir(parents=True, exist_ok=True)
    folders = _folders(config)
    if saved != sorted(folders):
        problem = f"{snapshot} has other parts than the configuration"
        raise TurnloomError(problem, "use the configuration with which it was taken")
    config.state.mkdir(parents=True, exist_ok=True)
    with (config.state / SERVING).open("a") as file:
        _lock(file, fcntl.LOCK_EX, "the service is running", "stop it, restore, and start it again")
        with AuditLog(config.state).change(Actor(command="turnloom restore"), "restore", snapshot=snapshot.name):
            staged = {folder: _stage(snapshot / name, folder) for name, folder in folders.items()}
            write_whole(config.state / RESTORING, str(snapshot.resolve()))
            for folder, new in staged.items():
                _swap(folder, new)
            for where, part in _parts(config):
                _restore_journals(snapshot / where / "state", part.state)
            (config.state / RESTORING).unlink()


def erasures_since(snapshot: Path, config: ServiceConfig) -> list[dict[str, Any]]:
    """Return the audit log's lines of erasures over HTTP since a snapshot was taken. A restore undoes them."""
    taken = json.loads((snapshot / MARKER).read_text(encoding="utf-8"))["taken"]
    began = datetime.strptime(taken, TIME).replace(tzinfo=timezone.utc)
    lines = [line for _, part in _parts(config) for line in AuditLog(part.state).read()]
    erasures = [line for line in lines if line["action"] == "erase" and not {"done", "failed"} & set(line)]
    return [line for line in erasures if datetime.fromisoformat(line["time"]) >= began]


def _stage(source: Path, folder: Path) -> Path:
    """Copy a folder beside the one that it is to replace."""
    new = folder.with_name(f".{folder.name}-restored")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(source, new)
    return new


def _swap(folder: Path, new: Path) -> None:
    old = folder.with_name(f".{folder.name}-before")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _restore_journals(saved: Path, state: Path) -> None:
    for name in JOURNALS:
        path = state / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (saved / name).exists():
            temporary = path.with_name(f".{path.name}-restored")
            shutil.copy2(saved / name, temporary)
            temporary.replace(path)
        else:
            path.unlink(missing_ok=True)
    shutil.rmtree(state / "replies" / "adding", ignore_errors=True)
