"""Texts that talk about calls, and texts that make them: frames in several languages around units of many dialects.

`{u}` in a frame is a call as a block of its own, `{i}` the same in one line. Each frame is filled with several forms.
"""

from __future__ import annotations

import json
import re

from naru.dialects import Tool
from tests.dialects.reading import CASES


def _tool(name, **types):
    return Tool(name, {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}})


TOOLS = [
    _tool("read_file", path="string", limit="integer"),
    _tool("bash", command="string"),
    _tool("send_mail", to="string", body="string"),
]
CALLS = (
    ("read_file", {"path": "/etc/hosts"}),
    ("bash", {"command": "ls -la"}),
    ("send_mail", {"to": "kim@example.com", "body": "hello"}),
    ("read_file", {"path": "notes/plan.md", "limit": 20}),
)
_DATA = json.loads((CASES / "dialect_talk.json").read_text(encoding="utf-8"))


def _json(name, arguments):
    return json.dumps({"name": name, "arguments": arguments})


def _pairs(arguments):
    return "".join(f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in arguments.items())


def _qwen(name, arguments, gap):
    inner = "".join(f"<parameter={key}>{gap}{value}{gap}</parameter>{gap}" for key, value in arguments.items())
    return f"<tool_call>{gap}<function={name}>{gap}{inner}</function>{gap}</tool_call>"


def _invoke(name, arguments, gap):
    inner = "".join(f'<parameter name="{key}">{value}</parameter>{gap}' for key, value in arguments.items())
    return f'<function_calls>{gap}<invoke name="{name}">{gap}{inner}</invoke>{gap}</function_calls>'


def _cline(name, arguments, gap):
    inner = "".join(f"<{key}>{value}</{key}>{gap}" for key, value in arguments.items())
    return f"<{name}>{gap}{inner}</{name}>"


def _python(name, arguments):
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


FORMS = {
    "hermes": lambda n, a, gap: f"<tool_call>{gap}{_json(n, a)}{gap}</tool_call>",
    "qwen": _qwen,
    "glm": lambda n, a, gap: f"<tool_call>{n}{_pairs(a)}</tool_call>",
    "mistral": lambda n, a, gap: f"[TOOL_CALLS]{n}[ARGS]{json.dumps(a)}",
    "mistral-list": lambda n, a, gap: f"[TOOL_CALLS] [{_json(n, a)}]",
    "kimi": lambda n, a, gap: (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions."
        f"{n}:0<|tool_call_argument_begin|>{json.dumps(a)}<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "invoke": _invoke,
    "json": lambda n, a, gap: _json(n, a),
    "cline": _cline,
    "react": lambda n, a, gap: f"Action: {n}\nAction Input: {json.dumps(a)}",
    "pythonic": lambda n, a, gap: f"[{_python(n, a)}]",
    "fenced": lambda n, a, gap: f"```json\n{_json(n, a)}\n```",
    "gemma": lambda n, a, gap: (
        f"<|tool_call>call:{n}{{"
        + ",".join(f'{k}:<|"|>{v}<|"|>' if isinstance(v, str) else f"{k}:{v}" for k, v in a.items())
        + "}<tool_call|>"
    ),
    "deepseek": lambda n, a, gap: (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{json.dumps(a)}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
}
MORE_FORMS = FORMS | {
    "tool_code": lambda n, a, gap: f"```tool_code\n{_python(n, a)}\n```",
    "harmony": lambda n, a, gap: (
        f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{json.dumps(a)}<|call|>"
    ),
    "json-list": lambda n, a, gap: f"[{_json(n, a)}]",
    "python-line": lambda n, a, gap: _python(n, a),
}
BLOCKS_ONLY = ("react", "fenced", "tool_code")


ENDS = _DATA["ends"]
"""Talk that ends with an unmarked call; only words tell it from the making of one."""
TOOLS_OF_ENDS = [
    _tool("get_weather", city="string", days="integer"),
    _tool("ping_host", host="string", count="integer"),
    _tool("read_file", path="string"),
]


FRAMES = {kind: _DATA[kind] for kind in ("shown", "made")}
_LAST = re.compile(r"(?:\A|\n)\{u\}\s*\Z|[:：] ?\{i\}\s*\Z")
_FOLLOWED = re.compile(r"\{u\}\s+[^{\s]")


def ends(kind: str, part: str, number: int) -> bool:
    """Tell whether a frame's call is the last thing said, after words that alone tell what it is."""
    text = FRAMES[kind][part][number]
    return _FOLLOWED.search(text) is None if kind == "made" else _LAST.search(text) is not None


def texts(kind: str, part: str, per_frame: int = 4):
    """Yield (frame number, form, text) for the frames of a kind, `shown` or `made`."""
    names = list(FORMS)
    for number, frame in enumerate(FRAMES[kind][part]):
        inline = "{i}" in frame
        usable = [name for name in names if not (inline and name in BLOCKS_ONLY)]
        for turn in range(per_frame):
            form = usable[(number * 3 + turn * 5) % len(usable)]
            name, arguments = CALLS[(number + turn) % len(CALLS)]
            unit = FORMS[form](name, arguments, "" if inline else "\n")
            yield number, form, frame.replace("{u}", unit).replace("{i}", unit).replace("{f}", form)


EXHIBITS = json.loads((CASES / "dialect_exhibits.json").read_text(encoding="utf-8"))
"""Calls under labels, in logs, tables and transcripts: kind of text → set → kind of frame → a frame a language."""
_UNITS = {
    "{u}": (("read_file", {"path": "/etc/hosts"}), "\n"), "{i}": (("read_file", {"path": "/etc/hosts"}), ""),
    "{v}": (("read_file", {"path": "/etc/passwd"}), "\n"), "{j}": (("read_file", {"path": "/etc/passwd"}), ""),
    "{w}": (("bash", {"command": "ls -la"}), "\n"), "{k}": (("bash", {"command": "ls -la"}), ""),
    "{m}": (CALLS[2], "\n"), "{n}": (CALLS[2], ""),
}  # fmt: skip


def exhibits(kind: str, part: str):
    """Yield (kind of frame, form, number of units, text) for all frames of a set in all forms that they may hold."""
    for name, frames in EXHIBITS[kind][part].items():
        for frame in frames:
            count = sum(frame.count(mark) for mark in _UNITS)
            inline = any(mark in frame for mark in ("{i}", "{j}", "{k}", "{n}"))
            for form, write in MORE_FORMS.items():
                if not (inline and form in BLOCKS_ONLY):
                    text = frame
                    for mark, (call, gap) in _UNITS.items():
                        text = text.replace(mark, write(*call, gap))
                    yield name, form, count, text
