"""The console as a person uses it: forms by schema, coming back, what changes meanwhile, a hub that goes away."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from tests.journeys.browser import Browser, open_browser
from tests.journeys.test_playground import ask, hub_in_a_thread

from naru.messages import ChatRequest

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
TEXT = {"type": "string"}
NAMES = [{"name": f"name_{number:03d}", "description": f"Thing {number}.", "inputSchema": {}} for number in range(120)]
ORDER = {
    "name": "order",
    "description": "Orders.\n\nOnly after a quote.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "who": {"$ref": "#/$defs/Who"},
            "level": {"$ref": "#/$defs/Level"},
            "count": {"allOf": [{"$ref": "#/$defs/Count"}], "description": "How many."},
            "day": {"type": "string", "format": "date"},
            "letter": TEXT,
            "way": {
                "oneOf": [
                    {"type": "object", "properties": {"card": TEXT}},
                    {"type": "object", "properties": {"iban": TEXT}},
                ]
            },
        },
        "$defs": {
            "Who": {"type": "object", "properties": {"name": TEXT, "boss": {"$ref": "#/$defs/Who"}}},
            "Level": {"enum": ["low", "high"]},
            "Count": {"type": "integer"},
        },
    },
}
SEND = {
    "name": "send",
    "inputSchema": {
        "type": "object",
        "required": ["to"],
        "properties": {
            "to": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": TEXT, "floor": {"enum": [1, 2]}, "at": {"type": "integer"}},
            },
            "copy": {"type": "object", "properties": {"name": TEXT}},
            "letter": {"type": "string", "contentEncoding": "base64"},
        },
    },
}
PLAN = {
    "name": "plan",
    "inputSchema": {
        "type": "object",
        "required": ["days", "shape"],
        "properties": {
            "days": {"type": "array", "items": {"type": "integer"}},
            "tags": {"type": "array", "items": {"enum": ["red", "blue"]}},
            "team": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "at"],
                    "properties": {
                        "name": TEXT,
                        "at": {"type": "object", "required": ["city"], "properties": {"city": TEXT}},
                    },
                },
            },
            "shape": {
                "oneOf": [
                    {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "circle"}}},
                    {
                        "type": "object",
                        "required": ["kind", "side"],
                        "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                    },
                ]
            },
        },
    },
}
RIGHT_TO_LEFT = {"name": "rtl", "description": "يبحث عن المنتجات (USD 12.50).", "inputSchema": {}}
PLAIN = [{"name": name, "inputSchema": {"type": "object"}} for name in ("count", "nothing", "held")]
CHANGES = """
const asks = window.fetch;
window.fetch = async (path, options) => {
  const answer = await asks(path, options);
  if (!window.changed && String(path).includes('/api/console/servers')) {
    window.changed = true;
    await asks('./api/mcp/servers/hr/disconnect', {method: 'POST'});
  }
  return answer;
};
"""
DRAWN = """
window.written = [];
const writes = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  written.push([this.canvas.closest('section').ariaLabel, text]);
  return writes.call(this, text, ...rest);
};
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("used")
    tools = folder / "tools.json"
    tools.write_text(json.dumps([ORDER, SEND, PLAN, RIGHT_TO_LEFT, *PLAIN, *NAMES]), encoding="utf-8")
    program = [str(Path(__file__).with_name("paper_server.py")), str(tools)]
    server = {"name": "papers", "transport": "stdio", "command": sys.executable, "args": program}

    def says(request: ChatRequest) -> str:
        return "It is so."

    with hub_in_a_thread(
        folder / "data", says=says, mcp={"servers": [server]}, approvals={"ask": ["papers/held"]}
    ) as address:
        yield address


@pytest.fixture(scope="module")
def browser(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(url, tmp_path_factory.mktemp("profile")) as opened:
        opened.open("servers")
        opened.fetch("/api/mcp/servers/papers/connect", "POST")
        yield opened


def names(browser: Browser) -> list[str]:
    script = "return [...document.querySelectorAll('#main .list .name')].map(one => one.textContent)"
    return list(browser.driver.execute_script(script))


@pytest.mark.parametrize("first", ["servers", "clients"], ids=["as_the_first_page", "after_another_page"])
def test_what_changes_while_a_page_is_read_is_shown_without_another_change(
    url: str, tmp_path: Path, first: str
) -> None:
    with open_browser(url, tmp_path / "profile") as browser:
        browser.driver.get(f"{url}/#/clients")
        browser.sees("Any MCP client")
        browser.fetch("/api/mcp/servers/hr/connect", "POST")
        if first == "servers":
            browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CHANGES})
            browser.open("servers")
        else:
            browser.open("clients")
            browser.driver.execute_script(CHANGES)
            browser.driver.execute_script("location.hash = '#/servers'")
        browser.sees("Disconnected", seconds=20)
        browser.fetch("/api/mcp/servers/hr/connect", "POST")


