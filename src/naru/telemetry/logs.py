"""Log lines on stderr, as text or as JSON (S-36); one redactor stands before both."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from naru.config import Settings
from naru.persons import current_request
from naru.stores.secrets.redact import REDACTOR, install_log_redaction, one_line
from naru.telemetry.tracing import active

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, `extra` fields, trace and span id while tracing is on."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; the redacting filter has cleaned message and traceback before."""
        told: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := current_request.get():
            told["request_id"] = request
        for name, value in vars(record).items():
            if name not in _STANDARD:
                told[name] = _said(name, value)
        if record.exc_text or record.exc_info:
            told["error"] = record.exc_text or (self.formatException(record.exc_info) if record.exc_info else "")
        tracing = active()
        if tracing is not None and (ids := tracing.ids())[0]:
            told["trace_id"], told["span_id"] = ids
        return json.dumps(told, ensure_ascii=True)


class TextFormatter(logging.Formatter):
    """Level, logger and message, and the id of the request that a line is about."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        """Return the line without its traceback."""
        said = super().formatMessage(record)
        request = current_request.get()
        return f"{said} [{request}]" if request else said


def _said(name: str, value: object) -> int | float | str:
    if isinstance(value, int | float):
        return value
    # With its name before it, so that a field called `api_key` is seen to be one.
    return one_line(REDACTOR.clean(f"{name}={value}").partition("=")[2])


def configure_logging(settings: Settings) -> None:
    """Send log lines to stderr in the form that the settings name, secrets taken out; safe to call twice."""
    stderr = logging.StreamHandler()
    stderr.setFormatter(TextFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=settings.log_level, handlers=[stderr])
    if settings.log_format == "json":
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonFormatter())
    install_log_redaction()
    logging.getLogger("uvicorn").setLevel("WARNING")
