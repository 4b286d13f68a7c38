"""A hundred signatures on Naru and three peers: is the schema right, does the function get what was meant?

    .venv/bin/python bench/tools_peers.py

Each library runs in an environment of its own, made with uv at the first run (kept in ~/.cache/naru). A schema is right
when it takes the value that is sent and refuses the wrong ones; a call is right when the function gets the right value.
One row is a convention rather than a fault: Naru reads `bytes` from base64, as its schema says, peers from plain text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path("~/.cache/naru").expanduser()
SHARED = ("pydantic==2.14.4", "jsonschema==4.26.0", "typing-extensions==4.16.0")
LIBRARIES = {
    "naru": ("docstring-parser==0.18.0", "orjson==3.13.0", "jsonschema-rs==0.61.0"),
    "fastmcp": ("fastmcp==4.2.3",),
    "pydantic-ai": ("pydantic-ai-slim==2.68.0",),
    "openai-agents": ("openai-agents==0.24.0",),
}
TIMEOUT_SECONDS = 600


def environment(library: str) -> Path:
    folder = CACHE / f"bench-peers-{library}"
    packages = [*SHARED, *LIBRARIES[library]]
    stamp = folder / "packages.json"
    python = folder / "bin" / "python"
    if not stamp.exists() or json.loads(stamp.read_text(encoding="utf-8")) != packages:
        uv = str(Path(sys.executable).parent / "uv")
        print(f"making {folder} …", file=sys.stderr)
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)
        stamp.write_text(json.dumps(packages), encoding="utf-8")
    return python


def run(library: str) -> dict[str, list[bool]]:
    done = subprocess.run(
        [str(environment(library)), str(HERE / "tools_peers_worker.py"), library],
        env={**os.environ, "PYTHONPATH": str(HERE.parent / "src")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{library} failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    found = {library: run(library) for library in LIBRARIES}
    print(f"{'signature':28}" + "".join(f"{library:>16}" for library in found))
    worse: list[str] = []
    for case in found["naru"]:
        verdicts = {library: found[library][case] for library in found}
        print(f"{case:28}" + "".join(f"{_shown(verdict):>16}" for verdict in verdicts.values()))
        if any(
            theirs > ours for each in verdicts.values() for theirs, ours in zip(each, verdicts["naru"], strict=True)
        ):
            worse.append(case)
    right = {library: sum(all(verdict) for verdict in rows.values()) for library, rows in found.items()}
    total = len(found["naru"])
    print(f"{f'right in both, of {total}':28}" + "".join(f"{count:16}" for count in right.values()))
    print(f"Naru is worse than a peer on: {', '.join(worse) or 'none'}.")
    return 0 if right["naru"] >= total * 0.98 and not worse else 1


def _shown(verdict: list[bool]) -> str:
    schema, call = verdict
    return "right" if schema and call else "call wrong" if schema else "schema wrong" if call else "both wrong"


if __name__ == "__main__":
    sys.exit(main())
