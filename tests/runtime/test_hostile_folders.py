"""Model folders that try to run code, open a pickle or leave their folder: each is refused, and nothing runs."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.runtime.test_encoder import tiny_model
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.runtime.scorer import load_scorer

pytest.importorskip("onnxruntime")
CANARY = "canary"
EVIL = """import pathlib
pathlib.Path({canary!r}).touch()
class Evil:
    @classmethod
    def load(cls, *args, **kwargs): return cls()
    from_pretrained = load
"""
_unpickled: list[str] = []


def _hear(event: str, details: tuple[Any, ...]) -> None:
    if event == "pickle.find_class" or (event == "open" and str(details[0]).endswith(".bin") and details[1] == "rb"):
        _unpickled.append(f"{event} {details}")


@functools.cache
def listen() -> None:
    """Hear every pickle and every .bin that this process opens; a hook cannot be taken away again."""
    sys.addaudithook(_hear)


@dataclass(frozen=True)
class Hostile:
    """A folder that an attacker sends.

    Attributes:
        name: What it does.
        base: What it looks like: an encoder with heads, its export or a cross-encoder.
        spoil: Makes it hostile, given the folder and where its code would leave a trace.
        says: What the refusal names.
    """

    name: str
    base: str
    spoil: Callable[[Path, Path], None]
    says: str


def write_bases(folder: Path) -> Path:
    """Harmless folders to spoil: encoder, export, scorer and plain."""
    import torch

    from tests.objectives.cross_encoders import tiny_cross_encoder
    from turnloom.objectives import ContextReplyHeads
    from turnloom.runtime.export import export_model
    from turnloom.training.losses import keep_heads

    (folder / "plain").mkdir(parents=True)
    tiny_model.folder = folder / "plain"  # type: ignore[attr-defined]
    torch.manual_seed(1)
    heads = ContextReplyHeads(32)
    model = keep_heads(tiny_model(), {"query": heads.context, "document": heads.reply})
    model.save_pretrained(str(folder / "encoder"), create_model_card=False)
    export_model(folder / "encoder", folder / "export")
    scorer = tiny_cross_encoder(folder / "tiny", ["hello", "yes", "no"])
    scorer.save_pretrained(str(folder / "scorer"), create_model_card=False)
    return folder


def change(path: Path, more: Any) -> None:
    """Add to a JSON file."""
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps([*known, more] if isinstance(known, list) else {**known, **more}))


def write_code(folder: Path, canary: Path) -> None:
    (folder / "modeling_evil.py").write_text(EVIL.format(canary=str(canary)))


def add_module(folder: Path, kind: str, path: str = "") -> None:
    change(folder / "modules.json", {"idx": 9, "name": "9", "path": path, "type": kind})


def module_in_the_folder(folder: Path, canary: Path) -> None:
    write_code(folder, canary)
    add_module(folder, "modeling_evil.Evil")


def module_of_a_package(folder: Path, canary: Path) -> None:
    package = folder.parent / "evil_package"  # `refusal` makes it importable.
    package.mkdir()
    (package / "__init__.py").write_text(EVIL.format(canary=str(canary)))
    add_module(folder, "evil_package.Evil")


def auto_map(file: str, key: str) -> Callable[[Path, Path], None]:
    def spoil(folder: Path, canary: Path) -> None:
        write_code(folder, canary)
        named: Any = "modeling_evil.Evil" if key != "AutoTokenizer" else ["modeling_evil.Evil", "modeling_evil.Evil"]
        change(folder / file, {"auto_map": {key: named}, "tokenizer_class": "Evil", "model_type": "evil"})

    return spoil


def loading_options(folder: Path, canary: Path) -> None:
    auto_map("config.json", "AutoModel")(folder, canary)
    config = json.loads((folder / "config.json").read_text())
    del config["auto_map"]
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "bert"}))
    options = {"trust_remote_code": True, "subfolder": "..", "use_safetensors": False}
    change(folder / "sentence_bert_config.json", {"model_args": options, "config_args": options})


class Payload:
    """Runs code when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.canary}",)


def pickled_weights(folder: Path, canary: Path) -> None:
    import torch

    dense = next(folder.glob("*_Router/query_0_Dense"))
    (dense / "model.safetensors").unlink()
    torch.save({"linear.weight": Payload(canary)}, dense / "pytorch_model.bin")


