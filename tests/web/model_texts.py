"""One call as models of different families write it."""

from __future__ import annotations

import json
from typing import Any

_CALL = {"name": "get_weather", "arguments": {"city": "Seoul"}}
_JSON = json.dumps(_CALL)
MODEL_TEXTS: dict[str, Any] = {
    "hermes": f"<tool_call>\n{_JSON}\n</tool_call>",
    "fenced": f"```json\n{_JSON}\n```",
    "bare": _JSON,
}
