"""Debian's Chromium for tests: opens pages of the console, waits, clicks, tabs, takes pictures."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --lang=en --window-size=1280,900"
).split()
CLICK = """
const found = [...document.querySelectorAll('dialog[open] button, #main button, #foot button')]
  .filter(one => one.textContent === arguments[0] && one.offsetParent && !one.disabled && one.ariaDisabled !== 'true');
if (found.length) found[0].click();
return found.length > 0;
"""
REACHABLE = """
return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(one => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({visibilityProperty: true}))
  .map(one => one.outerHTML.slice(0, 160));
"""
NOTED = """window.followed = [];
window.EventSource = class extends EventSource {
  constructor(...given) { super(...given); followed.push(this); }
};"""
FOLLOWS = "return followed.every(one => one.readyState !== EventSource.CONNECTING)"


class Browser:
    """A browser on one hub's console."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self, page: str) -> None:
        """Load a page anew and wait until it has drawn itself and hears of what happens elsewhere from now on."""
        self.driver.get(f"{self.url}/#/{page}")
        self.driver.refresh()
        self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, "main h1"))
        self.wait(lambda: self.driver.execute_script(FOLLOWS))

    def wait(self, condition: Callable[[], Any], seconds: float = 60) -> Any:
        """Wait for a condition; bounded."""
        return WebDriverWait(self.driver, seconds, poll_frequency=0.1).until(lambda _: condition())

    @property
    def text(self) -> str:
        """What a person reads in the page now, dialogs included."""
        script = "return [...document.querySelectorAll('#main, dialog, #live')].map(one => one.innerText).join('\\n')"
        return str(self.driver.execute_script(script))

    def sees(self, *texts: str, seconds: float = 60) -> None:
        """Wait until all of these can be read."""

        def are_shown() -> bool:
            shown = self.text
            return all(text in shown for text in texts)

        self.wait(are_shown, seconds)

    def click(self, label: str) -> None:
        """Press the button of that label; in one step, since pages draw themselves anew when a server changes."""
        self.wait(lambda: self.driver.execute_script(CLICK, label))

    def find(self, selector: str) -> WebElement:
        """Return the first element."""
        return self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector))[0]

    def field(self, label: str) -> WebElement:
        """Return the input that a label names."""
        script = """return [...document.querySelectorAll('label')].find(one => one.offsetParent
          && one.firstChild.textContent.trim() === arguments[0])?.control"""
        return self.wait(lambda: self.driver.execute_script(script, label))

    def fetch(self, path: str, method: str = "GET", body: str | None = None) -> Any:
        """Ask the hub from inside the page; return its JSON, or the status when there is none."""
        script = """return fetch(arguments[0], {method: arguments[1], body: arguments[2] ?? undefined,
          headers: {'Content-Type': 'application/json'}}).then(r => r.json().catch(() => r.status))"""
        return self.driver.execute_script(script, path, method, body)

    def tab(self, most: int = 80) -> Iterator[WebElement]:
        """Press Tab again and again; yield what has the focus each time, until it leaves the page."""
        for _ in range(most):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            if self.driver.execute_script("return document.activeElement === document.body"):
                return
            yield self.driver.switch_to.active_element

    def focused(self) -> str:
        """Return the beginning of the markup of what has the focus; in one step, as `click`."""
        return str(self.driver.execute_script("return document.activeElement.outerHTML.slice(0, 160)"))

    def reachable(self) -> set[str]:
        """Return the visible elements that the keyboard should come to, by the beginning of their markup."""
        return set(self.driver.execute_script(REACHABLE))

    def look(self, width: int, theme: str) -> None:
        """Change the window's width and the system's theme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def complaints(self) -> list[str]:
        """Return what the browser logged about the content policy or a script's error since the last time."""
        lines = [line["message"] for line in self.driver.get_log("browser")]
        return [line for line in lines if "Content Security Policy" in line or "Uncaught" in line]


@contextmanager
def open_browser(url: str, profile: Path, *more: str) -> Iterator[Browser]:
    """Start Chromium with a fresh profile, and more flags; skips where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, *more, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_script_timeout(60)
    made.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTED})
    try:
        yield Browser(made, url)
    finally:
        made.quit()
