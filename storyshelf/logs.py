"""How a process logs: events with fields, to stderr, for people or for machines."""

import io
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO

import structlog

from storyshelf.terminal import plain

Format = Literal["text", "json"]


def configure(level: str, how: Format) -> None:
    """Set up the logging of this process; to be called once, before anything is logged."""
    least = getattr(logging, level.upper())
    shape: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if how == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            exception_formatter=_told,
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info if how == "json" else _without_controls,
            shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _without_controls(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> Any:
    """Have no field steer the terminal that shows the line: it may repeat what strangers said."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = plain(value)
    return event


def _told(out: TextIO, error: structlog.typing.ExcInfo) -> None:
    """Write a traceback without local values, which may be secrets."""
    told = io.StringIO()
    structlog.dev.plain_traceback(told, error)
    out.write(plain(told.getvalue()))
