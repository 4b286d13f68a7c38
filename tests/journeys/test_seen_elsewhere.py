"""What is done elsewhere is seen on an open page, which leaves the keyboard where it is (issue 22)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.journeys.browser import Browser, open_browser
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_held_calls import CALL
from tests.journeys.test_playground import hub_in_a_thread

from naru.stores.secrets.keys import KeyFile

pytestmark = [pytest.mark.slow, pytest.mark.chromium]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seen") / "data"


@pytest.fixture(scope="module")
def url(data: Path) -> Iterator[str]:
    with hub_in_a_thread(data, says=lambda request: "It is so.", approvals={"ask": ["hr/*"]}) as address:
        yield address


@pytest.fixture
def browser(url: str, tmp_path: Path) -> Iterator[Browser]:
    with open_browser(url, tmp_path / "profile") as opened:
        yield opened


def ask_the_model(url: str, question: str) -> None:
    """Ask as another program does; its run is kept before the answer is over."""
    body = {"model": "scripted+tools", "messages": [{"role": "user", "content": question}]}
    asked = urllib.request.Request(  # noqa: S310 - the hub of this test
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=90) as answer:  # noqa: S310
        assert "It is so." in answer.read().decode()


def asks_for_a_key(url: str) -> bool:
    """Tell whether the hub has noticed that a key was made."""
    try:
        with urllib.request.urlopen(f"{url}/api/mcp/servers", timeout=90):  # noqa: S310
            return False
    except urllib.error.HTTPError as refused:
        return refused.code == 401


def rows(browser: Browser) -> list[Any]:
    script = "return [...document.querySelectorAll('#main .list .name')].map(one => one.textContent)"
    return list(browser.driver.execute_script(script))


def test_a_call_that_is_answered_in_one_console_is_gone_from_the_other(
    browser: Browser, url: str, tmp_path: Path
) -> None:
    with open_browser(url, tmp_path / "other") as other:
        for one in (browser, other):
            one.open("approvals")
            one.sees("Nothing waits for approval.")
        browser.driver.execute_script(CALL)
        for one in (browser, other):
            one.sees("Calls that wait for a yes", "get_employee_info")
        keys = Keyboard(browser)
        keys.to("button", "Deny")
        other.click("Allow once")
        browser.wait(lambda: "Kim Minjun" in str(browser.driver.execute_script("return window.called")))
        for one in (browser, other):
            one.wait(lambda one=one: "Calls that wait for a yes" not in one.text)
        keys.rests("heading", "Approvals")


def test_a_run_that_ends_elsewhere_comes_to_the_list_which_keeps_the_focus(browser: Browser, url: str) -> None:
    browser.open("runs")
    ask_the_model(url, "The first of all")
    browser.sees("The first of all")
    assert "No runs" not in browser.text
    keys = Keyboard(browser)
    keys.to("link", "The first of all")
    ask_the_model(url, "The second one")
    browser.wait(lambda: rows(browser)[:2] == ["The second one", "The first of all"])
    keys.rests("link", "The first of all")
    browser.find("main input[type=search]").send_keys("first")
    browser.wait(lambda: rows(browser) == ["The first of all"])
    ask_the_model(url, "Another that is the first of its kind")
    ask_the_model(url, "One that does not match")
    browser.wait(lambda: rows(browser) == ["Another that is the first of its kind", "The first of all"])


def test_a_key_that_is_made_or_revoked_by_the_command_line_is_seen_and_the_focus_stays(
    browser: Browser, url: str, data: Path
) -> None:
    elsewhere = KeyFile(data / "keys.json")  # as the command opens it
    kept, secret = elsewhere.create("admin", owner="Kim")
    browser.wait(lambda: asks_for_a_key(url))  # the hub looks at the file once a second
    browser.open("servers")
    browser.field("API key").send_keys(secret)
    browser.click("Sign in")
    browser.wait(lambda: "Kim" in browser.find("#foot").text)
    browser.open("keys")
    browser.sees("Kim")
    keys = Keyboard(browser)
    keys.to("button", "Revoke: Kim")
    other, _ = elsewhere.create("user", owner="Lee")
    browser.sees("Lee")
    keys.rests("button", "Revoke: Kim")
    keys.to("button", "Revoke: Lee")
    elsewhere.revoke(other.id)
    browser.wait(lambda: "Lee" not in browser.text)
    keys.rests("heading", "Keys")
    keys.to("textbox", "Owner")
    keys.press("half a na")
    elsewhere.create("read", owner="Park")
    browser.sees("Park")
    keys.rests("textbox", "Owner")
    keys.press("me")
    assert browser.field("Owner").get_attribute("value") == "half a name"
    elsewhere.revoke(kept.id)
