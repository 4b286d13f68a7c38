"""Pages of the console in a real browser: Markdown, trees, logs, audit, a probe, two consoles (issue 22, line 4)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from tests.docs.fake_model import MODEL, fake_model
from tests.journeys.browser import Browser, open_browser
from tests.journeys.keyboard import Keyboard
from tests.journeys.test_playground import ask, hub_in_a_thread
from tests.waiting import HANG_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
HOSTILE = """# Staff

Two **people** & `1 < 2`:

| name | days |
|---|--:|
| Kim | 7 |

1. one
2. [the page](https://example.com/a?b=1&c=2)
3. [click](javascript:window.hit=1) and ![pixel](https://evil.example/p.png)

<img src=x onerror=window.hit=2><script>window.hit=3</script>

<div onclick="window.hit=4">
**inside**
</div>

[x]: javascript:window.hit=5
[x] <javascript:window.hit=6> &lt;b&gt;
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with hub_in_a_thread(tmp_path_factory.mktemp("data"), says=lambda request: HOSTILE) as served:
        yield served


@pytest.fixture(scope="module")
def browser(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(url, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def inside(browser: Browser, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(one => one.innerText)"
    return list(browser.driver.execute_script(script, selector))


def test_an_answer_is_markdown_and_nothing_in_it_runs_or_leaves(browser: Browser) -> None:
    ask(browser, "Who works here?")
    browser.sees("ended: answered")
    browser.wait(lambda: inside(browser, ".answer h3") == ["Staff"])
    assert inside(browser, ".answer td") == ["Kim", "7"]
    sides = "return [...document.querySelectorAll('.answer td')].map(one => getComputedStyle(one).textAlign)"
    assert browser.driver.execute_script(sides) == ["left", "right"]  # as the model wrote them
    assert inside(browser, ".answer strong")[0] == "people"
    assert "1 < 2" in inside(browser, ".answer code")
    links = browser.driver.execute_script("return [...document.querySelectorAll('.answer a')].map(one => one.href)")
    assert set(links) == {"https://example.com/a?b=1&c=2", "https://evil.example/p.png"}
    for shown in ("<img src=x onerror=window.hit=2>", "javascript:window.hit=1", '<div onclick="window.hit=4">'):
        assert shown in browser.find(".answer").text
    assert not browser.driver.find_elements("css selector", ".answer :is(img, script, div[onclick], iframe)")
    assert browser.driver.execute_script("return window.hit ?? null") is None
    assert browser.complaints() == []
    browser.open("runs")
    browser.driver.execute_script("document.querySelector('.list a').click()")
    browser.wait(lambda: inside(browser, ".answer h3") == ["Staff"])


def test_a_question_of_many_lines_leaves_room_for_the_rest(browser: Browser) -> None:
    asked = {"model": "m+tools", "messages": [{"role": "user", "content": "Who is where, and since when? " * 60}]}
    browser.open("runs")
    browser.fetch("/v1/chat/completions", "POST", json.dumps(asked))
    browser.look(390, "light")
    browser.open("runs")
    height = "return document.querySelector(arguments[0]).getBoundingClientRect().height"
    browser.wait(lambda: "since when?" in browser.text)
    assert browser.driver.execute_script(height, ".list .name") < 80
    browser.driver.execute_script("document.querySelector('.list a').click()")
    browser.wait(lambda: "since when?" in "".join(inside(browser, "h1")))
    assert browser.driver.execute_script(height, "h1") < 160
    browser.look(1280, "light")


def test_a_file_of_the_page_that_once_did_not_come_is_asked_for_again(browser: Browser) -> None:
    def blocked(*urls: str) -> None:
        browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": list(urls)})

    browser.driver.execute_cdp_cmd("Network.enable", {})
    blocked("*/marked.js", "*/uplot.js")
    try:
        ask(browser, "Who works here?")
        browser.sees("ended: answered", "# Staff")
        browser.driver.execute_script("location.hash = '#/overview'")
        browser.wait(lambda: browser.driver.find_elements("css selector", "script[src$='uplot.js']"))
        browser.wait(lambda: inside(browser, "main h1") == ["Overview"])
    finally:
        blocked()
    browser.driver.execute_script("location.hash = '#/runs'")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".list a"))
    browser.driver.execute_script("document.querySelector('.list a').click()")
    browser.wait(lambda: inside(browser, ".answer h3") == ["Staff"])
    browser.driver.execute_script("location.hash = '#/overview'")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".plot canvas"))


def test_a_json_result_is_a_tree_that_opens_and_can_be_read_as_text(browser: Browser) -> None:
    browser.open("tools/hr__get_all_employees")
    browser.click("Run")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".tree summary"))
    assert "Kim Minjun" not in inside(browser, ".tree")[0]
    browser.driver.execute_script("document.querySelectorAll('.tree details').forEach(one => { one.open = true })")
    browser.driver.execute_script("document.querySelectorAll('.tree details').forEach(one => { one.open = true })")
    browser.wait(lambda: "Kim Minjun" in inside(browser, ".tree")[0])
    browser.click("As text")
    browser.wait(lambda: not browser.find(".tree").is_displayed())
    browser.sees('"Kim Minjun"')


def test_a_log_line_comes_by_itself_and_is_filtered(browser: Browser) -> None:
    browser.open("logs")
    logging.getLogger("naru.test").warning("the ferry left")
    browser.sees("the ferry left")
    logging.getLogger("naru.test").error("the pier burns")
    browser.sees("the pier burns")
    rows = inside(browser, ".lines > li")
    assert "the pier burns" in rows[0], "the newest stands first"
    browser.find("main select").send_keys("≥ error")
    browser.wait(lambda: "the ferry left" not in browser.text)
    browser.click("Pause")
    logging.getLogger("naru.test").error("unseen")
    browser.find("input[type=search]").send_keys("pier")
    browser.wait(lambda: len(inside(browser, ".lines > li")) == 1)


