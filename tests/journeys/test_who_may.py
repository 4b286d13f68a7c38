"""What a person of each role finds in the console: no button that would be refused, and a reason where it matters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from tests.journeys.browser import Browser, open_browser
from tests.journeys.test_playground import ask, hub_in_a_thread

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"
BUTTONS = """return [...document.querySelectorAll('#main button')].filter(one => one.checkVisibility())
  .map(one => one.innerText)"""
PAGES = {
    "servers/hr": {"Disconnect": "operator", "List tools again": "operator", "Edit": "admin", "Remove": "admin"},
    "servers": {"Add a server": "admin"},
    "tools/hr__get_all_employees": {"Run": "user"},
    "play": {"Ask": "user", "New conversation": "user"},
    "models/scripted": {"Probe now": "operator"},
}
"""Page → its buttons, each with the least role that it is for."""
ROLES = ("read", "user", "operator", "admin")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    server = {"api_key": KEY, "auth": "on", "rate_limit_per_minute": 0}
    with (
        hub_in_a_thread(tmp_path_factory.mktemp("data"), "First.", "Second.", server=server) as url,
        open_browser(url, tmp_path_factory.mktemp("profile")) as opened,
    ):
        yield opened


def sign_in(browser: Browser, key: str) -> None:
    browser.driver.get(browser.url)
    browser.fetch("/api/session", "DELETE")
    browser.open("servers")
    browser.field("API key").send_keys(key + Keys.ENTER)
    browser.sees("hr")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_finds_the_buttons_that_it_may_press_and_no_others(browser: Browser, role: str) -> None:
    sign_in(browser, KEY)
    made = browser.fetch("/api/keys", "POST", json.dumps({"role": role, "owner": "Kim"}))
    sign_in(browser, made["key"])
    for page, wanted in PAGES.items():
        browser.open(page)
        found = set(browser.driver.execute_script(BUTTONS))
        right = {label for label, least in wanted.items() if ROLES.index(role) >= ROLES.index(least)}
        assert found & set(wanted) == right, page
        if page in ("play", "tools/hr__get_all_employees"):
            assert ("This needs the role user" in browser.text) == (role == "read")


def test_a_conversation_is_found_again_in_its_tab_until_a_new_one_is_begun_or_its_person_leaves(
    browser: Browser,
) -> None:
    sign_in(browser, KEY)
    ask(browser, "한글 question")
    browser.sees("ended: answered")
    browser.driver.execute_script("location.hash = '#/tools'")
    browser.sees("hr__get_all_employees")
    browser.driver.execute_script("history.back()")
    browser.sees("한글 question", "First.")
    browser.driver.refresh()
    browser.sees("한글 question", "First.")
    kept = "return Object.values(sessionStorage).join()"
    assert "First." in browser.driver.execute_script(kept)
    assert KEY not in browser.driver.execute_script(kept)
    browser.click("New conversation")
    browser.open("play")
    assert "한글" not in browser.text
    ask(browser, "Another")
    browser.sees("Second.")
    browser.click("Sign out")
    browser.sees("Sign in with a key")
    assert browser.driver.execute_script(kept) == ""


def test_a_question_that_nobody_answered_yet_stands_where_it_was_written(tmp_path: Path) -> None:
    held = '<tool_call>\n{"name": "hr__get_all_employees", "arguments": {}}\n</tool_call>'
    with (
        hub_in_a_thread(tmp_path / "data", held, "Done.", approvals={"ask": ["hr/*"]}) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        ask(browser, "Who works here?")
        browser.sees("Allow once")
        browser.driver.execute_script("location.hash = '#/servers'")
        browser.sees("Add a server")
        browser.driver.execute_script("location.hash = '#/play'")
        browser.wait(lambda: browser.field("Question").get_property("value") == "Who works here?")


def test_whoever_is_signed_out_meanwhile_signs_in_where_it_is_noticed_and_goes_on_there(browser: Browser) -> None:
    sign_in(browser, KEY)
    browser.open("servers/hr")
    browser.sees("List tools again")
    browser.driver.delete_all_cookies()  # as when twelve hours have passed
    browser.click("List tools again")
    browser.sees("Sign in with a key", "Your sign-in is over.")
    assert "X-API-Key" not in browser.text
    browser.field("API key").send_keys(KEY + Keys.ENTER)
    browser.sees("List tools again")
    assert browser.driver.current_url.endswith("#/servers/hr")
    assert browser.driver.execute_script("return document.getElementById('away').hidden")


def test_a_probe_that_cannot_be_made_says_why_above_what_was_found_before(browser: Browser) -> None:
    sign_in(browser, KEY)
    browser.open("models/scripted")
    browser.click("Probe now")
    browser.sees("'scripted' cannot be measured.", "Not measured")
    assert not browser.driver.find_elements("css selector", "main table")
