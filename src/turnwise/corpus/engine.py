"""Daft, the one data engine: in this process by default, on Ray for a cluster, with the same plans."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

__all__ = ["PARQUET_FILE_BYTES", "batch_function", "daft", "table_files"]

PARQUET_FILE_BYTES = 128 * 2**20
"""Small enough to spread over workers, large enough that a billion dialogues stay a few thousand files."""


def daft() -> ModuleType:
    """The daft module, imported when first needed and without its usage reports.

    People's conversations pass through here: nothing about a run leaves the machine, so Daft's analytics are switched
    off before it is imported. Its own progress lines are off too; the command line shows one bar for the whole run.
    """
    os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    import daft

    return daft


def batch_function(returns: Any, *, unnest: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of Arrow arrays one that Daft applies to the columns of each batch.

    It runs in the engine's own process: our functions are vectorised and release the interpreter's lock, so sending
    batches to other processes would only cost time.

    Args:
        returns: The Daft type of the array that the function returns.
        unnest: Whether the fields of a struct become columns.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def on_series(*columns: Any) -> Any:
            return function(*[column.to_arrow() for column in columns])

        on_series.__name__ = function.__name__
        wrapped: Callable[..., Any] = daft().func.batch(return_dtype=returns, use_process=False, unnest=unnest)(
            on_series
        )
        return wrapped

    return decorate


@contextmanager
def table_files() -> Iterator[None]:
    """Within this context Daft writes Parquet files of the table's size."""
    with daft().execution_config_ctx(parquet_target_filesize=PARQUET_FILE_BYTES):
        yield
