"""What the console shows while things go on, and when they go wrong."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from tests.journeys.browser import Browser, open_browser
from tests.journeys.test_hr import wait_until_ready
from tests.ports import free_port

from naru.cli.serve.listening import listen
from naru.config import Settings
from naru.hub import open_hub
from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
TWO_CALLS = "\n".join(
    f"<tool_call>\n{json.dumps({'name': name, 'arguments': {'employee_id': who, **more}})}\n</tool_call>"
    for name, who, more in (
        ("hr__get_employee_info", "EMP001", {}),
        ("hr__get_employee_info", "EMP002", {}),
    )
)


@contextmanager
def hub_in_a_thread(
    folder: Path, *answers: str, says: Callable[[ChatRequest], str] | None = None, **sections: dict[str, object]
) -> Iterator[str]:
    """Serve a hub with the HR server and a model that says these, what a function says, or the settings' own.

    Yields its address.
    """
    sections["server"] = {"port": 0, **sections.get("server", {})}
    settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:", "demo": True}, **sections})
    bound = listen("127.0.0.1", 0)
    ends = threading.Event()
    ready = threading.Event()

    async def main() -> None:
        backend = None if "model" in sections else ScriptedBackend(says or list(answers))
        async with open_hub(settings, backend=backend) as hub, open_app(hub) as app:
            assert await hub.manager.connect("hr")
            server = uvicorn.Server(uvicorn.Config(app.asgi, log_level="warning", lifespan="off"))
            served = asyncio.ensure_future(server.serve(sockets=[bound]))
            ready.set()
            await asyncio.to_thread(ends.wait)
            app.stopping()
            server.should_exit = True
            await served

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="hub")
    thread.start()
    assert ready.wait(90)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        ends.set()
        thread.join(90)


def ask(browser: Browser, question: str) -> None:
    browser.open("play")
    browser.field("Question").send_keys(question)
    browser.click("Ask")


def opened(browser: Browser) -> list[str]:
    """Open every call's row; return what stands in each."""
    rows = "[...document.querySelectorAll('.fall li.tool details')]"
    script = f"return {rows}.map(one => {{ one.open = true; return one.innerText }})"
    return list(browser.driver.execute_script(script))


