"""Numbers in an address: what is none counts as left out, on every list."""

from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
import pytest
from starlette.datastructures import QueryParams

from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from naru.web.query import whole_number

ODD = ("", "x", "-1", "1.5", "²", "9" * 16, "9" * 5000)


@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:20] + f"({len(text)})")
def test_what_is_no_number_counts_as_left_out(text: str) -> None:
    assert whole_number(QueryParams({"limit": text}), "limit") is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("50", 50), ("007", 7), ("9" * 15, 10**15 - 1)])
def test_a_number_is_read(text: str, number: int) -> None:
    assert whole_number(QueryParams({"limit": text}), "limit") == number


async def test_no_list_fails_for_a_number_that_is_none(tmp_path: Path) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            for path in ("/api/runs", "/api/logs", "/api/audit"):
                for name in ("limit", "before", "after"):
                    for text in ODD:
                        answer = await client.get(path, params={name: text})
                        assert answer.status_code == 200, (path, name, text[:20])
