"""Docstrings of installed packages, read by Naru and three peers: are parameters' texts right, descriptions clean?

    .venv/bin/python bench/docstrings_peers.py

The docstrings come from an environment of their own (kept in ~/.cache/naru, made with uv at the first run), the peers
run in those of `tools_peers.py`. What is right is told by `docstrings_referee.py`, which goes by indentation alone.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from docstrings_referee import is_clean, right_parameters
from tools_peers import CACHE, HERE, LIBRARIES, TIMEOUT_SECONDS, environment

PACKAGES = {
    "numpy": "numpy==2.4.6", "requests": "requests==2.34.2", "fastapi": "fastapi==0.165.0",
    "sklearn": "scikit-learn==1.9.1", "boto3": "boto3==1.44.8", "azure": "azure-storage-blob==12.31.1",
    "google": "google-cloud-storage==3.17.1", "click": "click==8.5.1", "httpx": "httpx==0.28.1",
    "langchain_core": "langchain-core==1.8.3", "networkx": "networkx==3.6.1", "redis": "redis==8.1.0",
    "pandas": "pandas==3.1.1", "matplotlib": "matplotlib==3.11.2", "sqlalchemy": "sqlalchemy==2.1.9",
}  # fmt: skip
WANTED = 240


def corpus() -> list[dict[str, object]]:
    uv = str(Path(sys.executable).parent / "uv")
    folder = CACHE / "bench-docstrings"
    stamp, python = folder / "packages.json", folder / "bin" / "python"
    packages = list(PACKAGES.values())
    if not stamp.exists() or json.loads(stamp.read_text(encoding="utf-8")) != packages:
        print(f"making {folder} …", file=sys.stderr)
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)
        stamp.write_text(json.dumps(packages), encoding="utf-8")
    found = work(str(python), "collect", {"packages": list(PACKAGES), "wanted": WANTED})
    return list(found)


def work(python: str, task: str, given: object) -> list[dict[str, object]]:
    done = subprocess.run(
        [python, str(HERE / "docstrings_peers_worker.py"), task],
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": str(HERE.parent / "src")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{task} failed:\n{done.stderr[-2000:]}")
    return list(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    docs = corpus()
    texts = [each["doc"] for each in docs]
    wanted = [right_parameters(str(each["doc"]), list(each["names"])) for each in docs]  # type: ignore[call-overload]
    verdicts: dict[str, list[tuple[bool, bool]]] = {}
    for library in LIBRARIES:
        readings = work(str(environment(library)), library, texts)
        verdicts[library] = [
            (_same(reading["parameters"], right), is_clean(str(reading["description"]), str(each["doc"])))
            for reading, right, each in zip(readings, wanted, docs, strict=True)
        ]
        if "--show" in sys.argv and library == "naru":
            for reading, right, each, verdict in zip(readings, wanted, docs, verdicts[library], strict=True):
                if not all(verdict):
                    print(json.dumps({"verdict": verdict, **each, "read": reading, "right": right}), file=sys.stderr)
    return _table(docs, verdicts)


def _same(read: object, right: dict[str, str]) -> bool:
    words = {name: str(text).split() for name, text in dict(read).items()}  # type: ignore[call-overload]
    return all(words.get(name, []) == text.split() for name, text in right.items())


def _table(docs: list[dict[str, object]], verdicts: dict[str, list[tuple[bool, bool]]]) -> int:
    print(f"{'docstrings of':18}{'number':>8}" + "".join(f"{library:>16}" for library in verdicts))
    rows = collections.Counter(str(each["package"]) for each in docs)
    for package, number in rows.items():
        of_package = [index for index, each in enumerate(docs) if each["package"] == package]
        right = (sum(all(rows[index]) for index in of_package) for rows in verdicts.values())
        print(f"{package:18}{number:8}" + "".join(f"{count:16}" for count in right))
    for label, part in (("parameters right", 0), ("descriptions clean", 1)):
        print(f"{label:26}" + "".join(f"{sum(row[part] for row in rows):16}" for rows in verdicts.values()))
    print(f"{f'both, of {len(docs)}':26}" + "".join(f"{sum(map(all, rows)):16}" for rows in verdicts.values()))
    worse = [
        str(each["name"])
        for index, each in enumerate(docs)
        if not all(verdicts["naru"][index]) and any(all(rows[index]) for rows in verdicts.values())
    ]
    print(f"Naru is worse than a peer on: {', '.join(worse) or 'none'}.")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
