"""How well a tool's parameters fit the values in a question: an id of its shape, a path for its path (UPLIFT)."""

from __future__ import annotations

import re

from naru.agent.grounding import candidates, is_identifier, is_path, prefix_of, properties, required
from naru.agent.sources import Sources
from naru.messages import ToolDefinition

_FITS = 2.5
_LACKS = 0.25
_OTHER_WORDS = {
    "big": "size", "bytes": "size", "large": "size", "heavy": "weight", "tall": "height", "long": "length",
    "hired": "hire date", "born": "birth date", "cost": "price", "costs": "price", "expensive": "price",
    "boss": "manager", "works": "department", "folder": "directory", "say": "read content", "says": "read content",
    "contents": "content", "phone": "contact", "email": "contact", "modified": "metadata time",
    "according": "read content", "크기": "size", "바이트": "size", "내용": "read content",
}  # fmt: skip
"""Words of questions → words that tools say of themselves."""


def implied(sources: Sources) -> str:
    """Return words that a question means without saying them: `big` asks for a size, a path for a file to read."""
    words = re.findall(r"[a-z]+|[가-힣]+", sources.question.lower())
    found = [_OTHER_WORDS[word] for word in words if word in _OTHER_WORDS]
    paths = [path for path in sources.paths() if path in sources.question]
    if any(re.search(r"\.[A-Za-z]\w{0,7}$", path) for path in paths):
        found.append("read text file content")
    elif paths:
        found.append("list directory")
    return " ".join(found)


def fit(tool: ToolDefinition, sources: Sources) -> float:
    """Return a factor for a tool's relevance: above 1 when the question holds what it needs, else below."""
    known = properties(tool)
    needed = [name for name in required(tool) if name in known]
    asked = Sources(sources.question)
    ids, paths = asked.ids(), [path for path in asked.paths() if "/" in path]
    factor = 1.0
    for name in needed:
        if is_identifier(name, known[name]):
            prefix = prefix_of(known[name])
            if candidates(name, known[name], asked):
                factor *= _FITS if prefix else 1.3
            elif ids and prefix:
                factor *= _LACKS
        elif is_path(name):
            factor *= _FITS if paths else 1.0
    if paths and not any(is_path(name) for name in known):
        factor *= _LACKS
    return factor
