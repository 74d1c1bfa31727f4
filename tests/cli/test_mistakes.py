"""Mistakes that a new user makes: each is one line with its fix, and never a stack trace."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from tests.training.toy import conversations, write_start, write_table
from turnloom.cli.main import main

NOBODY = 65534
QUIET = "HF_HUB_DISABLE_PROGRESS_BARS"
"""Set for the tests, since other modules have imported transformers long before; the command line sets it itself."""
LIMITED = """
import contextlib, io, os, resource, sys, tempfile
from turnloom.cli.main import main

def run(*arguments):
    sys.argv = ["turnloom", *arguments]
    main()

quota, user, without, *arguments = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
if without:
    sys.modules[without] = None
if quota:
    resource.setrlimit(resource.RLIMIT_FSIZE, (quota, quota))
if user and os.getuid() == 0:
    # What commands import on their way is imported now: the interpreter's own files may be closed to that user.
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        page = ["--html", f"{folder}/page.html"]
        convert = ["convert", "chats.csv", "--out", f"{folder}/table"]
        for first in (["inspect", "chats.csv", *page], ["inspect", "corpus", *page], convert):
            with contextlib.suppress(SystemExit):
                run(*first)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
try:
    run(*arguments)
except SystemExit as end:
    # Libraries import at their end too, which this user may not.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code or 0)
"""
"""The command line under a limit of a file's size, or as a user who owns nothing."""


@dataclass(frozen=True)
class Mistake:
    """What a user did, typed in the folder of `write_world`, and what the answer has to say.

    Attributes:
        name: The mistake in a few words.
        command: What was typed.
        says: Stands in the answer.
        without: A package that is not installed.
        quota: No file can be longer than so many bytes: a disk that is nearly full.
        as_nobody: Whether the user owns nothing.
        apart: Whether the command runs in a process of its own, as it does for users.
    """

    name: str
    command: str
    says: str
    without: str = ""
    quota: int = 0
    as_nobody: bool = False
    apart: bool = False


