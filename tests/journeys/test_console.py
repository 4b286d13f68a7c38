"""The console in a real browser against the real product (issue: what a person sees; S-68)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait
from tests.client_environments import node_environment
from tests.conftest import EngineAddress
from tests.journeys.test_hr import free_port, wait_until_ready

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.chromium, pytest.mark.timeout(400)]
OUTPUT = Path(__file__).parents[2] / "output"
PAGES = ("servers", "servers/hr", "tools", "tools/hr__get_employee_info", "play", "runs", "inspect", "models", "keys")
XSS = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'>"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="module")
def url(local_engine: EngineAddress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    environment = {
        **os.environ,
        "NARU_HUB__DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "NARU_MODEL__MODEL": local_engine.model,
        "NARU_MODEL__BASE_URL": local_engine.base_url,
        "NARU_MODEL__API_KEY": local_engine.api_key,
    }
    command = [sys.executable, "-m", "naru.cli.main", "serve", "--demo", "--store", "memory:", "--port", str(port)]
    process = subprocess.Popen(command, env=environment)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        *FLAGS,
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
        "--lang=en",
        "--window-size=1280,900",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_script_timeout(60)
    yield made
    made.quit()


def open_page(browser: webdriver.Chrome, url: str, page: str) -> None:
    browser.get(f"{url}/#/{page}")
    browser.refresh()
    wait_for(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "main h1"))


def wait_for(browser: webdriver.Chrome, condition, seconds: float = 30):
    return WebDriverWait(browser, seconds, poll_frequency=0.1).until(lambda _: condition())


def text(browser: webdriver.Chrome) -> str:
    return browser.execute_script("return document.getElementById('main').innerText")


CLICK = """
const found = [...document.querySelectorAll('dialog button, #main button, #tools button')]
  .filter(one => one.textContent === arguments[0] && one.offsetParent && !one.disabled);
if (found.length) found[0].click();
return found.length > 0;
"""


def click(browser: webdriver.Chrome, label: str) -> None:
    # In one step, since the page draws itself anew whenever a server changes.
    wait_for(browser, lambda: browser.execute_script(CLICK, label), 10)


def test_a_server_is_added_fails_with_a_reason_and_is_removed(browser: webdriver.Chrome, url: str) -> None:
    open_page(browser, url, "servers")
    click(browser, "Add a server")
    dialog = browser.find_element(By.TAG_NAME, "dialog")
    dialog.find_elements(By.TAG_NAME, "input")[0].send_keys("lost")
    dialog.find_element(By.CSS_SELECTOR, "input[placeholder^=http]").send_keys("http://127.0.0.1:9/mcp")
    click(browser, "Save")
    wait_for(browser, lambda: "lost" in text(browser))
    open_page(browser, url, "servers/lost")
    wait_for(browser, lambda: "What is wrong and what to do" in text(browser))
    assert "127.0.0.1:9" in text(browser)
    browser.execute_script("window.confirm = () => true")
    click(browser, "Remove")
    wait_for(browser, lambda: browser.current_url.endswith("#/servers"))


def test_a_tool_is_run_from_its_form(browser: webdriver.Chrome, url: str) -> None:
    open_page(browser, url, "tools/hr__get_employee_info")
    browser.find_element(By.CSS_SELECTOR, "form input").send_keys("EMP001")
    click(browser, "Run")
    wait_for(browser, lambda: "Kim Minjun" in text(browser))


def test_a_question_in_korean_streams_its_answer_and_leaves_a_run(browser: webdriver.Chrome, url: str) -> None:
    open_page(browser, url, "play")
    Select(browser.find_elements(By.TAG_NAME, "select")[1]).select_by_visible_text("hr")
    browser.find_element(By.TAG_NAME, "textarea").send_keys("EMP002의 2025년 남은 연차")
    click(browser, "Ask")
    wait_for(browser, lambda: "ended: answered" in text(browser), 120)
    assert "14" in browser.find_element(By.CSS_SELECTOR, ".answer").text
    open_page(browser, url, "runs")
    browser.execute_script("document.querySelector('tbody a').click()")
    wait_for(browser, lambda: "Round 1" in text(browser))
    assert browser.find_elements(By.CSS_SELECTOR, ".bar rect")
    click(browser, "Replay")
    wait_for(browser, lambda: "came to the same" in text(browser))


def test_raw_text_is_inspected_with_the_call_coloured(browser: webdriver.Chrome, url: str) -> None:
    open_page(browser, url, "inspect")
    click(browser, "Read")
    wait_for(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".span-call"))
    assert "get_weather" in text(browser)


def test_text_from_outside_never_becomes_markup(browser: webdriver.Chrome, url: str) -> None:  # S-68
    body = {
        "name": "evil",
        "description": XSS,
        "transportType": "HTTP",
        "config": {"url": f"http://127.0.0.1:9/{'x' * 5}"},
    }
    send = (
        "return fetch('/api/mcp/servers', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: arguments[0]}).then(r => r.status)"
    )
    assert browser.execute_script(send, json.dumps(body)) in (200, 201)
    for page in ("servers", "servers/evil"):
        open_page(browser, url, page)
        assert XSS in text(browser)
        assert not browser.find_elements(By.CSS_SELECTOR, "main img, main script")
    browser.execute_script("return fetch('/api/mcp/servers/evil', {method: 'DELETE'})")
    refused = [line["message"] for line in browser.get_log("browser") if "Content Security Policy" in line["message"]]
    assert refused == []


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_and_has_no_serious_accessibility_finding(
    browser: webdriver.Chrome, url: str, width: int
) -> None:
    axe = (node_environment({"axe-core": "4.11.0"}) / "node_modules" / "axe-core" / "axe.min.js").read_text()
    OUTPUT.mkdir(exist_ok=True)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    for page in PAGES:
        open_page(browser, url, page)
        browser.save_screenshot(str(OUTPUT / f"console-{page.replace('/', '-')}-{width}.png"))
        overflow = browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 1, f"{page} is {overflow} px too wide at {width}"
        browser.execute_script(axe)
        found = browser.execute_async_script(
            "axe.run(document).then(r => arguments[0](r.violations"
            ".filter(v => ['serious', 'critical'].includes(v.impact))"
            ".map(v => v.id + ': ' + v.nodes.map(n => n.html).slice(0, 2).join(' '))))"
        )
        assert found == [], f"{page} at {width}"


def test_the_console_speaks_korean(browser: webdriver.Chrome, url: str) -> None:
    open_page(browser, url, "servers")
    click(browser, "한국어")
    wait_for(browser, lambda: "서버" in text(browser))
    click(browser, "English")
