"""Read the configuration from its file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig


def config_text() -> str:
    """Return the commented default configuration."""
    return (files("turnloom.service") / "config.yaml").read_text(encoding="utf-8")


def load_config(path: Path | str) -> ServiceConfig:
    """Read a configuration file.

    Raises:
        TurnloomError: If the file cannot be read or a setting is wrong; the message names the setting.
    """
    import yaml

    path = Path(path)
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TurnloomError(
            f"{path} cannot be read ({error.strerror})", "write one with: turnloom serve --init"
        ) from error
    except UnicodeDecodeError as error:
        raise TurnloomError(f"{path} is not UTF-8 ({error.reason})", "save it as UTF-8") from error
    except yaml.YAMLError as error:
        raise TurnloomError(f"{path} is not valid YAML ({error})".replace("\n", " "), "fix that line") from error
    try:
        config = ServiceConfig.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise TurnloomError(f"{path}: {place}: {first['msg']}", "see: turnloom serve --init") from error
    return config.within(path.resolve().parent)
