"""The console with 1,000 servers and 5,000 tools in Chromium: first view, bytes, long tasks while scrolling.

python bench/console.py        needs chromium and chromedriver; starts and stops everything, half a minute, two at most
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.journeys.browser import Browser, open_browser  # noqa: E402  # after the path is set

SERVERS, WITH_TOOLS, TOOLS_EACH, LOADS = 1000, 10, 500, 5
START_SECONDS = 40.0
FIRST_VIEW = """
const done = arguments[0];
new PerformanceObserver((list) => {
  const entries = performance.getEntries().filter((one) => ['navigation', 'resource'].includes(one.entryType));
  done({
    ms: Math.max(...list.getEntries().map((one) => one.startTime)),
    bytes: entries.reduce((sum, one) => sum + one.transferSize, 0), requests: entries.length,
  });
}).observe({type: 'largest-contentful-paint', buffered: true});
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


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        environment = {**os.environ, "NARU_HUB__DATA_DIR": folder}
        program = [sys.executable, "-m", "naru.cli.main", "serve", "--base-url", "http://127.0.0.1:1/v1"]
        command = [*program, "--store", f"file:{registry(Path(folder))}", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            note(f"starting a hub with {SERVERS:,} servers")
            tools = wait_for_tools(url)
            note(f"{tools:,} tools are offered; starting Chromium")
            with open_browser(url, Path(folder) / "profile") as browser:
                measure(browser, "servers", SERVERS)
                measure(browser, "tools", tools)
        finally:
            process.terminate()
            process.wait(timeout=40)


def note(text: str) -> None:
    """Say what is being done, beside the figures."""
    print(f"· {text}", file=sys.stderr, flush=True)


def registry(folder: Path) -> Path:
    """Write an mcp.json with all servers, ten of which run and offer 500 tools each."""
    tools = [
        {"name": f"tool_{n}", "description": f"Does thing {n}. " * 6, "inputSchema": {"type": "object"}}
        for n in range(TOOLS_EACH)
    ]
    (folder / "tools.json").write_text(json.dumps(tools))
    running = [str(ROOT / "tests" / "journeys" / "paper_server.py"), str(folder / "tools.json")]
    servers = {f"running{n}": {"command": sys.executable, "args": running} for n in range(WITH_TOOLS)}
    for n in range(SERVERS - WITH_TOOLS):
        servers[f"server{n:04}"] = {"url": f"http://127.0.0.1:9/{n}", "description": "x" * 60, "autoConnect": False}
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    path.chmod(0o600)
    return path


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


def measure(browser: Browser, page: str, wanted: int) -> None:
    """Load a page some times with an empty cache, then scroll to its end."""
    note(f"{page}: {LOADS} loads, then {wanted:,} rows")
    views = []
    for _ in range(LOADS):
        browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        browser.open(page)
        browser.wait(lambda: browser.driver.find_elements("css selector", ".list > li"))
        views.append(browser.driver.execute_async_script(FIRST_VIEW))
    end: dict[str, Any] = browser.driver.execute_async_script(SCROLL, wanted)
    print(
        f"{page}: first view {statistics.median(view['ms'] for view in views):.0f} ms (median of {LOADS}), "
        f"{views[0]['bytes']:,} bytes in {views[0]['requests']} requests; "
        f"{end['shown']:,} rows scrolled in {end['seconds']:.1f} s, {len(end['long'])} tasks over 50 ms"
        f" (longest {max(end['long'], default=0):.0f} ms)",
        flush=True,
    )


if __name__ == "__main__":
    main()
