"""Check a model folder before any library loads it: loading must never run code, open a pickle or leave the folder.

The libraries guard against some of this, each in its own way. One asks on standard input whether to run a folder's
code, and takes the first piped message as the answer. So no folder that could make them ask reaches them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.runtime.model_folder import damage_named

CLASSES = frozenset(
    [
        "Asym",
        "BoW",
        "CNN",
        "Dense",
        "Dropout",
        "LayerNorm",
        "LogitScore",
        "LSTM",
        "Normalize",
        "Pooling",
        "Router",
        "StaticEmbedding",
        "Transformer",
        "WeightedLayerPooling",
        "WordWeights",
    ]
)
"""The sentence-transformers modules that only read JSON and tensors (WordEmbeddings also loads a tokenizer)."""
CLASS = re.compile(r"sentence_transformers\.(?:[a-z_]+\.)*([A-Za-z]+)")
ACTIVATION = re.compile(r"torch\.nn\.(?:modules\.(?:activation|linear)\.)?[A-Z]\w*")
ACTIVATIONS = ("activation_fn", "activation_function", "sbert_ce_default_activation_function")
ROUTERS = ("Asym", "Router")
PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")
INDEX = "model.safetensors.index.json"
LOADING = ("model_args", "model_kwargs", "tokenizer_args", "processor_kwargs", "config_args", "config_kwargs")
HARMLESS = frozenset(
    [
        "add_pooling_layer",
        "attn_implementation",
        "dtype",
        "max_length",
        "model_max_length",
        "padding_side",
        "torch_dtype",
        "truncation_side",
        "use_cache",
    ]
)
"""The loading options that a folder may set."""
NO_CODE = "use a model that needs no code of its own; Turnloom never runs a folder's code"
SAVE_AGAIN = "save the model again with sentence-transformers, which writes safetensors"


def check_folder(folder: Path) -> None:
    """Refuse a model folder that would run code, open a pickle or read files outside itself.

    Args:
        folder: The folder of a SentenceTransformer, a CrossEncoder, a plain transformers model or an export.

    Raises:
        TurnloomError: If it would, or if its configuration is damaged.
    """
    for part in (folder, *_modules(folder)):
        for path in sorted(part.glob("*.json")):
            if path.name != "tokenizer.json":  # Large, and its reader imports nothing.
                _check_values(path, _read(path, folder))
        _check_weights(part, folder)


def check_graph(path: Path) -> None:
    """Refuse an ONNX graph with weights in other files.

    Raises:
        TurnloomError: If it has such weights, if it is not a graph, or if the extra is missing.
    """
    try:
        import onnx
        from onnx.external_data_helper import uses_external_data
    except ImportError as error:
        raise TurnloomError(f"{path.parent} needs onnx", "pip install 'turnloom[onnx]'") from error
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's error classes depend on its build.
        raise TurnloomError(f"{path} cannot be loaded ({_shown(error)})", "export the model again") from error
    if any(uses_external_data(tensor) for tensor in _tensors(model)):
        raise TurnloomError(f"{path} reads weights from other files", "export the model again, into one file")


def _tensors(message: Any) -> Iterator[Any]:
    """Yield every tensor in a graph, including those of subgraphs, functions and constants."""
    from onnx import TensorProto

    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for each in [value] if hasattr(value, "ListFields") else value:
            if isinstance(each, TensorProto):
                yield each
            else:
                yield from _tensors(each)


def _read(path: Path, folder: Path) -> Any:
    with damage_named(folder):
        return json.loads(path.read_text(encoding="utf-8"))


def _mapping(path: Path, key: str, folder: Path) -> dict[str, Any]:
    """Return an object in a JSON file; empty if the file or the key is missing."""
    found = _read(path, folder) if path.exists() else {}
    found = found.get(key) or {} if isinstance(found, dict) else found
    with damage_named(folder):
        if not isinstance(found, dict):
            raise ValueError(f"{path.name} holds no object {key}")
    return found


def _shown(value: object) -> str:
    """Return a value from a folder as one short line."""
    text = repr(str(value))
    return text if len(text) <= 80 else text[:80] + "…"


def _modules(folder: Path) -> Iterator[Path]:
    """Yield the module folders named by modules.json and routers, after checking their class and path."""
    listed = folder / "modules.json"
    if not listed.exists():
        return
    modules = _read(listed, folder)
    with damage_named(folder):
        if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
            raise ValueError("modules.json is no list of modules")
    for module in modules:
        yield from _module(module.get("type"), module.get("path"), folder, folder, listed)


def _module(kind: Any, path: Any, parent: Path, folder: Path, listed: Path) -> Iterator[Path]:
    name = CLASS.fullmatch(kind) if isinstance(kind, str) else None
    if name is None or name[1] not in CLASSES:
        raise TurnloomError(f"{listed} names the class {_shown(kind)}", NO_CODE)
    if not _stays_inside(path):
        raise TurnloomError(f"{listed} names the path {_shown(path)}", "use a model whose files lie in its own folder")
    place = parent / path
    yield place
    if name[1] in ROUTERS:
        for config in (place / "router_config.json", place / "config.json"):
            for route, of_route in _mapping(config, "types", folder).items():
                yield from _module(of_route, route, place, folder, config)


def _stays_inside(path: Any) -> bool:
    if not isinstance(path, str):
        return False
    ways = (PurePosixPath(path), PureWindowsPath(path))
    return not any(way.is_absolute() or way.drive or way.root or ".." in way.parts for way in ways)


def _check_values(path: Path, value: Any) -> None:
    """Refuse values, at any depth, that make a library import or download something."""
    if isinstance(value, list):
        for each in value:
            _check_values(path, each)
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if key in ("auto_map", "trust_remote_code") and each:
            raise TurnloomError(f"{path} asks to run code ({key})", NO_CODE)
        if key in ACTIVATIONS and isinstance(each, str) and "." in each and not ACTIVATION.fullmatch(each):
            raise TurnloomError(f"{path} names the activation {_shown(each)}", "use one of torch.nn")
        if key.endswith("attn_implementation") and ("/" in str(each) or ":" in str(each)):
            raise TurnloomError(f"{path} names the attention {_shown(each)}", "use one that transformers brings")
        if key in LOADING and isinstance(each, dict) and each.keys() - HARMLESS - {"trust_remote_code"}:
            asked = ", ".join(_shown(option) for option in sorted(each.keys() - HARMLESS))
            raise TurnloomError(f"{path} sets {asked} for loading", f"remove {key} from it")
        _check_values(path, each)


def _check_weights(part: Path, folder: Path) -> None:
    """Refuse pickled weights, and weights in another folder."""
    if (part / "adapter_config.json").exists():
        raise TurnloomError(f"{part} holds an adapter", "merge it into its base model and save that")
    shards = _mapping(part / INDEX, "weight_map", folder)
    for shard in sorted(map(str, shards.values())):
        if not _stays_inside(shard) or not shard.endswith(".safetensors"):
            raise TurnloomError(f"{part / INDEX} names the weights {_shown(shard)}", SAVE_AGAIN)
    pickles = sorted(path.name for path in part.glob("*") if path.suffix.lower() in PICKLES)
    if pickles and not shards and not (part / "model.safetensors").exists():
        raise TurnloomError(f"{part} has its weights in a pickle ({pickles[0]})", SAVE_AGAIN)
