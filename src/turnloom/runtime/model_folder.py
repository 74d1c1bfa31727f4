"""Model folders: find them, fingerprint them and report damaged ones."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from turnloom.checksums import CHECKSUMS
from turnloom.errors import TurnloomError
from turnloom.files import LISTING
from turnloom.plugins import find_plugin
from turnloom.words import WORDS

GROUP = "turnloom.models"
CONVERSATION = "conversation"
"""The folder inside a model's folder that holds its conversation encoder."""
RERANK = "rerank"
"""The folder inside a model's folder that holds its re-ranker."""
NOT_THE_MODEL = ("training", "ray", "report.json", "measured", CONVERSATION, RERANK, LISTING, CHECKSUMS)
"""Files that don't change a vector of a turn: training records, measurements, what reads these vectors, the listing."""
MINI = "turnloom-mini"
OWN = {"universal-sentence-encoder": "universal_sentence_encoder"}
"""Models whose folders come with Turnloom, and whose weights come with a package."""
LONGEST = 160


def model_folder(source: str | Path) -> Path:
    """Return the folder of a model, named by its path or by an installed package.

    A package offers a model with an entry point in the group `turnloom.models` that names the module in its folder.
    `OWN` are those that Turnloom has a folder for.

    Args:
        source: A folder, or the name of an installed model; an existing folder takes precedence.

    Raises:
        TurnloomError: If two packages have a model of that name, or the package cannot be imported.
    """
    if str(source) in OWN and not Path(source).exists():
        return Path(__file__).parent / OWN[str(source)]
    plugin = None if Path(source).exists() else find_plugin(GROUP, str(source), ())
    return Path(source) if plugin is None else Path(str(files(plugin.load())))


def no_model(folder: Path) -> TurnloomError:
    """Return the error for a folder without a model."""
    fix = "give the folder of a SentenceTransformer, or install the package of that name"
    if str(folder) == WORDS and not folder.exists():
        fix = f"learn it from your conversations with: turnloom quickstart LOGS --start {WORDS}"
    if str(folder) == MINI:  # It is on no package index, where anybody could take its name.
        fix = f"install it from a clone of Turnloom: pip install ./models/{MINI}"
    return TurnloomError(f"{folder} holds no model", fix)


def find_model(source: str | Path) -> Path:
    """Return the folder of a model like `model_folder`, and check that it exists.

    Commands call this before the imports for loading models, which take seconds.

    Raises:
        TurnloomError: If there is no such folder.
    """
    folder = model_folder(source)
    if not folder.is_dir():
        raise no_model(folder)
    return folder


def folder_fingerprint(folder: Path) -> str:
    """Hash everything in a model's folder that can change a vector."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.relative_to(folder).parts[0] in NOT_THE_MODEL:
            continue
        if path.suffix in (".json", ".safetensors", ".onnx", ".txt", ".model"):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def files_fingerprint(folder: Path, *more: str) -> str:
    """Hash the files of one folder, together with other strings that matter."""
    digest = hashlib.sha256("\x00".join(more).encode())
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def weights_fingerprint(model: Any, *more: str) -> str:
    """Hash a module's weights, together with other strings that matter."""
    digest = hashlib.sha256("\x00".join(more).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:32]


def declared_languages(folder: Path) -> frozenset[str]:
    """Return the languages in the model card's front matter."""
    import yaml

    card = folder / "README.md"
    front = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.DOTALL) if card.exists() else None
    named = (yaml.safe_load(front[1]) or {}).get("language", []) if front else []
    return frozenset([named] if isinstance(named, str) else named)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Load a model without the bars that Transformers prints, unless the environment asks for them."""
    from transformers.utils import logging

    if not logging.is_progress_bar_enabled() or "HF_HUB_DISABLE_PROGRESS_BARS" in os.environ:
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Name the model's folder in errors while it is loaded.

    Raises:
        TurnloomError: If the model cannot be loaded, such as after an incomplete download.
    """
    from safetensors import SafetensorError

    try:
        with no_progress_bars():
            yield
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= LONGEST else reason[:LONGEST] + "…"
        raise TurnloomError(f"{folder} holds a damaged model ({reason})", "copy or download it again") from error