def test_a_schema_that_refers_to_itself_is_a_form_with_choices_days_and_shapes(browser: Browser) -> None:
    browser.open("tools/papers__order")
    assert browser.field("level").tag_name == "select"
    assert browser.field("count").get_attribute("type") == "number"
    assert browser.field("day").get_attribute("type") == "date"
    browser.sees('{"name":"…","boss":', "Orders.\n\nOnly after a quote.")
    who = browser.field("who (JSON)")
    who.send_keys('{"name": "Kim"')
    browser.click("Run")
    assert browser.driver.switch_to.active_element == who
    assert "not JSON" in who.get_property("validationMessage")
    who.send_keys("}")
    browser.field("count").send_keys("12345678901234567890")
    browser.field("letter").click()
    browser.driver.execute_cdp_cmd("Input.insertText", {"text": "Dear Kim,\n\nthe second."})
    browser.field("letter").send_keys(Keys.SHIFT + Keys.ENTER + Keys.NULL + "Yours" + Keys.ENTER)
    browser.sees("From a terminal", '"count":12345678901234567890', "Dear Kim,\\n\\nthe second.\\nYours")


def test_lists_objects_in_objects_and_forms_to_choose_from_are_filled_in_as_fields(browser: Browser) -> None:
    browser.open("tools/papers__plan")
    assert "JSON" not in browser.find("form").text
    browser.field("1").send_keys("3")
    browser.driver.execute_script("document.querySelector('[aria-label=\"Add one: days\"]').click()")
    browser.driver.switch_to.active_element.send_keys("4")
    browser.driver.execute_script("document.querySelector('[aria-label=\"Remove days 1\"]').click()")
    browser.driver.find_element(By.XPATH, "//label[normalize-space()='blue']").click()
    browser.driver.execute_script("document.querySelector('[aria-label=\"Add one: team\"]').click()")
    browser.field("name *").send_keys("Kim")
    browser.field("city *").send_keys("Busan")
    Select(browser.find("[aria-label='shape: Form']")).select_by_visible_text("square")
    browser.field("side *").send_keys("2.5")
    browser.click("Run")
    team, shape = '"team":[{"name":"Kim","at":{"city":"Busan"}}]', '"shape":{"kind":"square","side":2.5}'
    browser.sees(f'\'{{"days":[4],"tags":["blue"],{team},{shape}}}\'')


def test_a_long_number_in_a_result_is_shown_as_it_came_and_nothing_as_nothing(browser: Browser) -> None:
    browser.open("tools/papers__count")
    browser.click("Run")
    browser.wait(lambda: "12345678901234567890" in browser.find(".tree").text)
    browser.click("As text")
    browser.sees('"id": 12345678901234567890')
    browser.open("tools/papers__nothing")
    browser.click("Run")
    browser.sees("Nothing came back.")


def test_a_call_that_waits_for_a_yes_is_seen_to_and_answered_on_its_tools_page(browser: Browser) -> None:  # N9
    browser.open("tools/papers__held")
    browser.click("Run")
    browser.sees("papers__held", "runs:", "Called by local")
    browser.click("Deny")
    browser.sees("The tool failed", "A person denied the call")
    assert "runs:" not in browser.text


def test_a_text_from_right_to_left_keeps_its_order(browser: Browser) -> None:
    browser.open("tools/papers__rtl")
    script = """const text = document.querySelector('.lead').firstChild, range = document.createRange();
      const left = at => {
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return range.getBoundingClientRect().left;
      };
      return [left(0), left(text.data.indexOf('USD'))];"""
    first, price = browser.driver.execute_script(script)
    assert price < first, "the price stands at the left of what comes before it"


def test_whoever_comes_back_finds_the_words_the_row_and_the_place(browser: Browser) -> None:
    browser.open("tools")
    browser.find("main input[type=search]").send_keys("thing 11")
    browser.wait(lambda: len(names(browser)) == 11)
    browser.driver.execute_script("document.querySelector('.list a').click()")
    browser.sees("Run")
    browser.driver.back()
    browser.wait(lambda: len(names(browser)) == 11)
    assert browser.find("main input[type=search]").get_attribute("value") == "thing 11"
    browser.driver.refresh()
    browser.wait(lambda: len(names(browser)) == 11)
    browser.open("tools")
    more = "scrollTo(0, document.body.scrollHeight); return document.querySelectorAll('.list li').length"
    browser.wait(lambda: browser.driver.execute_script(more) > 100)
    left = "papers__name_090"
    browser.driver.execute_script(
        "const link = [...document.querySelectorAll('.list a')].find(one => one.textContent.includes(arguments[0]));"
        "link.scrollIntoView({block: 'center'}); link.click()",
        left,
    )
    browser.sees("Thing 90.", "Run")
    browser.driver.back()
    seen = """const box = document.activeElement.getBoundingClientRect();
      return document.activeElement.textContent.includes(arguments[0]) && box.top > 0 && box.bottom < innerHeight"""
    browser.wait(lambda: browser.driver.execute_script(seen, left))