def test_who_looks_on_at_the_logs_leaves_most_of_a_keys_requests_for_other_things(browser: Browser) -> None:
    noted = """const began = setInterval;
      window.paces = [];
      window.setInterval = (work, every) => { paces.push(every); return began(work, every); };"""
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": noted})
    browser.open("logs")
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    paces = browser.driver.execute_script("return paces")
    assert 1 <= sum(60_000 / pace for pace in paces) <= 20, "of a hundred a minute"


def test_a_change_stands_in_the_audit_log_as_it_happens_and_the_chain_is_checked(browser: Browser) -> None:
    browser.open("audit")
    assert browser.fetch("/api/mcp/servers/hr/refresh", "POST")
    browser.sees("/api/mcp/servers/hr/refresh")
    browser.fetch("/api/tools/call", "POST", json.dumps({"name": "hr__search_docs", "arguments": {"query": "q" * 99}}))
    browser.sees("tool=search_docs")
    first = browser.driver.execute_script("return document.querySelector('.line summary').textContent")
    assert first.endswith("…"), "what is cut short says so"
    browser.click("Check the chain")
    browser.sees("The chain holds")
    browser.find("input[type=search]").send_keys("no such thing")
    browser.sees("Nothing matches.")


def test_two_consoles_show_a_change_without_a_click(browser: Browser, url: str, tmp_path: Path) -> None:
    with open_browser(url, tmp_path / "profile") as other:
        for one in (browser, other):
            one.open("servers")
            one.sees("hr", "Connected")
            one.driver.execute_script("window.kept = true")
        browser.fetch("/api/mcp/servers/hr/disconnect", "POST")
        for one in (browser, other):
            one.sees("Disconnected")
        other.open("overview")
        other.sees("0 / 1")
        other.driver.execute_script("window.kept = true")
        browser.fetch("/api/mcp/servers/hr/connect", "POST")
        browser.sees("Connected")
        other.sees("1 / 1")
        for one in (browser, other):
            assert one.driver.execute_script("return window.kept"), "the page was loaded anew"


def test_two_consoles_show_tools_that_come_and_go_without_a_click(browser: Browser, url: str, tmp_path: Path) -> None:
    with open_browser(url, tmp_path / "profile") as other:
        for one in (browser, other):
            one.open("tools")
            one.sees("hr__get_all_employees")
            one.driver.execute_script("window.kept = true")
        browser.fetch("/api/mcp/servers/hr/disconnect", "POST")
        for one in (browser, other):
            one.wait(lambda one=one: "hr__get_all_employees" not in one.text)
        other.fetch("/api/mcp/servers/hr/connect", "POST")
        for one in (browser, other):
            one.sees("hr__get_all_employees")
            assert one.driver.execute_script("return window.kept"), "the page was loaded anew"


def test_the_plots_are_read_and_followed_by_keyboard(browser: Browser) -> None:
    browser.open("overview")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".plot canvas"))
    plot = next(one for one in browser.tab() if "plot" in (one.get_attribute("class") or "").split())
    plot.send_keys(Keys.END)
    browser.wait(lambda: any("All" in said for said in inside(browser, ".spoken")))
    last = inside(browser, ".spoken")[0]
    plot.send_keys(Keys.ARROW_LEFT)
    browser.wait(lambda: inside(browser, ".spoken")[0] != last)
    plot.send_keys(Keys.ENTER)
    browser.wait(lambda: "#/runs?after=" in browser.driver.current_url)


def test_the_plots_take_the_systems_new_theme_at_once(browser: Browser) -> None:
    only_then = {"source": "window.setInterval = () => 0"}  # not with the next figures
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", only_then)
    browser.look(1280, "light")
    browser.open("overview")
    browser.wait(lambda: browser.driver.find_elements("css selector", ".plot canvas"))
    shown = "return document.querySelector('.plot canvas').toDataURL()"
    light = browser.driver.execute_script(shown)
    browser.look(1280, "dark")
    browser.wait(lambda: browser.driver.execute_script(shown) != light)
    browser.look(1280, "light")
    browser.wait(lambda: browser.driver.execute_script(shown) == light)
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_model_is_measured_from_its_page_by_the_keyboard(tmp_path: Path) -> None:
    with (
        fake_model() as base_url,
        hub_in_a_thread(tmp_path / "data", model={"base_url": base_url, "model": MODEL, "api": "openai"}) as url,
        open_browser(url, tmp_path / "profile") as browser,
    ):
        keys = Keyboard(browser)
        browser.open("models")
        browser.sees(MODEL, "Not measured")
        keys.use("link", MODEL)
        browser.sees("Probe now", f"naru probe {MODEL}")
        keys.use("button", "Probe now")
        browser.sees("Tool calls, its own", "Picks from 27 tools")
        # The probe has ended, and is kept; what it still measures then takes seconds of a whole processor.
        browser.wait(lambda: browser.find("main .head button.main").is_enabled(), 5 * HANG_SECONDS)
        keys.rests("button", "Probe now")
        browser.open("models")
        browser.wait(lambda: browser.driver.find_elements("css selector", ".list .side"))
        assert "Not measured" not in browser.text
        assert json.loads((tmp_path / "data" / "probes.json").read_text(encoding="utf-8"))
