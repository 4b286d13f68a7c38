"""The chat proxy's cost: a bare pass-through, LiteLLM's proxy and Naru before one fake model, in one run.

`python bench/proxy.py [--rounds 5] [--seconds 1.0] [--no-litellm] [--cells json,paced] [--beside TREE]`. Starts and
stops everything on loopback; LiteLLM is installed into a cached environment. Rounds are interleaved, figures are
medians; CPU is that of the target's own process tree. See the chat rows of the performance targets in
docs/decisions/0070-chat-hot-path.md.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import uvloop

sys.path.insert(0, str(Path(__file__).parent))
from proxy_load import BENCH_KEY, Load, run_load

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
LITELLM = "litellm[proxy]==1.108.7"
CACHE = Path("~/.cache/naru-bench").expanduser()
MESSAGES = [{"role": "user", "content": "hi"}]
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "write_file", "parameters": PARAMETERS}}]
DELTAS = 200


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    name: str
    clients: int
    body: dict[str, object]
    paced: bool = False
    path: str = "/v1/chat/completions"
    like: str = ""
    """Of another API: the cell of chat completions that does the same, which its cost is told by."""


def _body(**fields: object) -> dict[str, object]:
    return {"model": "fake", "messages": MESSAGES, **fields}


CELLS = [
    *(Cell("json", clients, _body(short=True)) for clients in (1, 16, 64)),
    *(Cell("stream", clients, _body(stream=True)) for clients in (1, 16, 64)),
    *(Cell("stream, tools offered", clients, _body(stream=True, tools=TOOLS)) for clients in (1, 16, 64)),
    *(Cell("call in Hermes tags", clients, _body(stream=True, tools=TOOLS, call=True)) for clients in (1, 16)),
    *(Cell("paced", clients, _body(stream=True, tools=TOOLS, pace_ms=5), paced=True) for clients in (1, 16, 64)),
]

_ASKED: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "responses": ("/v1/responses", {"input": "hi", "store": False}, {"max_output_tokens": 7}),
    "messages": ("/v1/messages", {"messages": MESSAGES}, {"max_tokens": 7}),
    "ollama": ("/api/chat", {"messages": MESSAGES}, {"options": {"num_predict": 7}}),
}
"""What each API is asked for a long answer, and besides for a short one."""
FACES_OF = {
    "/v1/responses": ("naru", "beside", "litellm"),
    "/v1/messages": ("naru", "beside", "litellm"),
    "/api/chat": ("naru", "beside"),
}
"""Which targets have an API."""
for _face, (_path, _long, _short) in _ASKED.items():
    _long = {"model": "fake", **({"max_tokens": 4096} if _face == "messages" else {}), **_long}
    CELLS += [
        Cell(f"face: {_face} json", 16, {**_long, "stream": False, **_short}, path=_path, like="json"),
        Cell(f"face: {_face} stream", 16, {**_long, "stream": True}, path=_path, like="stream"),
    ]


@dataclass
class Target:
    """A server under test."""

    name: str
    port: int
    process: subprocess.Popen[bytes] | None = None
    results: dict[tuple[str, int], list[tuple[float, Load]]] = field(default_factory=dict)

    def cpu_seconds(self) -> float:
        if self.process is None:
            return 0.0
        root = psutil.Process(self.process.pid)
        total = 0.0
        for one in [root, *root.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                total += times.user + times.system
        return total

    def rss_mb(self) -> float:
        root = psutil.Process(self.process.pid) if self.process else psutil.Process()
        return sum(one.memory_info().rss for one in [root, *root.children(recursive=True)]) / 1e6


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 180.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            sys.exit(f"bench: {process.args} ended with {process.returncode}")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        time.sleep(0.05)
    sys.exit(f"bench: {process.args} did not listen within {seconds:.0f} s")


def litellm_command(folder: Path, port: int, upstream: str) -> list[str]:
    """Install LiteLLM once and write its configuration."""
    home = CACHE / re.sub(r"[^a-z0-9.]+", "-", LITELLM)
    if not (home / ".ready").exists():
        print("installing LiteLLM's proxy into", home)
        subprocess.run([BIN / "uv", "venv", "-q", "--clear", "--python", sys.executable, home], check=True)
        subprocess.run([BIN / "uv", "pip", "install", "-q", "--python", home / "bin/python", LITELLM], check=True)
        (home / ".ready").touch()
    # The model speaks chat completions alone: LiteLLM would else ask its OpenAI kind for Responses.
    chat = "use_chat_completions_api: true"
    parameters = f"{{model: openai/fake, api_base: '{upstream}/v1', api_key: none, {chat}}}"
    config = folder / "litellm.yaml"
    general = f"general_settings: {{master_key: {BENCH_KEY}}}"
    general += "\nlitellm_settings: {use_chat_completions_url_for_anthropic_messages: true}"
    config.write_text(
        f"model_list:\n  - model_name: fake\n    litellm_params: {parameters}\n{general}\n", encoding="utf-8"
    )
    return [str(home / "bin/litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]


@contextlib.contextmanager
def started(options: argparse.Namespace) -> Iterator[list[Target]]:
    """Start the fake model and all targets; stop them whatever happens."""
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, command: list[str], port: int, environment: dict[str, str] | None = None) -> Target:
        log = subprocess.DEVNULL
        running.append(process := subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        wait_for(port, process)
        return Target(name, port, process)

    with tempfile.TemporaryDirectory() as folder:
        try:
            model_port, floor, naru, lite = (free_port() for _ in range(4))
            upstream = f"http://127.0.0.1:{model_port}"
            python = sys.executable
            start("model", [python, str(HERE / "proxy_fake_model.py"), str(model_port)], model_port)
            targets = [Target("direct", model_port)]
            targets.append(start("floor", [python, str(HERE / "proxy_floor.py"), str(floor), upstream], floor))
            serve = [
                str(BIN / "naru"),
                "serve",
                "--base-url",
                f"{upstream}/v1",
                "--model",
                "fake",
                "--store",
                "memory:",
            ]
            targets.append(start("naru", [*serve, "--port", str(naru)], naru))
            if options.beside:
                other = free_port()
                environment = {**os.environ, "PYTHONPATH": str(Path(options.beside).resolve() / "src")}
                targets.append(start("beside", [*serve, "--port", str(other)], other, environment))
            if not options.no_litellm:
                targets.append(start("litellm", litellm_command(Path(folder), lite, upstream), lite))
            yield targets
        finally:
            for process in running:
                process.terminate()
            for process in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                if process.poll() is None:
                    process.kill()


async def measure(targets: list[Target], options: argparse.Namespace) -> None:
    for target in targets:
        await run_load(target.port, CELLS[0].body, clients=4, seconds=0.3)
    for number in range(options.rounds):
        for cell in chosen(options):
            for target in targets:
                if target.name == "litellm" and number >= options.litellm_rounds:
                    continue
                if cell.like and target.name not in FACES_OF[cell.path]:
                    continue
                before = target.cpu_seconds()
                seconds = max(options.seconds, 2.2) if cell.paced else options.seconds
                load = await run_load(
                    target.port, cell.body, clients=cell.clients, seconds=seconds, paced=cell.paced, path=cell.path
                )
                spent = target.cpu_seconds() - before
                target.results.setdefault((cell.name, cell.clients), []).append((spent, load))
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def row(target: Target, cell: Cell) -> dict[str, float]:
    rounds = target.results.get((cell.name, cell.clients), [])
    done = [(spent, load) for spent, load in rounds if load.requests]
    if not done:
        return {}
    events = 1 if cell.name.endswith("json") else DELTAS
    cpu = statistics.median(spent * 1000 / load.requests for spent, load in done)
    return {
        "cpu ms": cpu,
        "cpu us/delta": cpu * 1000 / events,
        "req/s": statistics.median(load.requests / load.seconds for _, load in done),
        "ttft ms": statistics.median(percentile(load.first or load.latencies, 0.5) * 1000 for _, load in done),
        "p99 ms": statistics.median(percentile(load.latencies, 0.99) * 1000 for _, load in done),
        "gap p99 ms": statistics.median(percentile(load.gaps, 0.99) * 1000 for _, load in done),
        "errors": float(sum(load.errors for _, load in rounds)),
    }


def chosen(options: argparse.Namespace) -> list[Cell]:
    """Return the cells that were asked for: those whose name begins with one of the words."""
    return [cell for cell in CELLS if cell.name.startswith(tuple(options.cells.split(",")))]


def report(targets: list[Target], options: argparse.Namespace) -> None:
    columns = ("cpu ms", "req/s", "ttft ms", "p99 ms", "gap p99 ms", "errors")
    print(
        f"\n{'cell':24}{'clients':>8}  {'target':9}" + "".join(f"{name:>12}" for name in columns) + f"{'cpu/floor':>11}"
    )
    for cell in chosen(options):
        floor = row(targets[1], cell)
        for target in targets:
            found = row(target, cell)
            if not found:
                continue
            base = floor
            if cell.like:  # By the same target's chat completions.
                base = row(target, next(one for one in CELLS if (one.name, one.clients) == (cell.like, cell.clients)))
            ratio = found["cpu ms"] / base["cpu ms"] if base and base["cpu ms"] and target.process else float("nan")
            figures = "".join(f"{found[name]:>12.2f}" for name in columns)
            print(f"{cell.name:24}{cell.clients:>8}  {target.name:9}{figures}{ratio:>11.2f}")
            if cell.paced and target.process:
                print(f"{'':42}{found['cpu us/delta']:>12.1f} us of CPU a delta")
    for target in targets[1:]:
        with contextlib.suppress(psutil.NoSuchProcess):
            print(f"memory after load, {target.name}: {target.rss_mb():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--litellm-rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--no-litellm", action="store_true")
    parser.add_argument("--beside", default="", help="a second source tree, to compare with: that of a commit before")
    parser.add_argument(
        "--cells", default="json,stream,call,paced,face", help="beginnings of the names of cells to run"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("a signal"))
    with started(options) as targets:
        try:
            uvloop.run(measure(targets, options))
        except (OSError, psutil.NoSuchProcess, SystemExit) as error:  # `timeout` stops the targets as well.
            print(f"bench: stopped before its last round by {error}; what was measured counts", file=sys.stderr)
        report(targets, options)


if __name__ == "__main__":
    main()
