"""The studio as a web application, and the process that serves it."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Encoder
from turnloom.studio.exports import as_csv, as_json_lines, as_rasa
from turnloom.studio.learning import Learner
from turnloom.studio.workspace import Workspace

KEY_VARIABLE = "TURNLOOM_STUDIO_KEY"


def check_installed() -> None:
    """Check that what the studio needs is installed.

    Raises:
        TurnloomError: If it is not.
    """
    missing = [name for name in ("gradio", "openTSNE", "uvicorn") if find_spec(name) is None]
    if missing:
        raise TurnloomError(f"the studio needs {', '.join(missing)}", "pip install 'turnloom[studio]'")


def create_app(
    work: Workspace,
    *,
    key: str | None = None,
    host: str = "127.0.0.1",
    publishes: bool = True,
    shown_in: Sequence[str] = (),
) -> Any:
    """Return the studio as an ASGI application.

    Args:
        work: The opened studio.
        key: What opens it; None if only this machine can reach it, or everybody may.
        host: The address that it listens at, or the name that it is called by.
        publishes: Whether it can publish to services; whoever opens it can then send requests from this machine.
        shown_in: Sites whose pages may show it inside them, such as ``https://huggingface.co``.

    Raises:
        TurnloomError: If Gradio is not installed.
    """
    check_installed()
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # Gradio reads it at import, too.
    import gradio as gr
    from fastapi import FastAPI

    from turnloom.studio.access import Access
    from turnloom.studio.page.parts import asset
    from turnloom.studio.page.shell import build_page, theme

    app, learner = FastAPI(openapi_url=None), Learner(work)
    _add_map(app, work)
    _add_downloads(app, learner)
    page = gr.mount_gradio_app(
        app,
        build_page(work, learner, publishes=publishes),
        "/",
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        theme=theme(),
        css=asset("studio.css"),
    )
    return Access(page, key, host, shown_in)


def _add_map(app: Any, work: Workspace) -> None:
    """Add what the map reads: where its points are, once, and which group each is in, after every edit."""
    from fastapi import Response

    @app.get("/studio/points")  # type: ignore[untyped-decorator]
    def points() -> Response:
        whole = np.clip((work.files.points + 1) / 2 * 65_535, 0, 65_535).round().astype("<u2")
        return Response(whole.tobytes(), media_type="application/octet-stream")

    @app.get("/studio/groups")  # type: ignore[untyped-decorator]
    def groups() -> Response:
        shown = work.board.group[work.shown].astype("<i4")
        return Response(shown.tobytes(), media_type="application/octet-stream", headers={"Cache-Control": "no-store"})


def _add_downloads(app: Any, learner: Learner) -> None:
    """Add the intents as files."""
    from fastapi import Response

    written = {"intents.csv": as_csv, "intents.jsonl": as_json_lines, "nlu.yml": as_rasa}

    @app.get("/studio/{name}")  # type: ignore[untyped-decorator]
    def download(name: str) -> Response:
        if name not in written:
            return Response("There is nothing here.", 404, media_type="text/plain")
        try:
            text = written[name](learner.examples(learner.work.board)[0])
        except TurnloomError as error:
            return Response(f"{error.problem}: {error.fix}", 409, media_type="text/plain")
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def serve(
    folder: Path,
    encoder: Encoder | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 7860,
    on_start: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a studio until it is stopped.

    Beyond this machine it needs a key: the one in `TURNLOOM_STUDIO_KEY`, or a new one.

    Args:
        folder: The studio's folder.
        encoder: Its encoder, if it is loaded already.
        host: The address to listen at.
        port: The port; 0 for a free one.
        on_start: Called with the address once it can be opened.
    """
    from turnloom.studio.access import is_local

    key = os.environ.get(KEY_VARIABLE) or (None if is_local(host) else f"tw-{secrets.token_urlsafe(32)}")
    work = Workspace(folder, encoder)
    app = create_app(work, key=key, host=host)
    threading.Thread(target=work.warm_up, name="encoder", daemon=True).start()
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, *arguments: Any, **options: Any) -> None:
            await super().startup(*arguments, **options)
            if self.started:
                bound = self.servers[0].sockets[0].getsockname()[1]
                name = f"[{host}]" if ":" in host else host
                on_start(f"http://{name}:{bound}/" + (f"?key={key}" if key else ""))

    Server(uvicorn.Config(app, host=host, port=port, log_level="warning", ws="none")).run()
