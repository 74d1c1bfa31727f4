"""Daft, the one data engine: in this process by default, on Ray for a cluster, with the same plans."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pyarrow as pa

from turnloom.errors import TurnloomError

PARQUET_FILE_BYTES = 128 * 2**20
"""Small enough to spread over workers, large enough that a billion dialogues stay a few thousand files."""
ROW_GROUP_BYTES = 32 * 2**20
"""What a reader of the file has to hold at a time."""
_NOWHERE = logging.NullHandler()


def daft() -> ModuleType:
    """The daft module, imported when first needed, without usage reports and progress lines.

    People's conversations pass through here, so Daft's analytics are switched off before it is imported.
    """
    os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    import daft

    # What goes wrong comes back as an exception; without this, Python prints the engine's log beside it.
    logging.getLogger("daft_local_execution").addHandler(_NOWHERE)
    return daft


def use_runner(name: str) -> None:
    """Choose where plans run: ``native`` in this process, ``ray`` on a Ray cluster (or a local one on loopback).

    Called once, before anything runs; Daft keeps the choice for the process.
    """
    if name == "native":
        return  # Daft's default.
    if name != "ray":
        raise TurnloomError(f"there is no runner {name!r}", "choose native or ray")
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise TurnloomError("--runner ray needs Ray", "pip install 'turnloom[cluster]'") from error
    if not ray.is_initialized() and not os.environ.get("RAY_ADDRESS"):
        # A local cluster listens on loopback only: Ray's default would open its ports to the network.
        ray.init(
            _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
        )
    daft().set_runner_ray(noop_if_initialized=True)


def batch_function(
    returns: Any, *, unnest: bool = False, batch_size: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of Arrow arrays one that Daft applies to the columns of each batch.

    It runs in the engine's own process: our functions are vectorised and release the interpreter's lock. `batch_size`
    limits the rows at a time, for a function that returns much more than it gets.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def on_series(*columns: Any) -> Any:
            return function(*[column.to_arrow() for column in columns])

        on_series.__name__ = function.__name__
        decorator = daft().func.batch(return_dtype=returns, use_process=False, unnest=unnest, batch_size=batch_size)
        wrapped: Callable[..., Any] = decorator(on_series)
        return wrapped

    return decorate


def with_columns(
    table: Any, fields: Mapping[str, pa.DataType], compute: Callable[..., Sequence[pa.Array]], *inputs: str
) -> Any:
    """The table with columns that `compute` makes of the input columns' Arrow arrays, batch by batch."""
    engine = daft()
    types = {name: engine.DataType.from_arrow_type(arrow_type) for name, arrow_type in fields.items()}

    @batch_function(engine.DataType.struct(types), unnest=True)
    def computed(*columns: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays(list(compute(*columns)), names=list(fields))

    kept = [name for name in table.column_names if name not in fields]
    return table.select(*kept, computed(*[engine.col(name) for name in inputs]))


@contextmanager
def frugally() -> Iterator[None]:
    """Within this context Daft streams in little memory and writes Parquet files of the table's size.

    By default Daft reads eight files at once on any machine and holds finished batches back until their turn comes;
    memory then grows with the corpus (measured: 5 GiB against 1 GiB at 37 million turns on two cores).
    """
    with daft().execution_config_ctx(
        parquet_target_filesize=PARQUET_FILE_BYTES,
        parquet_target_row_group_size=ROW_GROUP_BYTES,
        scantask_max_parallel=0,  # As many as there are cores.
        maintain_order=False,
    ):
        yield
