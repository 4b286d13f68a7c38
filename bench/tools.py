"""Python tools beside fastmcp and pydantic-ai: building a schema, validating arguments, calling.

    .venv/bin/python bench/tools.py

All three run in one environment that this bench makes for itself with uv (kept in ~/.cache/naru/bench-tools), in turns,
so that a busy machine is unfair to none; figures are medians of CPU microseconds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = Path("~/.cache/naru/bench-tools").expanduser()
PACKAGES = (
    *("fastmcp==4.2.3", "pydantic-ai-slim==2.68.0", "mcp==2.3.0", "pydantic==2.14.4"),
    *("docstring-parser==0.18.0", "orjson==3.13.0", "jsonschema-rs==0.61.0"),
)
LIBRARIES = ("naru", "fastmcp", "pydantic-ai")
TURNS = 3
TIMEOUT_SECONDS = 300


def make_environment() -> Path:
    """Return the Python of the bench's own environment, made at the first run."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "packages.json"
    if stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == list(PACKAGES):
        return python
    uv = str(Path(sys.executable).parent / "uv")
    print(f"making {ENVIRONMENT} with {', '.join(PACKAGES[:2])} …", file=sys.stderr)
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(ENVIRONMENT)], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *PACKAGES], check=True)
    stamp.write_text(json.dumps(PACKAGES), encoding="utf-8")
    return python


def measure(python: Path, library: str) -> dict[str, float]:
    done = subprocess.run(
        [str(python), str(ROOT / "bench" / "tools_worker.py"), library],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{library} failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    python = make_environment()
    turns: dict[str, list[dict[str, float]]] = {library: [] for library in LIBRARIES}
    for _ in range(TURNS):
        for library in LIBRARIES:
            turns[library].append(measure(python, library))
    rows = list(turns["naru"][0])
    medians = {
        library: {row: statistics.median(turn[row] for turn in found) for row in rows}
        for library, found in turns.items()
    }
    print(f"{'CPU µs':20}" + "".join(f"{library:>14}" for library in LIBRARIES) + "   next best / naru")
    lowest = True
    for row in rows:
        values = [medians[library][row] for library in LIBRARIES]
        ratio = min(values[1:]) / values[0]
        lowest &= ratio > 1
        print(f"{row:20}" + "".join(f"{value:14.2f}" for value in values) + f"   {ratio:.2f}×")
    print("Naru is lowest in every row." if lowest else "Naru is NOT lowest in every row.")
    return 0 if lowest else 1


if __name__ == "__main__":
    sys.exit(main())
