"""A hub of several in this process: a folder of its own, a database in common."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from naru.config import Settings
from naru.hub import open_hub
from naru.messages import JsonObject
from naru.stores.shared.open import open_commons
from naru.web.app import open_app
from tests.team.conftest import Team, models

NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def hub_at(
    folder: Path,
    store: str,
    servers: Sequence[JsonObject],
    *,
    address: str = NOWHERE,
    answer: Any = None,
    **hub: Any,
) -> AsyncIterator[Team]:
    """Open one; others reach it at `address`. More arguments are settings of `hub`."""
    made = Settings.model_validate(
        {
            "hub": {"data_dir": folder, "store": store, "replica_address": address, **hub},
            "mcp": {"servers": list(servers)},
            "server": {"auth": "on", "rate_limit_per_minute": 0},
            "approvals": {"destructive": "allow"},
        }
    )
    async with (
        open_commons(made.hub, 9) as commons,
        open_hub(made, backend=models(answer), asks_for_keys=True, commons=commons) as opened,
        open_app(opened) as app,
    ):
        yield Team(opened, app)
