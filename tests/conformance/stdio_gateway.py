"""`python stdio_gateway.py UPSTREAM`: a gateway on stdin and stdout, as a command without options."""

from __future__ import annotations

import runpy
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
warnings.simplefilter("ignore")

if __name__ == "__main__":
    sys.argv = ["serving", "--stdio", "--upstream", sys.argv[1]]
    runpy.run_module("tests.gateway.serving", run_name="__main__")
