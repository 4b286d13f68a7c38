"""Signing in at an upstream server by the keyboard alone, to the authority's page and back (issue 22)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.server.auth.provider import AuthorizationParams
from mcp.shared.auth import OAuthClientInformationFull
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from tests.journeys.browser import Browser, open_browser
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_playground import hub_in_a_thread
from tests.team.authority import Provider, protected, sdk_authority

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
CONSENT = """<!doctype html><html lang=en><title>Consent</title><h1>May Naru read for you?</h1>
<form method=post><input type=hidden name=to value="{to}"><button>Allow</button></form>"""


class AskingProvider(Provider):
    """Shows a page with a button before it says yes."""

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        return f"/consent?to={quote(await super().authorize(client, params), safe='')}"


async def consent(request: Request) -> Response:
    to = request.query_params["to"]
    return RedirectResponse(to, 303) if request.method == "POST" else HTMLResponse(CONSENT.format(to=escape(to)))


@contextmanager
def authority_in_a_thread() -> Iterator[str]:
    """Serve a protected MCP server with its authority; yields the server's address."""
    ends, ready = threading.Event(), threading.Event()
    found = []

    async def main() -> None:
        more = [Route("/consent", consent, methods=["GET", "POST"])]
        async with sdk_authority(AskingProvider(), more) as (provider, issuer), protected(provider, issuer) as server:
            found.append(server.url)
            ready.set()
            await asyncio.to_thread(ends.wait)

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="authority")
    thread.start()
    assert ready.wait(90)
    try:
        yield found[0]
    finally:
        ends.set()
        thread.join(90)


def words(browser: Browser) -> str:
    """Return what stands on the page, whoever's it is."""
    return str(browser.driver.execute_script("return document.body?.innerText ?? ''"))


def test_a_person_signs_in_at_a_server_and_comes_back_without_a_mouse(tmp_path: Path) -> None:
    with (
        authority_in_a_thread() as upstream,
        hub_in_a_thread(
            tmp_path / "data", mcp={"servers": [{"name": "up", "transport": "http", "url": upstream}]}
        ) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        keys = Keyboard(browser)
        browser.open("servers")
        browser.sees("up", "Needs sign-in")
        keys.use("link", "up")
        keys.use("button", "Sign in")
        browser.wait(lambda: "May Naru read for you?" in words(browser))
        keys.use("button", "Allow")
        browser.wait(lambda: "Signed in at up." in words(browser))
        keys.use("link", "up")
        browser.sees("whoami")
        keys.use("button", "Sign out")
        keys.hears("Signed out at up.")
        browser.wait(lambda: not browser.driver.find_elements("xpath", "//main//button[.='Sign out']"))
