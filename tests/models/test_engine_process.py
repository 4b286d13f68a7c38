"""The engine's child, with a stand-in for the library that it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STAND_IN = """
import os
from types import SimpleNamespace

def CommonParams():
    return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Server:
    def __init__(self, params):
        self.listening_address = os.environ["OMP_WAIT_POLICY"]
"""


@pytest.mark.parametrize(("said", "got"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_asleep_unless_somebody_says_otherwise(said: str | None, got: str, tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text(STAND_IN, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"PYTHONPATH": str(tmp_path)} | ({"OMP_WAIT_POLICY": said} if said else {})
    options = {
        "parent": os.getpid(), "model_path": "", "alias": "", "port": 0, "api_key": "", "context_tokens": 1,
        "threads": 1, "parallel": 1, "prompt_cache_mib": 0,
    }  # fmt: skip
    command = [sys.executable, "-P", "-m", "naru.models.local.engine_process"]
    done = subprocess.run(
        command,
        env=environment,
        input=json.dumps(options) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == {"listening": got}