MISTAKES = [
    Mistake(
        "a first command on nothing", "quickstart caths.csv --start model --out {out}", "caths.csv matches no file"
    ),
    Mistake(
        "a first command with too little", "quickstart chats.csv --start model --out {out}", "give more conversations"
    ),
    Mistake("a misspelt command", "trian dse corpus --out {out}", "No such command 'trian'"),
    Mistake("a misspelt option", "convert chats.csv --outt {out}", "No such option"),
    Mistake("a forgotten option", "convert chats.csv", "Missing option '--out'. Fix: see turnloom convert --help"),
    Mistake(
        "a number that is none",
        "train dse corpus --start model --out {out} --minutes ten",
        "Invalid value for '--minutes'",
    ),
    Mistake(
        "a file that is not there", "convert caths.csv --out {out}", "caths.csv matches no file. Fix: check the path"
    ),
    Mistake("a folder without logs", "convert nothing --out {out}", "nothing matches no file"),
    Mistake("a spreadsheet instead of a CSV", "convert chats.xlsx --out {out}", "is no whole Excel workbook"),
    Mistake("a CSV without messages", "convert columns.csv --out {out}", "name it with --map text=COLUMN"),
    Mistake("a CSV with a header alone", "convert header.csv --out {out}", "header.csv: no records"),
    Mistake(
        "a CSV with empty messages", "convert silent.csv --out {out}", "none of the 2 readable records has any text"
    ),
    Mistake(
        "a CSV of which no row can be read",
        "convert short.csv --out {out}",
        "all 2 records were rejected, mostly because it has 2 fields, the header has 3 (short.csv:2)",
    ),
    Mistake("rows that cannot be read, inspected", "inspect short.csv", "all 2 records were rejected"),
    Mistake("rows that cannot be read, prepared", "prepare short.csv --out {out}", "all 2 records were rejected"),
    Mistake(
        "a first command on rows that cannot be read",
        "quickstart short.csv --start model --out {out}",
        "all 2 records were rejected",
    ),
    Mistake(
        "a misspelt field",
        "convert chats.csv --map roel=role --out {out}",
        "--map has no field 'roel'. Fix: its fields are dialogue_id, text, speaker, turn, time, intent, "
        "language, dates, agent",
    ),
    Mistake("a misspelt field of JSON", "convert chats.jsonl --map roel=role --out {out}", "has no field 'roel'"),
    Mistake("an empty file", "convert empty.csv --out {out}", "empty.csv is empty. Fix: leave it out"),
    Mistake("an output folder with other files", "convert chats.csv --out other", "holds files that are not a table's"),
    Mistake("a table that is there already", "convert chats.csv --out corpus", "add --overwrite"),
    Mistake("an empty file, prepared", "prepare empty.csv --out {out}", "empty.csv is empty"),
    Mistake("half a table", "inspect half", "half holds no whole table"),
    Mistake(
        "logs where a table belongs",
        "train dse chats.csv --start model --out {out}",
        "chats.csv is not a folder. Fix: make a table with: turnloom convert",
    ),
    Mistake("a misspelt recipe", "train dze corpus --start model --out {out}", "did you mean dse"),
    Mistake(
        "a recipe that is not valid YAML",
        "train broken.yaml corpus --start model --out {out}",
        "broken.yaml is not valid YAML",
    ),
    Mistake("no model to start from", "train dse corpus --out {out}", "give --start FOLDER"),
    Mistake("a model of the hub by its name", "train dse corpus --start org/some-model --out {out}", "holds no model"),
    Mistake(
        "a model whose download broke off", "train dse corpus --start cut --out {out}", "cut holds a damaged model"
    ),
    Mistake("too few conversations", "train dse corpus --start model --out {out}", "fewer than a batch"),
    Mistake("a table as a model", "evaluate corpus --suite quick", "corpus holds no model"),
    Mistake("a misspelt suite", "evaluate model --suite quik", "there is no suite 'quik'"),
    Mistake(
        "labels that are missing",
        "intents fit messages.csv --model model --out {out}",
        "messages.csv, message 1: no label",
    ),
    Mistake(
        "an empty file of examples", "intents fit empty.csv --model model --out {out}", "empty.csv holds no message"
    ),
    Mistake(
        "intents with a model of another size",
        "intents predict intents messages.csv --model small",
        "fit again",
        apart=True,
    ),
    Mistake(
        "a table as intents", "intents predict corpus messages.csv", "corpus holds no intents. Fix: make them with"
    ),
    Mistake("replies with a model of another size", "replies search replies --model small hello", "reembed"),
    Mistake("a folder without replies", "replies search nothing --model model hello", "holds no index of replies"),
    Mistake(
        "a reply index without LanceDB",
        "replies build corpus --model model --out {out}",
        "'turnloom[replies]'",
        "lancedb",
    ),
    Mistake("a service without FastAPI", "serve service.yaml", "pip install 'turnloom[serve]'", "fastapi"),
    Mistake("an export without ONNX", "export model --out {out}", "pip install 'turnloom[onnx]'", "onnx"),
    Mistake(
        "a cluster without Ray", "prepare chats.csv --runner ray --out {out}", "pip install 'turnloom[cluster]'", "ray"
    ),
    Mistake("a service that is not configured", "serve", "turnloom serve --init > config.yaml"),
    Mistake("a misspelt setting", "serve misspelt.yaml --check", "misspelt.yaml: prot: Extra inputs"),
    Mistake("a service of models that are elsewhere", "serve elsewhere.yaml --check", "there is no folder"),
    Mistake("a damaged run", "compare runs/damaged runs/b", "results.json holds no results"),
    Mistake("a run that there is not", "compare runs/a runs/b", "has no results.json"),
    Mistake(
        "a full disk, to one file", "inspect corpus --json full.json", "No space left on device. Fix: free some space"
    ),
    Mistake("a full disk, to a table", "convert chats.csv --out {out}", "the output", quota=200),
    Mistake("a full disk, on the way", "prepare corpus --out {out}", "the output", quota=1_500),
    Mistake("a full disk, for a page", "inspect corpus --html {out}.html", "File too large", quota=1_000),
    Mistake(
        "no right to write",
        "convert chats.csv --out locked/{out}",
        "cannot be written (Permission denied). Fix: choose another folder",
        as_nobody=True,
    ),
    Mistake("no right to read", "convert secret.csv --out open/{out}", "secret.csv cannot be read", as_nobody=True),
    Mistake("no right to write a page", "inspect corpus --html locked/o.html", "Permission denied", as_nobody=True),
]


