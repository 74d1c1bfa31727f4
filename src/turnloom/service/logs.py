"""Logs as JSON, one line an event, without users' text."""

from __future__ import annotations

import logging
import sys
from datetime import datetime, timezone
from typing import Any

import orjson

__all__ = ["JsonFormatter", "set_up_logs", "trace_of"]

_USUAL = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """A record and its `extra` as one line of JSON; of an exception, where it was and its class, not what it said."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry |= {name: value for name, value in record.__dict__.items() if name not in _USUAL and name[0] != "_"}
        if record.exc_info and record.exc_info[1] is not None:
            entry["trace"] = trace_of(record.exc_info[1])
        return orjson.dumps(entry, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def trace_of(error: BaseException) -> list[str]:
    """An exception's class and the lines that it passed; its message could hold users' text."""
    places, frame = [], error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        places.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return [type(error).__name__, *places[-12:]]


def set_up_logs(level: str) -> None:
    """Send the service's and uvicorn's logs to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("turnloom.service", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.setLevel(level.upper())
        logger.propagate = name == "uvicorn.error"
    # Requests are logged once, with their id, by the service itself.
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False
