"""The console in Chromium: as first installed, with 1,000 servers and 5,000 tools, after a year of 1,000,000 figures.

First view, bytes, long tasks; for the overview also the hub's own time for each range; how soon two open consoles show
a change, and that the hub is there again.

python bench/console.py              needs chromium and chromedriver; starts and stops everything, three minutes at most
python bench/console.py --overview   only the overview after a year
python bench/console.py --live       only what two open consoles show by themselves
python bench/console.py --waterfall  also prints what one first view waited for
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.journeys.browser import Browser, open_browser  # noqa: E402  # after the path is set

from naru.stores.kept.history import STEPS, VIEWS, History  # noqa: E402
from naru.telemetry.figures import CALLS, FIRST_CHUNK, OPERATIONS, REQUESTS, TOKENS, WAITS  # noqa: E402

SERVERS, WITH_TOOLS, TOOLS_EACH, LOADS = 1000, 10, 500, 7
START_SECONDS = 40.0
FIRST_VIEW = """
const done = arguments[0];
const entries = performance.getEntries().filter((one) => ['navigation', 'resource'].includes(one.entryType));
new PerformanceObserver((list) => done({
  ms: Math.max(...list.getEntries().map((one) => one.startTime)),
  bytes: entries.reduce((sum, one) => sum + one.transferSize, 0), requests: entries.length,
  waterfall: [...entries, ...performance.getEntriesByType('paint')].map((one) =>
    [one.name, one.startTime, one.requestStart ?? 0, one.responseEnd ?? 0]),
})).observe({type: 'largest-contentful-paint', buffered: true});
"""
SCROLL = """
const wanted = arguments[0], done = arguments[1], long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
  .observe({type: 'longtask'});
