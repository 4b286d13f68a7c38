"""The public surface of `naru.dialects`."""

import subprocess
import sys
import types

import naru.dialects
from naru.dialects import StreamParser, Text, Tool, parse, tools_from_openai

PING = Tool("ping", {"type": "object", "properties": {"host": {"type": "string"}}})
CALL = '{"name": "ping", "arguments": {"host": "a"}}'


def test_all_is_exactly_the_public_names():
    own = {
        name
        for name, value in vars(naru.dialects).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and name not in ("TYPE_CHECKING", "Any", "import_module")
    }
    assert own | {"StreamParser", "parse"} == set(naru.dialects.__all__)
    assert all(hasattr(naru.dialects, name) for name in naru.dialects.__all__)


def test_the_library_imports_with_the_standard_library_only():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from naru.dialects import *; "
        "print([m for m in sys.modules if m.split('.')[0] not in sys.stdlib_module_names | {'naru', '__main__'}])"
    )
    root = str(__import__("pathlib").Path(naru.dialects.__file__).parents[2])
    out = subprocess.run([sys.executable, "-S", "-c", code, root], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_openai_tools_are_read_in_every_common_form():
    schema = {"type": "object"}
    forms = [
        {"type": "function", "function": {"name": "a", "parameters": schema}},
        {"type": "function", "name": "b", "parameters": schema},
        {"name": "c", "input_schema": schema},
        {"name": "d", "inputSchema": schema},
        {"type": "web_search"},
    ]
    assert tools_from_openai(forms) == tuple(Tool(name, schema) for name in "abcd")


def test_the_same_events_come_whole_and_per_character():
    for text in (f"Hi.\n<tool_call>{CALL}</tool_call>", f"```json\n{CALL}\n```", CALL, "just { text }"):
        whole = parse(text, [PING])
        parser = StreamParser([PING])
        events = [event for character in text for event in parser.feed(character)] + parser.close()
        assert parser.calls == whole.calls
        assert "".join(e.text for e in events if isinstance(e, Text)).strip() == whole.content
