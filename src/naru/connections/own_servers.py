"""Servers that an installation brings along: one's own functions, each file or module in a process; the demo."""

from __future__ import annotations

import logging
import re
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from naru.config import Settings, ToolsSettings, environment
from naru.connections.changes import Hear
from naru.errors import ConfigError
from naru.messages import JsonObject
from naru.records import ServerRecord, TransportType
from naru.tools.functions.modules import file_of, is_file, short_name

logger = logging.getLogger(__name__)

PROGRAM = "naru.cli.serve.functions"
"""What such a process runs."""


def own_records(settings: Settings) -> list[ServerRecord]:
    """Return a record for each of `tools.modules`.

    Raises:
        ConfigError: a file is not there or no Python, or two have one name.
    """
    records: dict[str, ServerRecord] = {}
    for target in settings.tools.modules:
        record = _record(target, settings.tools)
        if record.name in records:
            raise ConfigError(
                f"two of tools.modules are called {record.name!r}: {target!r} is one.", remedy="Rename a file."
            )
        records[record.name] = record
    return list(records.values())


def demo_record() -> ServerRecord:
    """Return the record of the HR server with its demo data, as a stdio child."""
    return ServerRecord(
        name="hr",
        description="Employees, vacations and documents of a company that does not exist (demo data).",
        transport_type=TransportType.STDIO,
        config={"command": sys.executable, "args": ["-m", "naru.builtins.hr.server"]},
    )


def _record(target: str, settings: ToolsSettings) -> ServerRecord:
    path = file_of(target) if is_file(target) else None
    name = short_name(target)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).lstrip("_.-")[:64] or "tools"
    env = {each: f"${{{each}}}" for each in settings.environment}
    if "PYTHONPATH" in environment():
        env.setdefault("PYTHONPATH", environment()["PYTHONPATH"])
    return ServerRecord(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"naru:functions:{name}")),
        name=name,
        description=f"Your own functions, of {path.name if path else target}.",
        transport_type=TransportType.STDIO,
        config={
            "command": sys.executable,
            "args": ["-m", PROGRAM, str(path or target), name],
            "env": env,
            "cwd": str(path.parent if path else Path.cwd()),
            "tellPerson": True,
            "protocol": "sessions",  # in which a server may say at any time what is wrong with an edit
        },
    )


def told_of(records: Sequence[ServerRecord]) -> Hear:
    """Return what writes to the log what these servers say of themselves."""
    names = {record.name for record in records}

    def hear(server: str, method: str, params: JsonObject) -> None:
        if server in names and method == "notifications/message" and params.get("level") == "error":
            logger.error("%s: %s", server, params.get("data"))

    return hear
