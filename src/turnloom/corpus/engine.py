"""Daft, the data engine: in this process by default, or on a Ray cluster with the same plans."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pyarrow as pa

from turnloom.errors import TurnloomError

PARQUET_FILE_BYTES = 128 * 2**20
"""Small enough to spread over workers, large enough that a billion dialogues stay a few thousand files."""
ROW_GROUP_BYTES = 32 * 2**20
"""The amount that a reader holds in memory at a time."""
RAY_TRIES = 4
RUNNER = "DAFT_RUNNER"
"""The variable that tells Daft where to run, so that it need not find out."""
_NOWHERE = logging.NullHandler()


def daft() -> ModuleType:
    """Import daft on first use, with usage reports and progress lines turned off.

    Private conversations pass through here, so Daft's analytics are disabled before the import.
    """
    os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    if "ray" not in sys.modules and "RAY_JOB_ID" not in os.environ:
        # Otherwise Daft imports Ray, where it is installed, only to ask whether it runs: seconds in every process.
        os.environ.setdefault(RUNNER, "native")
    import daft

    # Errors come back as exceptions; otherwise Python prints the engine's log as well.
    logging.getLogger("daft_local_execution").addHandler(_NOWHERE)
    return daft


def use_runner(name: str) -> None:
    """Choose where plans run: ``native`` in this process, ``ray`` on a Ray cluster (or a local one on loopback).

    Call it once, before anything runs; Daft keeps the choice for the process.
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
    os.environ.pop(RUNNER, None)  # Ray's workers would inherit it.
    if not ray.is_initialized() and not os.environ.get("RAY_ADDRESS"):
        # A local cluster listens on loopback only; Ray's default would open its ports to the network.
        _start_local_cluster(ray)
    daft().set_runner_ray(noop_if_initialized=True)


def _start_local_cluster(ray: ModuleType) -> None:
    """Start Ray here; again if need be, because a busy machine may exceed the 30 seconds that Ray gives itself."""
    for tries_left in reversed(range(RAY_TRIES)):
        try:
            ray.init(
                _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
            )
        except Exception as error:  # noqa: PERF203
            if "timed out during startup" not in str(error):
                raise
            if not tries_left:
                raise TurnloomError("Ray did not start in time", "try again when the machine is less busy") from error
            ray.shutdown()
        else:
            return


def run_numbered(count: int, task: Callable[[int], object], threads: int = 1) -> None:
    """Run a task for each number below `count`: on Ray's workers, or else in threads of this process.

    On Ray, tasks whose worker is lost run again, so a task must replace what an earlier try of it has left.
    """
    engine = daft()
    if engine.get_or_infer_runner_type() != "ray":
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(task, range(count)))
        return

    @batch_function(engine.DataType.int32(), batch_size=1)
    def run(numbers: pa.Array) -> pa.Array:
        for number in numbers.to_pylist():
            task(number)
        return numbers

    numbers = engine.from_pydict({"number": pa.array(range(count), pa.int32())}).into_partitions(count)
    numbers.select(run(engine.col("number"))).collect()


def batch_function(
    returns: Any, *, unnest: bool = False, batch_size: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a function of Arrow arrays as a Daft function over the columns of each batch.

    It runs in the engine's own process, because our functions are vectorised and release the GIL. `batch_size` limits
    the rows per call, for functions that return much more than they get.
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
    """Add columns that `compute` makes from the input columns' Arrow arrays, batch by batch."""
    engine = daft()
    types = {name: engine.DataType.from_arrow_type(arrow_type) for name, arrow_type in fields.items()}

    @batch_function(engine.DataType.struct(types), unnest=True)
    def computed(*columns: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays(list(compute(*columns)), names=list(fields))

    kept = [name for name in table.column_names if name not in fields]
    return table.select(*kept, computed(*[engine.col(name) for name in inputs]))


@contextmanager
def frugally() -> Iterator[None]:
    """Make Daft stream in little memory and write Parquet files of the table's size, within this context.

    By default, Daft reads eight files at once on any machine and holds back finished batches until their turn. Memory
    then grows with the corpus (5 GiB instead of 1 GiB at 37 million turns on two cores).
    """
    with daft().execution_config_ctx(
        parquet_target_filesize=PARQUET_FILE_BYTES,
        parquet_target_row_group_size=ROW_GROUP_BYTES,
        scantask_max_parallel=0,  # One per core.
        maintain_order=False,
    ):
        yield
