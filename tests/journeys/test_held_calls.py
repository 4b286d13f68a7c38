"""A call that waits for a person, seen and answered in the console (N9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.journeys.browser import Browser, open_browser
from tests.journeys.test_hr import wait_until_ready
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
CALL = """
window.called = null;
fetch('/api/tools/call', {method: 'POST', headers: {'Content-Type': 'application/json'},
  body: JSON.stringify({name: 'hr__get_employee_info', arguments: {employee_id: 'EMP001'}})})
  .then(answer => answer.text()).then(text => { window.called = text; });
"""
HOLD = """
const asks = window.fetch;
window.later = 0;
window.fetch = async (path, options) => {
  const answer = await asks(path, options);
  if (path !== './api/approvals') return answer;
  if (window.arrive) window.later += 1;
  else await new Promise(go => { window.arrive = go; });
  return answer;
};
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The console of a hub whose HR tools need a yes; no model is asked."""
    port, data = free_port(), tmp_path_factory.mktemp("data")
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(data),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
        "NARU_MODEL__MODEL": "none",
        "NARU_APPROVALS__ASK": json.dumps(["hr/*"]),
    }
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--demo", "--store", "memory:", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parent)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        with open_browser(f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("profile")) as opened:
            yield opened
    finally:
        process.terminate()
        process.wait(timeout=90)


@pytest.mark.parametrize(("answer", "outcome"), [("Allow once", "Kim Minjun"), ("Deny", "A person denied the call")])
def test_a_held_call_is_shown_with_its_arguments_and_goes_by_the_answer(
    browser: Browser, answer: str, outcome: str
) -> None:
    browser.open("approvals")
    browser.sees("Nothing waits for approval.")
    browser.driver.execute_script(CALL)
    browser.sees("Calls that wait for a yes", "get_employee_info", '"employee_id": "EMP001"', "local")
    browser.click(answer)
    browser.wait(lambda: outcome in str(browser.driver.execute_script("return window.called")))
    browser.sees("Nothing waits for approval.")


def test_what_was_allowed_for_always_is_shown_and_taken_back(browser: Browser) -> None:
    browser.open("approvals")
    browser.driver.execute_script(CALL)
    browser.click("Always allow")
    browser.wait(lambda: "Kim Minjun" in str(browser.driver.execute_script("return window.called")))
    browser.sees("Always allowed", "get_employee_info", "for local")
    browser.click("Take back")
    browser.sees("Taken back: get_employee_info", "Nothing waits for approval.")
    browser.wait(lambda: "Always allowed" not in browser.text)
    assert browser.fetch("/api/approvals")["standing"] == []
    browser.driver.execute_script(CALL)
    browser.sees("Calls that wait for a yes")
    browser.click("Deny")


def test_an_answer_that_others_overtook_brings_back_nothing_that_is_over(browser: Browser) -> None:
    browser.open("approvals")
    browser.sees("Nothing waits for approval.")
    browser.driver.execute_script(HOLD + CALL)
    browser.wait(lambda: browser.driver.execute_script("return Boolean(window.arrive)"))  # what says that it waits
    (held,) = browser.fetch("/api/approvals")["waiting"]
    browser.fetch(f"/api/approvals/{held['id']}", "POST", json.dumps({"decision": "deny"}))
    browser.wait(lambda: browser.driver.execute_script("return window.called && window.later"))
    browser.fetch("/api/session")  # in which the later answer is drawn
    browser.driver.execute_script("arrive()")
    browser.fetch("/api/session")
    browser.sees("Nothing waits for approval.")
