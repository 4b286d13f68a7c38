"""The child that holds llama.cpp: `python -m naru.models.local.engine_process`, started by `engine.LocalEngine`.

Reads one line of JSON from stdin (the key comes this way, never by argv), starts llama.cpp's own HTTP server on a
loopback port, writes one line of JSON with its address to stdout, and leaves when stdin ends: the parent is gone.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the parent closes our stdin or dies."""
    _die_with_parent()
    # llama.cpp may print to stdout; the answer to the parent has a descriptor of its own.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    options = json.loads(sys.stdin.readline())
    if options.pop("parent") != os.getppid():
        return
    # Read by the OpenMP runtime when it is loaded. As it is built its threads wait for each other by spinning: where
    # something else takes a core they stand against each other, and a token takes ten times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # noqa: TID251  # the environment of this child alone
    engine = importlib.import_module("xllamacpp")
    server = engine.Server(_params(engine, options))
    answer.write(json.dumps({"listening": server.listening_address}) + "\n")
    answer.flush()
    sys.stdin.read()
    # Skips llama.cpp's teardown, which waits for running generations.
    os._exit(0)


def _die_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops us in order.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _params(engine: Any, options: dict[str, Any]) -> Any:
    params = engine.CommonParams()
    params.model.path = options["model_path"]
    params.model_alias = {options["alias"]}
    # One cache for all would be smaller, but a request then fails when others have filled it.
    params.n_ctx = options["context_tokens"] * options["parallel"]
    params.n_parallel = options["parallel"]
    params.kv_unified = False
    params.cpuparams.n_threads = options["threads"]
    params.cpuparams_batch.n_threads = options["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = options["port"]
    params.api_keys = [options["api_key"]]
    params.cors_origins = ""
    params.cache_ram_mib = options["prompt_cache_mib"]
    params.ui = False
    params.endpoint_slots = False
    return params


if __name__ == "__main__":
    main()
