"""The catalog of public dialogue sets; `catalog.yaml` describes each one."""

from __future__ import annotations

import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from turnloom.corpus.readers import ReadOptions
from turnloom.corpus.readers.source import LogFile
from turnloom.errors import TurnloomError, did_you_mean

__all__ = ["DataFile", "DataSet", "data_root", "get_dataset", "load_catalog", "training_dialogues"]

Split = Literal["train", "dev", "test", "all"]


class DataFile(BaseModel):
    """One file of a set: the type and number of its rows."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    rows: int
    turns: int | None = None


class DataSet(BaseModel):
    """A public set: its use, source and licence."""

    model_config = ConfigDict(extra="forbid")

    name: str
    title: str
    tasks: list[str]
    labels: list[Literal["acts", "intents"]] = Field(default_factory=list)
    language: str
    use: Literal["open", "noncommercial", "unclear"]
    licence: str
    sources: list[str]
    citation: str
    note: str = ""
    files: dict[str, DataFile]
    splits: dict[Split, list[str]]
    split_rule: dict[Split, int] | None = None
    overlaps: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> DataSet:
        unknown = [name for names in self.splits.values() for name in names if name not in self.files]
        if unknown:
            raise ValueError(f"{self.name}: splits name files that are not listed: {unknown}")
        if self.split_rule is not None and sum(self.split_rule.values()) != 100:
            raise ValueError(f"{self.name}: the parts of split_rule do not add up to 100")
        return self

    @property
    def available_splits(self) -> list[str]:
        """The splits of the set, including `all`."""
        return list(dict.fromkeys([*(self.split_rule or {}), *self.splits, "all"]))

    def split_files(self, split: str) -> list[str]:
        """Return the file names of a split; for a split by rule, the files it selects from."""
        if split in self.splits:
            return self.splits[split]
        if split == "all" or (self.split_rule and split in self.split_rule):
            return list(dict.fromkeys(name for names in self.splits.values() for name in names))
        raise TurnloomError(f"{self.name} has no split {split!r}", f"it has {', '.join(self.available_splits)}")

    def split_range(self, split: str) -> tuple[str, int, int] | None:
        """Return the salt and the buckets of a split by rule."""
        if self.split_rule is None or split == "all":
            return None
        start = 0
        for part, share in self.split_rule.items():
            if part == split:
                return self.name, start, start + share
            start += share
        return None

    def folder(self) -> Path:
        """Return the set's folder on this machine."""
        root = data_root()
        for place in (root / self.name, root / "unclear" / self.name):
            if place.is_dir():
                return place
        raise TurnloomError(
            f"{self.name} is not in {root}",
            f"see 'turnloom data info {self.name}' for where to get it, or set TURNLOOM_DATA",
        )

    def path(self, file: str) -> Path:
        """Return the path of a file of the set."""
        path = self.folder() / f"{file}.jsonl.gz"
        if not path.is_file():
            raise TurnloomError(f"{path} is missing", f"see 'turnloom data info {self.name}' for where to get it")
        return path

    def logs(self, split: str) -> list[LogFile]:
        """Return the dialogues of a split, ready for `convert`."""
        names = [name for name in self.split_files(split) if self.files[name].kind == "dialogues"]
        if not names:
            kinds = ", ".join(sorted({file.kind for file in self.files.values()}))
            raise TurnloomError(f"{self.name} holds no dialogues ({kinds})", "'turnloom data list' shows which sets do")
        keep = self.split_range(split)
        return [
            LogFile(
                str(self.path(name)), "turns", ReadOptions(self.name, f"{self.name}-{name}", {}, self.language), keep
            )
            for name in names
        ]


def data_root() -> Path:
    """The folder of public sets: ``$TURNLOOM_DATA``, else ``~/.cache/turnloom/data``."""
    return Path(os.environ.get("TURNLOOM_DATA") or Path.home() / ".cache" / "turnloom" / "data")


@cache
def load_catalog() -> dict[str, DataSet]:
    """Load every known set by name."""
    text = resources.files("turnloom.corpus.catalog").joinpath("catalog.yaml").read_text(encoding="utf-8")
    return {name: DataSet(name=name, **entry) for name, entry in yaml.safe_load(text).items()}


def get_dataset(name: str) -> DataSet:
    """Return a set by name.

    Example:
        >>> get_dataset("clinc150").licence
        'CC BY 3.0 (LICENSE in the repository)'
    """
    catalog = load_catalog()
    if name not in catalog:
        hint = did_you_mean(name, catalog) or "'turnloom data list' shows all names"
        raise TurnloomError(f"there is no set called {name!r}", hint)
    return catalog[name]


def training_dialogues(use: str = "open") -> list[DataSet]:
    """Return the dialogue sets that a type of licence allows you to train on."""
    return [entry for entry in load_catalog().values() if entry.use == use and "corpus" in entry.tasks]
