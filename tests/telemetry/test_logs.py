"""Log lines as JSON, with the redactor before them (S-34, S-36)."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from naru.config import Settings
from naru.stores.secrets.redact import RedactingFilter
from naru.telemetry.logs import JsonFormatter, configure_logging

CANARY = "sk-canaryabcdefghijkl"


@pytest.fixture
def written() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger of its own, with the handler as `configure_logging` makes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(RedactingFilter())
    logger = logging.getLogger("naru.tests.logs")
    logger.addHandler(handler)
    logger.setLevel("DEBUG")
    logger.propagate = False
    yield logger, stream
    logger.removeHandler(handler)


def test_a_line_is_one_object_and_no_secret_is_in_it(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, stream = written
    logger.warning("key %s", CANARY, extra={"server": f"docs {CANARY}", "attempt": 3})
    try:
        raise ValueError(f"Authorization: Bearer {CANARY}")
    except ValueError:
        logger.exception("it failed")
    lines = stream.getvalue().splitlines()
    first, second = map(json.loads, lines)
    assert (first["level"], first["logger"], first["attempt"]) == ("WARNING", "naru.tests.logs", 3)
    assert first["time"].endswith("Z")
    assert "ValueError" in second["error"]
    assert "canary" not in stream.getvalue()


def test_a_field_whose_name_says_secret_and_a_stack_are_cleaned(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, stream = written
    logger.warning("x", extra={"api_key": "SENTINEL-1", "headers": {"Cookie": "a=SENTINEL-2"}, "port": "80"})
    logger.warning("Authorization: Bearer SENTINEL-3", stack_info=True)
    assert "SENTINEL" not in "".join(json.loads(line)["message"] for line in stream.getvalue().splitlines())
    first = json.loads(stream.getvalue().splitlines()[0])
    assert (first["port"], "SENTINEL" in str(first)) == ("80", False)


@pytest.mark.parametrize("name", ["a\nlevel=ERROR", "a\x1b[31m", "a\u2028b", "\ud800"])
def test_a_name_cannot_forge_a_line(written: tuple[logging.Logger, io.StringIO], name: str) -> None:
    logger, stream = written
    logger.warning("server %s", name, extra={"server": name})
    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert line.isprintable()
    json.loads(line)


def test_the_setting_puts_every_handler_on_json(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    handler = logging.StreamHandler(io.StringIO())
    monkeypatch.setattr(root, "handlers", [handler])
    configure_logging(Settings(log_format="json"))
    assert isinstance(handler.formatter, JsonFormatter)
    assert any(isinstance(each, RedactingFilter) for each in handler.filters)
