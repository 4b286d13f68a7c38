"""A person without a mouse: keys go to the browser as they are typed, and nothing else moves the focus."""

from __future__ import annotations

import time
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from tests.journeys.browser import Browser
from tests.waiting import HANG_SECONDS

FOCUS = """
const one = document.activeElement, style = getComputedStyle(one);
return {tag: one.tagName, outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
  box: one.getBoundingClientRect().toJSON(), text: one.innerText ?? ''};
"""


class Keyboard:
    """Keys for one browser; every Tab is looked at: a focus that cannot be seen fails."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        # As the window that a person works in: a headless one can lose that, and draws no outline then.
        browser.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def press(self, *keys: str) -> None:
        """Type these keys into whatever has the focus."""
        actions = ActionChains(self.browser.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def back(self) -> None:
        """Press Shift and Tab."""
        ActionChains(self.browser.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    @property
    def at(self) -> tuple[str, str]:
        """Role and accessible name of what has the focus, as the browser tells them to a screen reader."""
        try:
            focused = self.browser.driver.switch_to.active_element
            return focused.aria_role, focused.accessible_name
        except StaleElementReferenceException:
            return self.at  # it was drawn anew between the two questions

    def focus(self) -> dict[str, Any]:
        """Return tag, text, box in px and whether an outline is drawn of what has the focus."""
        return dict(self.browser.driver.execute_script(FOCUS))

    def to(self, role: str, name: str, *, back: bool = False) -> None:
        """Tab on, round and round, until what has the focus is of this role and its name begins so: it may yet come."""
        passed: dict[tuple[str, str], None] = {}
        until = time.monotonic() + HANG_SECONDS
        while time.monotonic() < until:
            self.back() if back else self.press(Keys.TAB)
            focus = self.focus()
            if focus["tag"] in ("BODY", "HTML", "MAIN"):
                continue  # the frame of the browser lies between end and beginning; a new page begins at its main
            at = self.at
            assert focus["outline"], f"nobody sees that {at} has the focus"
            if at[0] == role and at[1].startswith(name):
                return
            passed[at] = None
        raise AssertionError(f"no {role} {name!r} by Tab; passed: {[*passed]}")

    def use(self, role: str, name: str, *keys: str, back: bool = False) -> None:
        """Tab to it and press these keys, Enter when none are given."""
        self.to(role, name, back=back)
        self.press(*(keys or (Keys.ENTER,)))

    def rests(self, role: str, name: str) -> None:
        """Wait until the focus rests on this, and is seen."""
        try:
            self.browser.wait(lambda: self._is_at(role, name) and self.focus()["outline"], 30)
        except TimeoutException as error:
            raise AssertionError(f"the focus is at {self.at}, not seen at {role} {name!r}") from error

    def _is_at(self, role: str, name: str) -> bool:
        at = self.at
        return at[0] == role and at[1].startswith(name)

    def hears(self, text: str) -> None:
        """Wait until a live region says this."""
        script = """return [...document.querySelectorAll('[aria-live="polite"], [role="status"], [role="alert"]')]
          .map(one => one.innerText).join('\\n')"""
        self.browser.wait(lambda: text in self.browser.driver.execute_script(script))
