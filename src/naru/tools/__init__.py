"""Everything that can be called, as Toolsets composed by wrapping; Python functions as tools.

The names of `__all__` are what a user's own tools need; each is loaded at its first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from naru.tools.combined import CombinedToolset
    from naru.tools.execute import execute_tool, run_tool
    from naru.tools.functions.dependencies import Container
    from naru.tools.functions.inject import Depends, ToolContext
    from naru.tools.functions.json_schema import type_to_json_schema
    from naru.tools.functions.registry import (
        discover,
        generate_tool_config,
        get_registered_tools,
        problems,
        register_tool,
    )
    from naru.tools.functions.signature import build_tool_schema
    from naru.tools.functions.toolset import FunctionToolset
    from naru.tools.toolset import CallContext, Toolset
    from naru.tools.wrappers import (
        Approval,
        ApprovedToolset,
        DescribedToolset,
        FilteredToolset,
        LimitedToolset,
        PrefixedToolset,
        RenamedToolset,
    )

_HOMES = {
    "Approval": "wrappers",
    "ApprovedToolset": "wrappers",
    "CallContext": "toolset",
    "CombinedToolset": "combined",
    "Container": "functions.dependencies",
    "Depends": "functions.inject",
    "DescribedToolset": "wrappers",
    "FilteredToolset": "wrappers",
    "FunctionToolset": "functions.toolset",
    "LimitedToolset": "wrappers",
    "PrefixedToolset": "wrappers",
    "RenamedToolset": "wrappers",
    "ToolContext": "functions.inject",
    "Toolset": "toolset",
    "build_tool_schema": "functions.signature",
    "discover": "functions.registry",
    "execute_tool": "execute",
    "generate_tool_config": "functions.registry",
    "get_registered_tools": "functions.registry",
    "problems": "functions.registry",
    "register_tool": "functions.registry",
    "run_tool": "execute",
    "type_to_json_schema": "functions.json_schema",
}
__all__ = [
    "Approval",
    "ApprovedToolset",
    "CallContext",
    "CombinedToolset",
    "Container",
    "Depends",
    "DescribedToolset",
    "FilteredToolset",
    "FunctionToolset",
    "LimitedToolset",
    "PrefixedToolset",
    "RenamedToolset",
    "ToolContext",
    "Toolset",
    "build_tool_schema",
    "discover",
    "execute_tool",
    "generate_tool_config",
    "get_registered_tools",
    "problems",
    "register_tool",
    "run_tool",
    "type_to_json_schema",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"naru.tools.{_HOMES[name]}"), name)