def activation(folder: Path, canary: Path) -> None:
    write_code(folder, canary)
    change(next(folder.glob("*_Router/query_0_Dense/config.json")), {"activation_function": "modeling_evil.Evil"})


def router_type(folder: Path, canary: Path) -> None:
    write_code(folder, canary)
    path = next(folder.glob("*_Router/router_config.json"))
    change(path, {"types": {**json.loads(path.read_text())["types"], "query_0_Dense": "modeling_evil.Evil"}})


def leaves_by_path(folder: Path, canary: Path) -> None:
    pickled_weights(folder, canary)
    shutil.move(next(folder.glob("*_Router/query_0_Dense")), folder.parent / "outside")
    shutil.copytree(next(folder.glob("*_Router/query_1_Dense")), next(folder.glob("*_Router")) / "query_0_Dense")
    add_module(folder, "sentence_transformers.base.modules.dense.Dense", "../outside")


def leaves_by_weights(folder: Path, canary: Path) -> None:
    import onnx

    graph = onnx.load(str(folder / "model.onnx"))
    onnx.save_model(graph, str(folder / "model.onnx"), save_as_external_data=True, location="weights", size_threshold=0)
    shutil.move(folder / "weights", folder.parent / "outside")
    graph = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    for tensor in graph.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../outside"
    onnx.save_model(graph, str(folder / "model.onnx"))


HOSTILE = [
    Hostile("a module that lies in the folder", "encoder", module_in_the_folder, "the class 'modeling_evil.Evil'"),
    Hostile(
        "a module of the standard library",
        "encoder",
        lambda folder, canary: add_module(folder, "subprocess.Popen"),
        "the class 'subprocess.Popen'",
    ),
    Hostile("a module of another package", "encoder", module_of_a_package, "the class 'evil_package.Evil'"),
    Hostile("code for the network", "encoder", auto_map("config.json", "AutoModel"), "asks to run code (auto_map)"),
    Hostile("code for the tokenizer", "encoder", auto_map("tokenizer_config.json", "AutoTokenizer"), "code (auto_map)"),
    Hostile(
        "code for an export's tokenizer", "export", auto_map("tokenizer_config.json", "AutoTokenizer"), "(auto_map)"
    ),
    Hostile("options for loading", "encoder", loading_options, "sentence_bert_config.json"),
    Hostile("weights in a pickle", "encoder", pickled_weights, "has its weights in a pickle (pytorch_model.bin)"),
    Hostile("an activation that is code", "encoder", activation, "the activation 'modeling_evil.Evil'"),
    Hostile("a route that is code", "encoder", router_type, "the class 'modeling_evil.Evil'"),
    Hostile("a path that leads out", "encoder", leaves_by_path, "the path '../outside'"),
    Hostile("a graph whose weights lie outside", "export", leaves_by_weights, "reads weights from other files"),
]


def calls_torch(folder: Path, canary: Path) -> None:
    change(folder / "config.json", {"sentence_transformers": {"activation_fn": "torch.hub.get_dir"}})


def code_in_a_route(folder: Path, canary: Path) -> None:
    path = next(folder.glob("*_Router/router_config.json"))
    route = path.parent / "query_9_Transformer"
    shutil.copytree(folder.parent / "bases" / "plain", route)
    auto_map("tokenizer_config.json", "AutoTokenizer")(route, canary)
    kind = "sentence_transformers.base.modules.transformer.Transformer"
    change(path, {"types": {**json.loads(path.read_text())["types"], route.name: kind}})


def more_of(file: str, values: dict[str, Any]) -> Callable[[Path, Path], None]:
    return lambda folder, canary: change(folder / file, values)


