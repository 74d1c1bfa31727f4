"""What the tabs share: notices, colours, files of the page."""

from __future__ import annotations

import colorsys
from importlib.resources import files

from markupsafe import Markup, escape

from turnloom.errors import TurnloomError

LONGEST_SHOWN = 240


def asset(name: str) -> str:
    """Return a file of the page."""
    return (files("turnloom.studio") / "assets" / name).read_text(encoding="utf-8")


def notice(text: str) -> str:
    """Render what happened."""
    return Markup('<p class="notice" role="status">{}</p>').format(text) if text else ""


def refusal(error: TurnloomError) -> str:
    """Render what did not work, and what helps."""
    return Markup('<p class="notice wrong" role="alert">{}. {}.</p>').format(
        _sentence(error.problem), _sentence(error.fix)
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def plain(text: object) -> str:
    """Escape a text for HTML."""
    return str(escape(text))


def colour_of(group: int) -> str:
    """Return a group's colour; numbers that follow each other have different ones."""
    red, green, blue = colorsys.hls_to_rgb((group * 0.381966) % 1, (0.5, 0.42, 0.58)[group % 3], 0.62)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Cut a long text, and put it on one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
