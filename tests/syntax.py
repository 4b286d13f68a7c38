"""Python's own parser, for tests that read source."""

from __future__ import annotations

import ast
import gc


def parsed(source: str) -> ast.Module:
    """Parse source with the collector at rest.

    Python before 3.11.8 fails ("AST constructor recursion depth mismatch") where what is collected parses too.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if was_enabled:
            gc.enable()
