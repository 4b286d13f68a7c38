"""Is a text a call rather than words for a person?"""

from __future__ import annotations

import re

_CALL_MARKS = re.compile(r"<tool_call>|</?function|\[TOOL_CALLS\]|```tool_code")
_CALL_NAME = re.compile(r'"(?:name|function|tool)"\s*:')
_CALL_ARGUMENTS = re.compile(r'"(?:arguments|parameters|args)"\s*:')
"""JSON that a person asked for may have a name; with arguments beside it, it is a call."""


def looks_like_call(text: str) -> bool:
    """Tell whether a text is a call, or holds one, rather than words for a person."""
    whole = text.strip()
    is_call = _CALL_MARKS.search(whole) or (_CALL_NAME.search(whole) and _CALL_ARGUMENTS.search(whole))
    return whole[:1] in ("{", "[", "<", "`") and bool(is_call)
