"""JSON as people write it in configuration files: BOM, comments and trailing commas; errors keep line and column."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<comma>,(?=(?>\s+|//[^\n]*|/\*.*?\*/)*+[}\]]))""",  # what was read as a comment stays one
    re.DOTALL,
)


def loads(text: str) -> Any:
    """Decode the text; comments and trailing commas are blanked in place, so that positions stay true.

    Raises:
        ValueError: not JSON even so; says line and column.
    """

    def blank(match: re.Match[str]) -> str:
        if match["string"] is not None:
            return match["string"]
        return re.sub(r"[^\n]", " ", match[0])

    text = text.removeprefix("\ufeff")
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)  # Nearly every file is JSON to the letter.
    try:
        return json.loads(_TOKEN.sub(blank, text))
    except json.JSONDecodeError as error:
        hint = "; in a path of Windows write two \\ for each one" if "escape" in error.msg else ""
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}{hint}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
