"""Tracing switched on as the settings say: the extra `telemetry` is loaded here, and only then."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from naru.config import TelemetrySettings
from naru.errors import ConfigError
from naru.extras import install_command
from naru.telemetry.tracing import Tracing, activate


def start_tracing(settings: TelemetrySettings) -> Callable[[], None]:
    """Switch tracing on if the settings say so; returns what ends it.

    Raises:
        ConfigError: the extra is not installed.
    """
    if settings.traces == "off":
        return lambda: None
    try:
        spans = importlib.import_module("naru.telemetry.spans")
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"telemetry.traces is {settings.traces} and {error.name} is not installed.",
            remedy=f"Install it: {install_command('telemetry')}",
        ) from error
    tracing: Tracing = spans.open_tracing(settings)
    return activate(tracing)
