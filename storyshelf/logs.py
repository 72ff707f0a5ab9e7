"""How a process logs: events with fields, to stderr, for people or for machines."""

import logging
import sys
from typing import Literal

import structlog

Format = Literal["text", "json"]


def configure(level: str, how: Format) -> None:
    """Set up the logging of this process; to be called once, before anything is logged."""
    least = getattr(logging, level.upper())
    shape: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if how == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            exception_formatter=structlog.dev.plain_traceback,  # others show local values: secrets
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            *([structlog.processors.format_exc_info] if how == "json" else []),
            shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
