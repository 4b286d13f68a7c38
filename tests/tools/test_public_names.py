"""What `naru.tools` offers to users is exactly what it says, and the how-to's example works."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import naru.tools
from naru.messages import TextPart
from naru.tools.functions.registry import REGISTRY
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

HOW_TO = Path(__file__).parent.parent.parent / "docs" / "how-to" / "python-tools.md"


def test_every_public_name_can_be_imported_and_no_other_is_listed():
    assert sorted(naru.tools.__all__) == naru.tools.__all__ == sorted(naru.tools._HOMES)
    for name in naru.tools.__all__:
        assert getattr(naru.tools, name).__name__ == name


async def test_the_how_tos_example_works():
    (source,) = re.findall(r"```python file=my_tools.py\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), flags=re.DOTALL)
    module = types.ModuleType("how_to_example")
    sys.modules["how_to_example"] = module
    try:
        exec(compile(source, str(HOW_TO), "exec"), vars(module))
        toolset = FunctionToolset([module.convert])
        (tool,) = await toolset.tools()
        assert list(tool.input_schema["properties"]) == ["amount", "currency"]
        result = await toolset.call("convert", {"amount": 2, "currency": "EUR"}, CallContext())
        assert result.content == (TextPart('{"usd":2.16}'),)
        await toolset.close()
    finally:
        REGISTRY.remove("convert")
        del sys.modules["how_to_example"]
