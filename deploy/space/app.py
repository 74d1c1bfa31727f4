"""Open the studio to everybody who visits a Hugging Face Space.

The Space names its own address in SPACE_HOST; without it, the studio answers at 127.0.0.1 only.
"""

from __future__ import annotations

import os
from pathlib import Path

import uvicorn

from turnloom.studio.server import create_app
from turnloom.studio.workspace import Workspace

HUB = "https://huggingface.co"
"""Shows a Space inside a page of its own."""


def main() -> None:
    """Serve the studio in the folder `studio` until the Space stops."""
    name = os.environ.get("SPACE_HOST")
    work = Workspace(Path("studio"))
    app = create_app(work, host=name or "127.0.0.1", publishes=False, shown_in=(HUB,))
    work.warm_up()
    port = int(os.environ.get("PORT", "7860"))
    uvicorn.run(app, host="0.0.0.0" if name else "127.0.0.1", port=port, log_level="warning", ws="none")


if __name__ == "__main__":
    main()