def write_world(folder: Path) -> Path:
    """What the mistakes are made with: good and bad files, a table, two models, intents and replies."""
    os.environ.setdefault(QUIET, "1")
    from turnloom.intents import IntentClassifier
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder

    folder.chmod(0o755)
    texts = {
        "chats.csv": "conversation_id,role,message\n1,customer,where is my parcel\n1,agent,it comes tomorrow\n",
        "chats.jsonl": '{"turns": [{"speaker": "u", "text": "hi"}]}\n',
        "columns.csv": "conv,stuff\n1,hi\n",
        "empty.csv": "",
        "header.csv": "conversation_id,role,message\n",
        "silent.csv": "conversation_id,role,message\n1,customer,\n1,agent, \n",
        "short.csv": "conversation_id,role,message\n1,where is my parcel\n1,it comes tomorrow\n",
        "messages.csv": "text\nplease tell me about q1\n",
        "broken.yaml": "name: [",
        "service.yaml": "model: {path: model}\n",
        "misspelt.yaml": "model: {path: model}\nprot: 8000\n",
        "elsewhere.yaml": "model: {path: nowhere}\n",
        "other/notes.md": "mine",
        "half/.files.json": '["part-00000.parquet"]',
        "half/part-00000.parquet": "PAR1",
        "runs/damaged/results.json": "{",
        "secret.csv": "conversation_id,message\n1,hi\n",
    }
    for name in ("nothing", "locked", "open", "other", "half", "runs/damaged"):
        (folder / name).mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "chats.xlsx").write_bytes(b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00" + bytes(range(200)))
    (folder / "full.json").symlink_to("/dev/full")
    write_table(folder / "corpus", conversations(40))
    write_start(folder / "model")
    write_start(folder / "small", width=16)
    write_start(folder / "cut")
    weights = folder / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    said = [f"please tell me about q{n}" for n in range(8)]
    IntentClassifier(str(folder / "model")).fit(said, ["odd", "even"] * 4).save(folder / "intents")
    ReplyIndex.build([folder / "corpus"], folder / "replies", load_encoder(folder / "model"))
    (folder / "secret.csv").chmod(0o600 if os.getuid() == 0 else 0)
    (folder / "locked").chmod(0o555)
    (folder / "open").chmod(0o777)
    return folder


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def answer(mistake: Mistake, world: Path) -> tuple[int, str]:
    """How a command ended, and what it said on standard error."""
    arguments = mistake.command.format(out=mistake.name.replace(" ", "-")).split()
    # A package that was imported cannot be missed any more: a service without FastAPI would be served.
    if mistake.quota or mistake.as_nobody or mistake.apart or mistake.without:
        limits = [str(mistake.quota), str(NOBODY if mistake.as_nobody else 0), mistake.without]
        command = [sys.executable, "-c", LIMITED, *limits, *arguments]
        plain = {name: value for name, value in os.environ.items() if name != QUIET}
        done = subprocess.run(command, cwd=world, env=plain, capture_output=True, text=True, timeout=600, check=False)
        return done.returncode, done.stderr
    said = io.StringIO()
    with (
        _inside(world),
        mock.patch.object(sys, "argv", ["turnloom", *arguments]),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
    ):
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0), said.getvalue()
    return 0, said.getvalue()


def is_one_line(code: int, said: str) -> bool:
    """Whether an answer is one line with what is wrong and what fixes it, and the command failed."""
    lines = [line for line in said.splitlines() if line.strip()]
    return code != 0 and len(lines) == 1 and lines[0].startswith("error: ") and ". Fix: " in lines[0]


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    # Not pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="turnloom-") as folder:
        yield write_world(Path(folder))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_one_line_with_its_fix(mistake: Mistake, world: Path) -> None:
    code, said = answer(mistake, world)
    assert mistake.says in said
    assert is_one_line(code, said), said


HEAVY = """
import sys
from turnloom.cli.main import main
sys.argv = ["turnloom", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    print(end.code, *sorted({"torch", "sklearn", "lancedb", "sentence_transformers"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "command",
    [
        "quickstart chats.csv --start missing --out {out}",
        "train dse table --start missing --out {out}",
        "train dse table --set model.start=missing --out {out}",
        "intents fit examples.csv --model missing --out {out}",
        "embed missing examples.csv",
    ],
)
def test_a_missing_model_is_told_before_anything_heavy_is_imported(tmp_path: Path, command: str) -> None:
    (tmp_path / "chats.csv").write_text("conversation_id,role,message\n1,customer,hi\n1,agent,hello\n")
    (tmp_path / "examples.csv").write_text("text,label\nhi,greeting\nbye,farewell\n")
    arguments = command.format(out=tmp_path / "out").split()
    done = subprocess.run(
        [sys.executable, "-c", HEAVY, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "missing holds no model" in done.stderr
    assert done.stdout.split() == ["2"]