def test_of_several_pasted_servers_each_stands_or_falls_by_itself(browser: Browser) -> None:
    browser.open("servers")
    browser.click("Add a server")
    browser.click("Paste mcpServers JSON")
    page = {"url": "http://127.0.0.1:9/a", "autoConnect": False}
    pasted = {"program": {"command": "npx", "args": ["x"]}, "page": page}
    browser.field("Paste mcpServers JSON").send_keys(json.dumps({"mcpServers": pasted}))
    browser.click("Save")
    browser.sees("Added page.", "program: Registering a server that starts a program over HTTP is switched off.")
    browser.wait(lambda: "page" in names(browser))
    assert browser.fetch("/api/mcp/servers/page", "DELETE") == 204


def test_counts_have_an_axis_of_whole_numbers(browser: Browser) -> None:
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": DRAWN})
    browser.open("overview")
    browser.wait(lambda: browser.driver.execute_script("return written.some(([of]) => of === 'Tool calls')"))
    script = "return written.filter(([of, text]) => of === 'Tool calls' && !text.includes(':')).map(([, text]) => text)"
    labels = browser.driver.execute_script(script)
    values = [int(label.replace(",", "")) for label in labels]
    fall = next((place for place in range(1, len(values)) if values[place] < values[place - 1]), len(values))
    assert len(values[:fall]) == len(set(values[:fall])), labels


def test_a_round_without_text_says_so_and_many_tools_stand_folded(browser: Browser) -> None:
    ask(browser, "What is so?")
    browser.sees("ended: answered")
    browser.driver.execute_script("document.querySelector('.fall li.model details').open = true")
    browser.sees("Tools shown to the model (", "What the model wrote")
    assert "papers__name_050" not in browser.text


def test_after_a_key_was_made_the_form_is_as_before_and_every_button_is_one_line(
    tmp_path: Path,
) -> None:
    with hub_in_a_thread(tmp_path / "data") as url, open_browser(url, tmp_path / "profile") as browser:
        browser.open("keys")
        browser.field("Owner").send_keys("A person with a very long name of many words " * 3)
        browser.field("Role").send_keys("admin")
        browser.click("Make a key")
        browser.driver.execute_script("document.querySelector('dialog[open] .danger').click()")
        browser.sees("This key is shown only now:")
        browser.wait(lambda: "There are no keys" not in browser.text)
        assert browser.field("Role").get_attribute("value") == "user"
        assert not browser.driver.find_elements("css selector", "input:user-invalid")
        key = browser.find(".snippet pre").text
        browser.open("keys")
        browser.field("API key").send_keys(key + Keys.ENTER)
        browser.sees("A person with a very long name")
        heights = "return [...document.querySelectorAll('td button')].map(one => one.offsetHeight)"
        assert max(browser.driver.execute_script(heights)) < 40


def test_a_hub_that_is_away_is_told_in_words_that_cover_nothing(tmp_path: Path) -> None:
    with ExitStack() as hub:
        url = hub.enter_context(hub_in_a_thread(tmp_path / "data"))
        with open_browser(url, tmp_path / "profile") as browser:
            browser.open("servers")
            hub.close()
            browser.wait(lambda: browser.find("#away").is_displayed())
            covered = "return document.getElementById('away').getBoundingClientRect().bottom"
            heading = "return document.querySelector('main h1').getBoundingClientRect().top"
            assert browser.driver.execute_script(covered) <= browser.driver.execute_script(heading)
            browser.driver.execute_script("location.hash = '#/tools'")
            browser.sees("Is naru serve running?", "Try again")
            assert "import" not in browser.text


def test_an_object_is_filled_in_member_by_member_and_a_file_is_sent_in_base64(browser: Browser, tmp_path: Path) -> None:
    letter = tmp_path / "편지.bin"
    letter.write_bytes(b"\x00\xff naru")
    browser.open("tools/papers__send")
    assert browser.driver.execute_script("return document.querySelector('legend').innerText") == "to *"
    browser.click("Run")
    assert browser.driver.execute_script("return document.querySelector('form :invalid textarea:invalid') !== null")
    browser.field("name *").send_keys("김민준")
    Select(browser.field("floor")).select_by_visible_text("2")
    browser.find("input[type=file]").send_keys(str(letter))
    browser.wait(lambda: browser.field("letter").get_property("value") == "AP8gbmFydQ==")
    browser.click("Run")
    browser.sees('\'{"to":{"name":"김민준","floor":2},"letter":"AP8gbmFydQ=="}\'')
