"""`turnloom vectors`: encode conversations once."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import typer

from turnloom.cli.console import BF16, TABLES, command_line, say, share_progress, warn
from turnloom.errors import TurnloomError


def vectors(
    tables: list[Path] = TABLES,
    model: str = typer.Option(
        ...,
        help="A model's folder, an ONNX export or an installed model; with --endpoint, the name the server has for it.",
    ),
    out: Path = typer.Option(..., help="The vector table's folder."),
    endpoint: str | None = typer.Option(
        None, help="The address of an OpenAI-compatible server, up to /v1. Its key comes from OPENAI_API_KEY."
    ),
    bf16: bool = BF16,
    runner: str = typer.Option("native", help="Where it runs: native (this process) or ray."),
) -> None:
    """Encode every distinct text of your conversations once, so that all that follows takes minutes.

    Replies, intents, training and evaluation read the result with --vectors. Run it again when new conversations come
    in: only new texts are encoded. Interrupted? Run the same command again. For single messages in a pipe, use turnloom
    embed.

    [bold]Examples[/]

    turnloom vectors prepared/ --model turnloom-mini --out vectors/

    turnloom vectors prepared/ --model text-embedding-3-small --endpoint https://api.openai.com/v1 --out vectors/
    """
    from turnloom.corpus.engine import use_runner
    from turnloom.runtime import load_encoder
    from turnloom.runtime.endpoint import EndpointEncoder
    from turnloom.vectors import VectorOptions, build_vectors

    if endpoint and bf16:
        raise TurnloomError("--bf16 does not go with --endpoint", "leave one of them out")
    use_runner(runner)
    load = partial(EndpointEncoder, endpoint, model) if endpoint else partial(load_encoder, model, bf16=bf16)
    options = VectorOptions(load, on_ray=runner == "ray", command=command_line())
    began = time.monotonic()
    with share_progress() as progress:
        manifest, encoded = build_vectors(tables, out, options, progress)
    if not manifest.scrubbed:
        warn(
            f"{', '.join(map(str, tables))}: personal data was not replaced, and vectors give away what was said. "
            "Fix: encode what turnloom prepare writes"
        )
    rate = encoded / max(time.monotonic() - began, 1e-9)
    say(
        f"{manifest.texts:,} distinct texts of {manifest.turns:,} turns in {out}; "
        f"{encoded:,} encoded now ({rate:,.0f} per second)"
    )
    say(f"Next: turnloom replies build {tables[0]} --model {model} --out replies --vectors {out}")