const started = performance.now();
(function step() {
  scrollTo(0, document.documentElement.scrollHeight);
  const shown = document.querySelectorAll('.list > li').length;
  if (shown < wanted && performance.now() - started < 40000) return setTimeout(step, 30);
  setTimeout(() => done({shown, seconds: (performance.now() - started) / 1000, long}), 200);
})();
"""


SHOWN = """
const wanted = arguments[0];
window.shownAt = null;
window.looking?.disconnect();
window.looking = new MutationObserver(() => {
  if (!document.querySelector('#main .list')?.textContent.includes(wanted)) return;
  window.looking.disconnect();
  requestAnimationFrame(() => { window.shownAt = performance.timeOrigin + performance.now(); });
});
window.looking.observe(document.body, {subtree: true, childList: true, characterData: true});
"""
CHANGES = 15


def main() -> None:
    """Print the figures."""
    parts = {"--overview": overview, "--live": live}
    for part in [run for flag, run in parts.items() if flag in sys.argv] or [lists, overview, live]:
        part()


def live() -> None:
    """Print how soon two open consoles show what was changed elsewhere, and a hub that was stopped and started."""
    with contextlib.ExitStack() as opened:
        data = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        with hub(0, data) as url:
            port = int(url.rsplit(":", 1)[1])
            profiles = [Path(opened.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
            consoles = [opened.enter_context(open_browser(url, profile)) for profile in profiles]
            for one in consoles:
                one.open("servers")
                one.sees("hr", "Connected")
            seen = [took for number in range(CHANGES) for took in changed(consoles, url, f"later{number}")]
            told = f"shown after {statistics.median(seen):.0f} ms (median), {max(seen):.0f} ms at most"
            print(f"two consoles, {CHANGES} servers added elsewhere: {told}", flush=True)
        for one in consoles:
            one.wait(lambda one=one: banner(one) != "")
        with hub(0, data, port):
            ready = time.perf_counter()
            for one in consoles:
                one.wait(lambda one=one: banner(one) == "")
                one.sees("hr", "Connected")
            print(f"hub started anew: both consoles go on after {time.perf_counter() - ready:.1f} s", flush=True)


def banner(browser: Browser) -> str:
    """Return what the console says of a hub that is away."""
    return str(browser.driver.execute_script("return document.getElementById('away').innerText"))


def changed(consoles: list[Browser], url: str, name: str) -> list[float]:
    """Add a server; return for each console the ms from asking for it until it is painted there."""
    for one in consoles:
        one.driver.execute_script(SHOWN, name)
    entry = {"name": name, "transportType": "HTTP", "autoConnect": False, "config": {"url": "http://127.0.0.1:9/mcp"}}
    body, kind = json.dumps(entry).encode(), {"Content-Type": "application/json"}
    asked = time.time()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/mcp/servers", body, kind), timeout=60):
        pass
    script = "return window.shownAt"
    return [float(one.wait(lambda one=one: one.driver.execute_script(script))) - asked * 1000 for one in consoles]


def overview() -> None:
    """Print how long the overview takes after a year."""
    with tempfile.TemporaryDirectory() as folder:
        points = year_of_figures(Path(folder))
        with hub(0, Path(folder)) as url:
            note(f"{points:,} points kept")
            print(f"summed up once, when opened: {answered(f'{url}/api/overview'):.0f} ms", flush=True)
            for reach in ("hour", "day", "week"):
                times = [answered(f"{url}/api/overview?range={reach}") for _ in range(LOADS)]
                print(f"overview, the hub's answer for {reach}: {statistics.median(times):.0f} ms", flush=True)
            with tempfile.TemporaryDirectory() as profile, open_browser(url, Path(profile)) as browser:
                views(browser, "overview", ".tile")


def answered(url: str) -> float:
    """Return how long an answer takes, in ms."""
    begun = time.perf_counter()
    with urllib.request.urlopen(url, timeout=60) as got:
        got.read()
    return (time.perf_counter() - begun) * 1000


def year_of_figures(folder: Path) -> int:
    """Fill a data folder as a busy year does: 92 series in each step that is kept; return the number of points.

    They are written as version 1 did: the hub sums them up when it first opens the file.
    """
    path = folder / "figures.db"
    asyncio.run(History(path).add([]))
    now = int(time.time())
    series = [(CALLS, [f"server{n % 10}", f"tool_{n}", "ok"]) for n in range(60)]
    series += [(REQUESTS, [f"/v1/route{n}", outcome]) for n in range(6) for outcome in ("ok", "failed")]
    for model in ("small", "middle", "large", "huge"):
        series += [(OPERATIONS, [model, ""]), (FIRST_CHUNK, [model]), (WAITS, [model])]
        series += [(TOKENS, [model, kind]) for kind in ("input", "output")]
    buckets = {name: json.dumps([n % 7 for n in range(12 if name == TOKENS else 15)]) for name, _ in series}
    rows = (
        (step, at, name, json.dumps(labels), 40, 81.5, buckets[name])
        for step in VIEWS
        for at in range(now - now % step - STEPS[step] + step, now + 1, step)
        for name, labels in series
    )
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("insert into figures values (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("pragma user_version = 1")
        found: int = connection.execute("select count(*) from figures").fetchone()[0]
    return found


def lists() -> None:
    """Print how long the lists take, small and large."""
    with hub(0) as url:
        note("as first installed")
        with tempfile.TemporaryDirectory() as profile, open_browser(url, Path(profile)) as browser:
            views(browser, "servers")
            views(browser, "tools")
    with hub(SERVERS) as url:
        tools = wait_for_tools(url)
        note(f"{SERVERS:,} servers, {tools:,} tools")
        with tempfile.TemporaryDirectory() as profile, open_browser(url, Path(profile)) as browser:
            views(browser, "servers")
            views(browser, "tools")
            scroll(browser, "servers", SERVERS)
            scroll(browser, "tools", tools)


@contextlib.contextmanager
def hub(servers: int, data: Path | None = None, port: int = 0) -> Iterator[str]:
    """Run a hub with so many servers, or with the example's, on that data and port; yield its address."""
    with tempfile.TemporaryDirectory() as made:
        folder = str(data or made)
        with socket.create_server(("127.0.0.1", port)) as free:
            port = free.getsockname()[1]
        kept = ["--store", f"file:{registry(Path(folder), servers)}"] if servers else ["--demo", "--store", "memory:"]
        program = [sys.executable, "-m", "naru.cli.main", "serve", "--base-url", "http://127.0.0.1:1/v1"]
        environment = {**os.environ, "NARU_HUB__DATA_DIR": folder}
        process = subprocess.Popen(
            [*program, *kept, "--port", str(port)],
            env=environment,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for_answer(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=40)


def note(text: str) -> None:
    """Say what is being done, beside the figures."""
    print(f"· {text}", file=sys.stderr, flush=True)


def registry(folder: Path, number: int) -> Path:
    """Write an mcp.json with all servers, ten of which run and offer 500 tools each."""
    tools = [
        {"name": f"tool_{n}", "description": f"Does thing {n}. " * 6, "inputSchema": {"type": "object"}}
        for n in range(TOOLS_EACH)
    ]
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    running = [str(ROOT / "tests" / "journeys" / "paper_server.py"), str(folder / "tools.json")]
    servers = {f"running{n}": {"command": sys.executable, "args": running} for n in range(WITH_TOOLS)}
    for n in range(number - WITH_TOOLS):
        servers[f"server{n:04}"] = {"url": f"http://127.0.0.1:9/{n}", "description": "x" * 60, "autoConnect": False}
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    path.chmod(0o600)
    return path


def wait_for_answer(url: str) -> None:
    """Wait until the hub is ready."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=5):
            return
        time.sleep(0.2)
    raise SystemExit(f"The hub did not answer within {START_SECONDS} s.")


def wait_for_tools(url: str) -> int:
    """Wait until all tools are offered; return their number."""
    total = 0
    until = time.monotonic() + START_SECONDS
    while total < WITH_TOOLS * TOOLS_EACH and time.monotonic() < until:
        time.sleep(0.2)
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api/console/tools?limit=1", timeout=5) as got:
            total = json.load(got)["total"]
    if not total:
        raise SystemExit(f"The hub offered no tool within {START_SECONDS} s.")
    return total


def views(browser: Browser, page: str, drawn: str = ".list > li") -> None:
    """Print how long a page takes: the browser's very first, from a new tab, and from the hub; the cache is empty."""
    first, *cold = [view(browser, page, "about:blank", drawn) for _ in range(LOADS + 1)]
    warm = [view(browser, page, f"{browser.url}/healthz", drawn) for _ in range(LOADS)]
    sizes = f"{cold[0]['bytes']:,} bytes in {cold[0]['requests']} requests"
    print(
        f"{page}: first view {median(warm)}, in a new tab {median(cold)} (medians of {LOADS}; "
        f"the first of all {first['ms']:.0f} ms); {sizes}",
        flush=True,
    )
    if "--waterfall" in sys.argv:
        for name, start, asked, end in cold[-1]["waterfall"]:
            print(f"    {start:6.0f} {asked:6.0f} {end:6.0f}  {name.removeprefix(browser.url)}")


def median(seen: list[dict[str, Any]]) -> str:
    """Return the median of first views, with the least."""
    times = [one["ms"] for one in seen]
    return f"{statistics.median(times):.0f} ms (least {min(times):.0f})"


def view(browser: Browser, page: str, before: str, drawn: str = ".list > li") -> dict[str, Any]:
    """Load a page with an empty cache; return when its largest part was painted, in ms, and what was transferred.

    Coming from `about:blank` is a new tab: Chromium starts a process for the page, which the figure counts.
    """
    browser.driver.get(before)
    browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    browser.driver.get(f"{browser.url}/#/{page}")
    browser.wait(lambda: browser.driver.find_elements("css selector", drawn))
    time.sleep(0.2)  # what is in the page is painted
    seen: dict[str, Any] = browser.driver.execute_async_script(FIRST_VIEW)
    return seen


def scroll(browser: Browser, page: str, wanted: int) -> None:
    """Scroll to the end of a list; print what kept the page busy."""
    view(browser, page, "about:blank")
    end: dict[str, Any] = browser.driver.execute_async_script(SCROLL, wanted)
    print(
        f"{page}: {end['shown']:,} rows scrolled in {end['seconds']:.1f} s, {len(end['long'])} tasks over 50 ms"
        f" (longest {max(end['long'], default=0):.0f} ms)",
        flush=True,
    )


if __name__ == "__main__":
    main()
