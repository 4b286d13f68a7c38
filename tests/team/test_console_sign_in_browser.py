"""A person at Chromium signs in to the console at an issuer of another site, and comes back to where they were."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from tests.journeys.browser import Browser, open_browser
from tests.team.oidc import OpenIdProvider, issuer, settings
from tests.web.conftest import served

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
BUTTON = "Sign in with Team login"


def words(browser: Browser) -> str:
    """Return what stands on the page, whoever's it is."""
    return str(browser.driver.execute_script("return document.body?.innerText ?? ''"))


def foot(browser: Browser) -> str:
    return str(browser.driver.execute_script("return document.getElementById('foot')?.innerText ?? ''"))


def visit(browser: Browser, provider: OpenIdProvider) -> None:
    browser.open("tools")
    browser.sees(BUTTON, "API key")
    browser.click(BUTTON)
    browser.wait(lambda: "May Naru know you?" in words(browser))
    assert browser.driver.current_url.startswith(provider.issuer), "another site: cookies that are Strict stay away"
    browser.driver.find_element(By.LINK_TEXT, "Allow").click()
    browser.wait(lambda: "ada@example.com · user" in foot(browser))
    assert browser.driver.current_url == f"{browser.url}/#/tools"
    browser.open("servers")
    browser.wait(lambda: "ada@example.com · user" in foot(browser))
    assert browser.fetch("./api/session")["id"] == f"{provider.issuer}#ada"
    browser.click("Sign out")
    browser.sees(BUTTON)
    assert browser.fetch("./api/session")["status"] == 401
    provider.asks, provider.answer = False, {"error": "access_denied"}
    browser.click("한국어")
    browser.sees("Team login 계정으로 로그인")
    browser.click("Team login 계정으로 로그인")
    browser.wait(lambda: "Team login에서 거절했습니다." in words(browser))
    browser.driver.find_element(By.LINK_TEXT, "콘솔로 돌아가기").click()
    browser.sees("Team login 계정으로 로그인")
    assert browser.complaints() == []


async def test_a_person_signs_in_at_another_site_and_comes_back_to_their_page(tmp_path: Path) -> None:
    more = {"oauth": {"name": "Team login"}, "server": {"allowed_hosts": ["127.0.0.1:*"]}}
    async with issuer(host="localhost") as provider:
        provider.asks = True
        made = settings(provider, tmp_path / "data", **more)
        async with (
            open_hub(made, backend=ScriptedBackend([]), asks_for_keys=True) as hub,
            open_app(hub) as app,
            served(app.asgi) as url,
        ):
            provider.serves(f"{url}/oauth/session")

            def at_the_browser() -> None:
                with open_browser(url, tmp_path / "profile") as browser:
                    visit(browser, provider)

            try:
                await asyncio.to_thread(at_the_browser)
            finally:
                app.stopping()
