"""The pictures of the READMEs: the console's overview and playground, on a hub with the demo model and server.

.venv/bin/python -m scripts.screenshots     needs chromium and chromedriver; half a minute, more on a busy machine
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
import tempfile
import time
from pathlib import Path

from tests.journeys.browser import Browser, open_browser
from tests.journeys.test_playground import hub_in_a_thread

from naru.stores.kept.history import History, Point
from naru.telemetry.figures import CALLS, FIRST_CHUNK, OPERATIONS, REQUESTS, TOKENS, WAITS

IMAGES = Path(__file__).parent.parent / "docs" / "images"
QUESTION = "How many vacation days does EMP003 have left in 2025?"
MODELS = ("qwen2.5-coder-0.5b", "gemma3:4b")
TOOLS = (("hr", "calculate_vacation_days"), ("hr", "get_employee_info"), ("search", "search_papers"))


def main() -> None:
    """Make both pictures anew."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = folder / "data"
        data.mkdir()
        asyncio.run(fill(data))
        patient = {"model_timeout_seconds": 900}  # on a busy machine; the model is the settings' own, the local engine
        url = stack.enter_context(hub_in_a_thread(data, model={}, agent=patient))
        browser = stack.enter_context(open_browser(url, folder / "profile"))
        browser.look(1280, "light")
        shoot_overview(browser)
        shoot_playground(browser)


async def fill(data: Path) -> None:
    """Lay down an hour of figures, as a small team makes them; made up, so that the picture has something to show."""
    history, now = History(data / "figures.db"), int(time.time())
    for minute in range(59, 0, -1):
        at = now - minute * 60
        wave = 6 + round(5 * math.sin(minute / 9) + 2 * math.cos(minute / 3))
        slow = (0, 0, 0, 0, 0, wave // 3, wave, wave // 2, wave // 5, minute % 7 == 0, 0, 0, 0, 0, 0)
        points = [
            Point(at, REQUESTS, ("/v1/chat/completions", "ok"), wave * 2, wave * 2.4, slow),
            Point(at, REQUESTS, ("/mcp", "ok"), wave, wave * 0.1, (0, 0, wave, *(0,) * 12)),
        ]
        points += [Point(at, REQUESTS, ("/v1/messages", "failed"), 1, 2.0, (0,) * 8 + (1,) + (0,) * 6)] * (
            minute % 13 == 0
        )
        for place, model in enumerate(MODELS):
            count = max(wave - 3 * place, 1)
            points += [
                Point(at, OPERATIONS, (model, ""), count, count * 1.1, slow),
                Point(at, FIRST_CHUNK, (model,), count, count * 0.2, (0, 0, 0, 0, count, *(0,) * 10)),
                Point(at, WAITS, (model,), count, count * 0.02, (0, count, *(0,) * 13)),
                Point(at, TOKENS, (model, "input"), count, count * 900.0, (0,) * 12),
                Point(at, TOKENS, (model, "output"), count, count * 120.0, (0,) * 12),
            ]
        for place, (server, tool) in enumerate(TOOLS):
            calls = max(wave - 2 * place, 0)
            points.append(Point(at, CALLS, (server, tool, "ok"), calls, calls * 0.03, (0, 0, calls, *(0,) * 12)))
        await history.add([one for one in points if one.count])


def shoot_overview(browser: Browser) -> None:
    """Take the overview with its plots."""
    browser.open("overview")
    browser.wait(lambda: len(browser.driver.find_elements("css selector", ".plot canvas")) == 4)
    save(browser, "overview.png")


def shoot_playground(browser: Browser) -> None:
    """Ask the demo model a question; take the answer with its first call open."""
    browser.open("play")
    browser.field("Question").send_keys(QUESTION)
    browser.click("Ask")
    browser.sees("ended:", seconds=900)
    opened = "document.querySelectorAll('.fall > li > details').forEach((one, at) => { one.open = at === 1; })"
    browser.driver.execute_script(f"{opened}; document.activeElement.blur(); scrollTo(0, 0)")
    save(browser, "console.png")


def save(browser: Browser, name: str) -> None:
    """Write a picture once the page stands still."""
    time.sleep(1)
    browser.driver.save_screenshot(str(IMAGES / name))
    print(IMAGES / name, file=sys.stderr)


if __name__ == "__main__":
    main()
