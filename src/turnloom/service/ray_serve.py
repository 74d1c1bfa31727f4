"""The same app as Ray Serve replicas, each with its own models and queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.service.config_file import load_config


def ray_application(config: Path | str, *, replicas: int = 1, cpus: float = 1.0) -> Any:
    """Build the application for `ray.serve.run`.

    Replicas on one machine share the configuration's `state` folder, and with it every accepted change. On several
    machines, put it on a shared file system that supports locks.

    Args:
        config: The configuration file; every replica reads it.
        replicas: The number of replicas.
        cpus: The number of cores that each replica requests.

    Raises:
        TurnloomError: If Ray Serve is not installed, or the configuration is wrong.
    """
    try:
        from ray import serve
    except ImportError as error:
        raise TurnloomError("Ray Serve is not installed", "pip install 'turnloom[cluster,serve]'") from error
    path = str(Path(config).resolve())
    limits = load_config(path).limits

    def app() -> Any:
        from turnloom.service.app import create_app
        from turnloom.service.monitoring import set_up_logs

        loaded = load_config(path)
        set_up_logs(loaded.logs.level)
        return create_app(loaded)

    @serve.deployment(
        name="turnloom",
        num_replicas=replicas,
        max_ongoing_requests=1_000,  # The app has its own bounded queue and returns 429 itself.
        graceful_shutdown_timeout_s=limits.request_seconds,
        ray_actor_options={"num_cpus": cpus},
    )
    @serve.ingress(app)
    class Turnloom:
        """A replica."""

    deployment: Any = Turnloom
    return deployment.bind()
