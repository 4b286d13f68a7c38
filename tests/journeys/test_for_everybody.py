"""Every page for whoever enlarges it, has no room, no mouse, colours of their own, or wants no motion (WCAG 2.2)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.journeys.browser import Browser, open_browser
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_playground import ask, hub_in_a_thread

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
PAGES = (
    "overview", "servers", "servers/hr", "servers/lost", "tools", "tools/hr__get_employee_info", "play", "runs",
    "inspect", "models", "models/scripted", "approvals", "logs", "audit", "clients", "keys",
)  # fmt: skip
SIZES = {"narrow": (320, 640, 1), "enlarged to 200 %": (640, 450, 2)}
CALL = '<tool_call>\n{"name": "hr__get_employee_info", "arguments": {"employee_id": "EMP001"}}\n</tool_call>'
TOO_WIDE = """
const width = document.documentElement.clientWidth;
const isHeld = (one) => { for (let of = one.parentElement; of; of = of.parentElement)
  if (getComputedStyle(of).overflowX !== 'visible') return true; return false; };
return [document.documentElement, ...document.querySelectorAll('body *:not(.skip)')]
  .filter(one => one.checkVisibility() && one.scrollWidth && !isHeld(one))
  .filter(one => one.getBoundingClientRect().right > width + 1)
  .map(one => one.outerHTML.slice(0, 120));
"""
BRAND = "const box = document.querySelector('.brand').getBoundingClientRect(); return box.height"
FOCUS = """
const one = document.activeElement;
if (one === document.body) return null;
const box = one.getBoundingClientRect(), style = getComputedStyle(one);
const inside = (at, least, most) => Math.min(Math.max(at, least), most - 1);
const top = document.elementFromPoint(inside(box.left + Math.min(box.width / 2, 20), 0, innerWidth),
  inside(box.top + Math.min(box.height / 2, 12), 0, innerHeight));
return {html: one.outerHTML.slice(0, 120),
  outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
  free: Boolean(top) && (one.contains(top) || top.contains(one))};
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with (
        hub_in_a_thread(tmp_path_factory.mktemp("data"), CALL, "Kim works here.") as url,
        open_browser(url, tmp_path_factory.mktemp("profile")) as opened,
    ):
        opened.look(1280, "light")
        ask(opened, "Who is EMP001?")
        opened.sees("ended: answered")
        config = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Long": "v" * 90}}
        lost = {"name": "lost", "description": "긴 설명 " * 20, "transportType": "HTTP", "config": config}
        opened.fetch("/api/mcp/servers", "POST", json.dumps(lost))
        yield opened


def emulate(browser: Browser, **features: str) -> None:
    given = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": given})


def size(browser: Browser, width: int, height: int, scale: int) -> None:
    given = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", given)


def look(browser: Browser, script: str) -> Any:
    return browser.driver.execute_script(script)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("way", SIZES)
def test_every_page_is_read_without_scrolling_to_the_side(browser: Browser, way: str, language: str) -> None:
    size(browser, *SIZES[way])
    look(browser, f"localStorage.setItem('language', '{language}')")
    for page in PAGES:
        browser.open(page)
        assert look(browser, TOO_WIDE) == [], page
        assert look(browser, BRAND) < 45, "the name stands in one line"
    look(browser, "localStorage.setItem('language', 'en')")


@pytest.mark.parametrize("width", [1280, 320])
def test_the_focus_is_seen_on_every_page_forwards_and_backwards(browser: Browser, width: int) -> None:
    size(browser, width, 640, 1)
    keys = Keyboard(browser)
    for page in PAGES:
        browser.open(page)
        look(browser, "document.getElementById('skip').focus()")
        reached = 0
        for is_back in (False, True):
            for _ in range(100):
                keys.back() if is_back else keys.press("\ue004")
                focus = look(browser, FOCUS)
                if focus is None:
                    break
                reached += 1
                assert focus["outlined"], f"{page}: {focus['html']}"
                assert focus["free"], f"{page}: something lies over {focus['html']}"
        assert reached > 20, page


def test_forced_colours_leave_what_was_told_by_a_background(browser: Browser) -> None:
    size(browser, 1280, 900, 1)
    emulate(browser, forced_colors="active")
    browser.open("servers")
    browser.sees("lost")
    chips = "[...document.querySelectorAll('.chips button')].map(one => getComputedStyle(one).backgroundColor)"
    pressed, other, *_ = look(browser, f"return {chips}")
    assert pressed != other
    assert (
        look(browser, "return getComputedStyle(document.querySelector('.state'), '::before').borderTopWidth") != "0px"
    )
    browser.open("inspect")
    browser.click("Read")
    browser.sees("Calls (1)")
    assert look(browser, "return getComputedStyle(document.querySelector('.span-call')).outlineStyle") == "solid"
    browser.open("runs")
    look(browser, "document.querySelector('.list a').click()")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".fall .track i"))
    assert look(browser, "return getComputedStyle(document.querySelector('.fall .track i')).borderTopWidth") != "0px"
    browser.open("overview")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".plot canvas"))
    marks = "[...document.querySelectorAll('.plot')[1].querySelectorAll('.u-marker')].map(one => one.style.borderColor)"
    browser.wait(lambda: len(set(look(browser, f"return {marks}"))) >= 3)
    emulate(browser, forced_colors="none")


def test_nothing_moves_for_whoever_wants_no_motion(browser: Browser) -> None:
    moving = "return document.getAnimations().map(one => one.animationName ?? one.transitionProperty)"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # which takes connections and never answers
        config = {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"}
        body = {"name": "waits", "transportType": "HTTP", "config": config}
        browser.fetch("/api/mcp/servers", "POST", json.dumps(body))
        emulate(browser, prefers_reduced_motion="no-preference")
        browser.open("servers")
        browser.wait(lambda: "pulse" in look(browser, moving))
        emulate(browser, prefers_reduced_motion="reduce")
        browser.open("servers")
        browser.sees("Connecting")
        assert look(browser, moving) == []
        browser.fetch("/api/mcp/servers/waits", "DELETE")