def test_calls_side_by_side_keep_their_own_arguments_and_a_held_one_is_answered_in_place(tmp_path: Path) -> None:
    approvals = {"ask": ["hr/get_employee_info"]}
    with (
        hub_in_a_thread(tmp_path / "data", TWO_CALLS, "Both were found.", approvals=approvals) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        ask(browser, "Who are EMP001 and EMP002?")
        browser.sees("runs:", "Allow once")
        browser.click("Allow once")
        browser.click("Allow once")
        browser.sees("Both were found.")
        rows = opened(browser)
        assert len(rows) == 2
        for row, who, name in zip(rows, ("EMP001", "EMP002"), ("Kim Minjun", "이서연"), strict=True):
            assert f'"employee_id": "{who}"' in row
            assert name in row
            assert "written by the model" in row  # issue 14: the law is shown for each call
        left = browser.driver.execute_script(
            "return [...document.querySelectorAll('.fall li.tool .track i')].map(one => one.style.left)"
        )
        assert left[0] == left[1], "calls of one round begin together"


COUNTED = """window.ticking = new Set();
const [begin, end] = [setInterval, clearInterval];
window.setInterval = (...given) => { const one = begin(...given); ticking.add(one); return one; };
window.clearInterval = (one) => { ticking.delete(one); end(one); };
"""


AWAY_AND_BACK = """for (const what of ['error', 'open']) followed.at(-1).dispatchEvent(new Event(what));"""


def test_a_connection_cut_for_a_moment_takes_nothing_away_and_a_question_that_is_left_asks_no_more(
    tmp_path: Path,
) -> None:
    with (
        hub_in_a_thread(tmp_path / "data", TWO_CALLS, approvals={"ask": ["hr/*"]}) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        browser.open("play")
        browser.driver.execute_script(COUNTED)
        browser.field("Question").send_keys("Who are EMP001 and EMP002?")
        browser.click("Ask")
        browser.sees("Allow once")
        browser.driver.execute_script("document.querySelector('.turn').dataset.mine = 'yes'")
        browser.driver.execute_script(AWAY_AND_BACK)
        browser.driver.execute_script("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        browser.click("Allow once")
        assert browser.driver.execute_script("return document.querySelector('.turn').dataset.mine") == "yes"
        browser.driver.execute_script("location.hash = '#/keys'")
        browser.wait(lambda: browser.driver.execute_script("return ticking.size") == 0, 20)
        browser.field("Owner").send_keys("Kim")
        browser.driver.execute_script(AWAY_AND_BACK)
        browser.sees("There are no keys")
        assert browser.field("Owner").get_attribute("value") == "Kim"
        assert not browser.find("#away").is_displayed()


def test_the_badge_of_approvals_is_right_without_a_click(tmp_path: Path) -> None:
    with (
        hub_in_a_thread(tmp_path / "data", approvals={"ask": ["hr/*"]}) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        browser.open("servers")
        browser.driver.execute_script(
            "fetch('/api/tools/call', {method: 'POST', headers: {'Content-Type': 'application/json'},"
            " body: JSON.stringify({name: 'hr__get_all_employees', arguments: {}})})"
        )
        badge = "return document.querySelector('#nav .count:not([hidden])')?.textContent"
        browser.wait(lambda: browser.driver.execute_script(badge) == "1")
        browser.driver.execute_script("location.hash = '#/approvals'")  # Leaving the page would end the call.
        browser.click("Deny")
        browser.wait(lambda: browser.driver.execute_script(badge) is None)


def test_programs_are_sent_to_the_command_line_before_a_form_is_filled(tmp_path: Path) -> None:
    with hub_in_a_thread(tmp_path / "data") as url, open_browser(url, tmp_path / "profile") as browser:
        browser.open("servers")
        browser.click("Add a server")
        browser.field("Name").send_keys("time")
        Select(browser.field("Transport")).select_by_visible_text("STDIO")
        browser.sees("cannot add servers that start a program", "naru servers add time -- npx")
        browser.field("Program").send_keys("uvx")
        browser.field("Arguments").send_keys("mcp-server-time" + Keys.ENTER + "--tz=Asia/Seoul now")
        browser.sees("naru servers add time -- uvx mcp-server-time '--tz=Asia/Seoul now'")
        assert not browser.find("dialog button.main").is_enabled()
        Select(browser.field("Transport")).select_by_visible_text("HTTP")
        assert browser.find("dialog button.main").is_enabled()


def test_what_is_wrong_with_pasted_text_is_said_once(tmp_path: Path) -> None:
    with hub_in_a_thread(tmp_path / "data") as url, open_browser(url, tmp_path / "profile") as browser:
        browser.open("servers")
        browser.click("Add a server")
        browser.click("Paste mcpServers JSON")
        browser.find("dialog textarea[placeholder^='{']").send_keys('{"mcpServers": 1')
        browser.sees("This is not JSON")
        browser.click("Save")
        assert browser.text.count("This is not JSON") == 1


def test_a_wrong_key_is_said_at_its_field(tmp_path: Path) -> None:
    key = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"
    with (
        hub_in_a_thread(tmp_path / "data", server={"api_key": key, "auth": "on"}) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        browser.open("servers")
        browser.sees("Sign in with a key")
        field = browser.field("API key")
        field.send_keys("wrong" + Keys.ENTER)
        browser.wait(lambda: "not valid" in browser.find("#wrong-key").text)
        assert "curl" not in browser.text
        assert field.get_attribute("aria-invalid") == "true"
        field.send_keys(key + Keys.ENTER)
        browser.sees("hr")


def test_a_hub_that_goes_away_is_told_and_taken_up_again_by_two_consoles(tmp_path: Path) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path / "data"),
        "NARU_MODEL__BASE_URL": "http://127.0.0.1:9/v1",
        "NARU_MODEL__MODEL": "none",
    }
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--demo", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    hub = subprocess.Popen(command, env=environment)
    try:
        wait_until_ready(url, hub)
        with (
            open_browser(url, tmp_path / "profile") as browser,
            open_browser(url, tmp_path / "other") as other,
        ):
            for one in (browser, other):
                one.open("servers")
                one.sees("hr", "Connected")
                one.driver.execute_script("window.kept = true")
            own = [sys.executable, "-m", "naru.builtins.hr.server"]
            banner = "return document.getElementById('away').innerText"
            hub.terminate()
            hub.wait(timeout=90)
            for one in (browser, other):
                one.wait(lambda one=one: "does not answer" in one.driver.execute_script(banner))
            subprocess.run(
                [sys.executable, "-m", "naru.cli.main", "servers", "add", "later", "--", *own],
                env=environment,
                check=True,
                capture_output=True,
                timeout=120,
            )
            hub = subprocess.Popen(command, env=environment)
            wait_until_ready(url, hub)
            for one in (browser, other):
                one.sees("later")
                assert one.driver.execute_script(banner) == ""
            assert browser.fetch("/api/mcp/servers/later", "DELETE") == 204
            for one in (browser, other):
                one.wait(lambda one=one: "later" not in one.text)
                assert one.driver.execute_script("return window.kept"), "the page was loaded anew"
    finally:
        hub.terminate()
        hub.wait(timeout=90)