SHARD = {"weight_map": {"a": "../evil.safetensors"}}
PICKLED_SHARD = {"weight_map": {"a": "pytorch_model-1.bin"}}
OTHERS = [
    Hostile("a cross-encoder's network", "scorer", auto_map("config.json", "AutoModel"), "code (auto_map)"),
    Hostile("a cross-encoder's activation", "scorer", calls_torch, "the activation 'torch.hub.get_dir'"),
    Hostile("a plain network", "plain", auto_map("config.json", "AutoModel"), "code (auto_map)"),
    Hostile("a tokenizer in a route", "encoder", code_in_a_route, "query_9_Transformer/tokenizer_config.json asks"),
    Hostile("an adapter", "plain", more_of("adapter_config.json", {"base_model_name_or_path": "/"}), "an adapter"),
    Hostile("a shard outside", "plain", more_of("model.safetensors.index.json", SHARD), "'../evil.safetensors'"),
    Hostile(
        "a pickled shard", "plain", more_of("model.safetensors.index.json", PICKLED_SHARD), "'pytorch_model-1.bin'"
    ),
    Hostile("a kernel", "plain", more_of("config.json", {"attn_implementation": "evil/kernel"}), "'evil/kernel'"),
    Hostile(
        "modules that are none", "encoder", lambda f, c: (f / "modules.json").write_text("[3]") and None, "damaged"
    ),
    Hostile("an export that is none", "export", lambda f, c: (f / "model.onnx").write_text("no") and None, "cannot be"),
]


def refusal(hostile: Hostile, bases: Path, world: Path) -> str:
    """What is said of a folder when it is loaded with consent waiting on standard input; empty unless it is refused."""
    listen()
    folder, canary = world / "folder", world / CANARY
    shutil.copytree(bases / hostile.base, folder)
    hostile.spoil(folder, canary)
    _unpickled.clear()
    load = load_scorer if hostile.base == "scorer" else load_encoder
    importable = [str(world), *sys.path]
    with mock.patch.object(sys, "stdin", io.StringIO("y\n" * 9)), mock.patch.object(sys, "path", importable):
        try:
            load(folder)
        except TurnloomError as error:
            said = str(error)
        else:
            return ""
    ran = canary.exists() or _unpickled or "evil_package" in sys.modules
    return "" if ran or "\n" in said else said


@contextlib.contextmanager
def _world(bases: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="turnloom-") as folder:
        (Path(folder) / "bases").symlink_to(bases)
        yield Path(folder)


def refused(bases: Path) -> list[bool]:
    """Whether each of the hostile folders is refused as it should be."""
    found = []
    for hostile in HOSTILE:
        with _world(bases) as world:
            found.append(hostile.says in refusal(hostile, bases, world))
    return found


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bases(tmp_path_factory.mktemp("bases") / "bases")


@pytest.mark.parametrize("hostile", [*HOSTILE, *OTHERS], ids=lambda hostile: hostile.name)
def test_a_hostile_folder_is_refused_and_nothing_runs(hostile: Hostile, bases: Path) -> None:
    with _world(bases) as world:
        assert hostile.says in refusal(hostile, bases, world)
        assert not (world / CANARY).exists()
        assert not _unpickled


def test_the_twelve_of_the_study_are_twelve() -> None:
    assert len(HOSTILE) == 12


def test_a_message_piped_in_is_no_consent(bases: Path, tmp_path: Path) -> None:
    shutil.copytree(bases / "export", tmp_path / "folder")
    auto_map("tokenizer_config.json", "AutoTokenizer")(tmp_path / "folder", tmp_path / CANARY)
    command = [sys.executable, "-m", "turnloom.cli.main", "embed", str(tmp_path / "folder"), "-"]
    done = subprocess.run(command, input="y\nhello\n", capture_output=True, text=True, cwd=tmp_path, check=False)
    assert not (tmp_path / CANARY).exists()
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert "asks to run code (auto_map). Fix: " in lines[0]


def test_harmless_folders_are_loaded(bases: Path, tmp_path: Path) -> None:
    load_scorer(bases / "scorer")
    for name in ("export", "plain", "encoder"):
        load_encoder(bases / name)
    # As it comes from a hub: the same weights for other libraries too, which nothing here opens.
    hub = tmp_path / "hub"
    shutil.copytree(bases / "encoder", hub)
    (hub / "pytorch_model.bin").write_bytes(b"a pickle")
    (hub / "openvino").mkdir()
    (hub / "openvino" / "openvino_model.bin").touch()
    change(hub / "sentence_bert_config.json", {"model_args": {"attn_implementation": "sdpa"}})
    change(hub / "config.json", {"auto_map": {}})
    assert load_encoder(hub).encode(["hello"]).shape == (1, 32)
