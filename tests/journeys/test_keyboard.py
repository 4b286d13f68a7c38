"""Every task of the console by the keyboard alone: seen focus, never lost, the outcome told (issue 22)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from tests.journeys.browser import Browser, open_browser
from tests.journeys.conftest import TOOLS
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_playground import TWO_CALLS, hub_in_a_thread

from naru.messages import ChatRequest

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
CALL = """fetch('/api/tools/call', {method: 'POST', headers: {'Content-Type': 'application/json'},
  body: JSON.stringify({name: 'hr__get_all_employees', arguments: {}})})
  .then(r => r.text()).then(t => {window.called = t})"""
PASTED = '{"mcpServers": {"one": {"url": "http://127.0.0.1:9/a", "autoConnect": false}}}'

ONE_CALL = f"<tool_call>\n{json.dumps({'name': 'hr__get_all_employees', 'arguments': {}})}\n</tool_call>"


def says(request: ChatRequest) -> str:
    """Be a model that calls tools when it is asked for employees, and says what came of it."""
    asked = str(request.messages)
    if "EMP002?" in asked:
        return "Both were found." if "Kim Minjun" in asked else TWO_CALLS
    if "everybody" not in asked:
        return "ready"
    if "A person denied the call" in asked:
        return "I may not know."
    return "Here they are." if "Kim Minjun" in asked else ONE_CALL


@pytest.fixture(scope="module")
def browser(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("keyboard")
    program = [str(Path(__file__).with_name("paper_server.py")), str(papers)]
    server = {"name": "papers", "transport": "stdio", "command": sys.executable, "args": program}
    with (
        hub_in_a_thread(
            folder / "data", says=says,
            mcp={"servers": [server], "security": {"quarantine": "on"}},
            approvals={"ask": ["hr/get_all_employees"]},
        ) as url,
        open_browser(url, folder / "profile") as opened,
    ):  # fmt: skip
        yield opened


@pytest.fixture
def keys(browser: Browser) -> Keyboard:
    return Keyboard(browser)


def test_a_question_is_asked_its_answer_told_and_its_run_found(browser: Browser, keys: Keyboard) -> None:
    browser.open("servers")
    keys.use("link", "Playground")
    browser.wait(lambda: keys.at == ("textbox", "Question"))
    keys.press("Who are EMP001 and EMP002?")
    keys.use("combobox", "Tools of", Keys.ARROW_DOWN)
    keys.use("button", "Ask")
    keys.hears("Both were found.")
    keys.rests("textbox", "Question")
    keys.to("DisclosureTriangle", "", back=True)
    keys.press(Keys.ENTER)
    browser.sees("get_employee_info")
    browser.open("overview")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".plot canvas"))
    keys.use("group", "Plot: Requests", Keys.END)
    for _ in range(20):  # minutes that have begun since it was asked
        if "All 0" in browser.find(".spoken").text:
            keys.press(Keys.ARROW_LEFT)
    keys.press(Keys.ENTER)
    browser.sees("From ", "Who are EMP001 and EMP002?")
    assert "#/runs?after=" in browser.driver.current_url
    keys.use("link", "All")
    browser.wait(lambda: browser.driver.current_url.endswith("#/runs"))
    browser.open("runs")
    keys.use("searchbox", "Search", "EMP002")
    keys.use("link", "Who are EMP001")
    browser.sees("Steps", "Both were found.")
    keys.use("button", "Replay")
    keys.hears("came to the same")
    keys.rests("button", "Replay")


def test_a_server_is_added_connected_let_go_and_removed(browser: Browser, keys: Keyboard) -> None:
    browser.open("servers")
    keys.use("button", "Add a server")
    keys.rests("textbox", "Name")
    keys.press("again", Keys.ESCAPE)
    keys.rests("button", "Add a server")
    keys.press(Keys.ENTER)
    keys.rests("textbox", "Name")
    keys.press("again")
    keys.use("textbox", "URL", f"{browser.url}/servers/hr/mcp")
    keys.use("button", "Save")
    keys.hears("Added again.")
    keys.rests("button", "Add a server")
    keys.use("link", "again")
    browser.sees("get_employee_info")
    keys.use("button", "Disconnect")
    keys.hears("again: Disconnected")
    keys.rests("button", "Connect")
    keys.press(Keys.SPACE)
    keys.hears("again: Connected")
    keys.rests("button", "Disconnect")
    keys.use("button", "Remove")
    keys.rests("button", "Cancel")
    keys.press(Keys.ESCAPE)
    keys.rests("button", "Remove")
    keys.press(Keys.ENTER)
    keys.use("button", "Remove")
    keys.hears("Removed again.")
    browser.wait(lambda: browser.driver.current_url.endswith("#/servers"))
    assert keys.focus()["tag"] == "MAIN"


def test_servers_are_pasted_and_a_program_leads_to_its_command(browser: Browser, keys: Keyboard) -> None:
    browser.open("servers")
    keys.use("button", "Add a server")
    keys.rests("textbox", "Name")
    keys.use("button", "Paste mcpServers JSON", back=True)
    keys.rests("textbox", "Paste mcpServers JSON")
    keys.press(PASTED)
    keys.hears("Found: one")
    keys.use("button", "Save")
    keys.hears("Added one.")
    keys.rests("button", "Add a server")
    keys.press(Keys.ENTER)
    keys.rests("textbox", "Name")
    keys.press("time")
    keys.use("combobox", "Transport", Keys.END)
    browser.sees("naru servers add time -- npx")
    keys.use("button", "Copy")
    keys.press(Keys.ESCAPE)
    keys.rests("button", "Add a server")
    keys.use("link", "one")
    keys.use("button", "Remove")
    keys.use("button", "Remove")
    keys.hears("Removed one.")


@pytest.mark.parametrize(("answer", "outcome"), [("Allow once", "EMP001"), ("Deny", "denied")])
def test_a_held_call_is_answered(browser: Browser, keys: Keyboard, answer: str, outcome: str) -> None:
    browser.open("approvals")
    browser.driver.execute_script(CALL)
    browser.sees("Calls that wait for a yes")
    keys.use("button", answer)
    keys.hears("get_all_employees")
    browser.wait(lambda: outcome in str(browser.driver.execute_script("return window.called")))
    keys.rests("heading", "Approvals")


def test_calls_of_the_playground_are_answered_where_they_wait(browser: Browser, keys: Keyboard) -> None:
    for answer, outcome in (
        ("Deny", "I may not know."), ("Allow once", "Here they are."), ("Always allow", "Here they are."),
    ):  # fmt: skip
        browser.open("play")
        browser.wait(lambda: keys.at == ("textbox", "Question"))
        keys.use("button", "New conversation", back=True)  # the tab has kept the one before
        keys.rests("textbox", "Question")
        keys.press("Who is everybody?", Keys.TAB, Keys.TAB)
        keys.use("button", "Ask")
        browser.sees("Allow once")
        keys.use("button", answer, back=True)
        keys.hears(outcome)
        keys.rests("textbox", "Question")
    browser.open("approvals")
    keys.use("button", "Take back: hr get_all_employees")
    keys.hears("Taken back: get_all_employees")
    keys.rests("heading", "Approvals")


def test_the_difference_of_a_tool_is_read_and_accepted(browser: Browser, keys: Keyboard, papers: Path) -> None:
    changed = json.loads(json.dumps(TOOLS))
    changed[1]["description"] = "Files a paper twice."
    papers.write_text(json.dumps(changed), encoding="utf-8")
    browser.open("servers/papers")
    keys.use("button", "List tools again")
    browser.sees("Withheld tools", "Files a paper twice.")
    keys.rests("button", "List tools again")
    keys.use("button", "Approve")
    keys.hears("Approved: file_paper")
    keys.rests("heading", "papers")


def test_a_tool_is_called_by_its_form(browser: Browser, keys: Keyboard) -> None:
    browser.open("tools/hr__get_employee_info")
    keys.use("textbox", "employee_id", "EMP001")
    keys.use("button", "Run")
    keys.hears("Kim Minjun")
    keys.rests("button", "Run")


def test_logs_and_audit_are_filtered(browser: Browser, keys: Keyboard) -> None:
    browser.open("logs")
    keys.use("combobox", "Level", Keys.END)
    keys.rests("combobox", "Level")
    browser.wait(lambda: "info" not in browser.find("main ul").text)
    keys.use("button", "Pause")
    keys.rests("button", "Go on")
    browser.open("audit")
    keys.use("button", "Check the chain")
    browser.wait(lambda: browser.driver.find_elements("css selector", "main .notice"))
    keys.rests("button", "Check the chain")
    keys.use("combobox", "Kind", Keys.END)
    browser.sees("Nothing matches.")
    keys.rests("combobox", "Kind")


def test_language_and_theme_are_changed_and_changed_back(browser: Browser, keys: Keyboard) -> None:
    browser.open("servers")
    keys.use("button", "한국어")
    keys.rests("button", "English")
    assert browser.driver.execute_script("return document.documentElement.lang") == "ko"
    keys.press(Keys.SPACE)
    keys.rests("button", "한국어")
    colours = []
    for theme in ("Light", "Dark", "System"):
        keys.use("button", "Theme") if not colours else keys.press(Keys.SPACE)
        keys.rests("button", f"Theme: {theme}")
        colours.append(browser.driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1], "dark is not light"
    assert colours[2] in colours[:2]


def test_keys_are_made_rotated_revoked_and_signed_in_with(browser: Browser, keys: Keyboard) -> None:
    browser.open("keys")
    keys.use("textbox", "Owner", "Kim")
    keys.use("combobox", "Role", Keys.END)
    keys.use("button", "Make a key")
    keys.rests("button", "Cancel")
    keys.use("button", "Make a key")
    keys.hears("This key is shown only now:")
    keys.rests("button", "Make a key")
    secret = browser.find(".snippet pre").text
    browser.open("servers")
    keys.rests("textbox", "API key")
    keys.press("wrong", Keys.ENTER)
    keys.hears("not valid")
    keys.press(secret, Keys.ENTER)
    browser.sees("papers")
    keys.rests("heading", "Servers")
    browser.open("keys")
    keys.use("textbox", "Owner", "Lee", Keys.ENTER)
    browser.sees("Lee")
    keys.rests("textbox", "Owner")
    keys.use("button", "New secret: Lee", back=True)
    keys.use("button", "New secret")
    keys.hears("This key is shown only now:")
    keys.rests("button", "New secret: Lee")
    keys.use("button", "Revoke: Lee")
    keys.use("button", "Revoke")
    keys.hears("Revoked the key of Lee.")
    keys.rests("heading", "Keys")
    keys.use("button", "Sign out")
    keys.rests("textbox", "API key")
