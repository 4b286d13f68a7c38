"""Console sessions where several hubs share them in a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from naru.stores.files.atomic import file_lock
from naru.stores.kept.spending import Spending
from naru.stores.secrets.keys import KeyFile
from naru.web.admin.keys import AdminKeys
from naru.web.app import Keys
from naru.web.gate.access import KeyRing
from naru.web.gate.incoming import session_cookie
from naru.web.gate.logins import Logins


async def test_a_session_that_waits_for_another_hub_holds_up_nobody(tmp_path: Path) -> None:
    ring = KeyRing(KeyFile(tmp_path / "keys.json"), logins=Logins(tmp_path / "logins.json"))
    face = AdminKeys(Keys(ring, Spending(tmp_path / "spent.db"), may_start_programs=False))
    _, secret = ring.keys.create("read")

    async def asked(handler: str, cookie: str = "") -> Response:
        state = {"principal": ring.verify(secret.encode())}
        headers = [(b"cookie", cookie.encode())]
        return await getattr(face, handler)(Request({"type": "http", "headers": headers, "state": state}))

    async def after_a_wait(handler: str, cookie: str = "") -> Response:
        with file_lock(tmp_path / "logins.json"):
            waiting = asyncio.create_task(asked(handler, cookie))
            await asyncio.sleep(0.05)
            assert not waiting.done()
        return await waiting

    opened = await after_a_wait("open_session")
    name, _ = session_cookie({})
    token = opened.headers["Set-Cookie"].split(";")[0].removeprefix(f"{name}=")
    assert ring.verify(token.encode()) is not None
    await after_a_wait("close_session", f"{name}={token}")
    assert ring.verify(token.encode()) is None
