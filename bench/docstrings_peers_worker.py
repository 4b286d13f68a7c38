"""Collect docstrings of this environment's packages, or read docstrings with one library; JSON in and out."""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import pkgutil
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

MODULES_OF_ONE = 60
_TELLS_PARAMETERS = re.compile(
    r"^\s*(Parameters|Args|Arguments|Params|Keyword Args|:param\b|:keyword\b|:arg\b)", re.MULTILINE
)


def collect(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return that many docstrings that tell of parameters, as many of each package as it has to give."""
    of_each = {package: list(_documented(package)) for package in given["packages"]}
    share = -(-given["wanted"] // len(of_each))
    found: list[dict[str, Any]] = []
    for package, functions in of_each.items():
        step = max(1, len(functions) // share)
        found += [{"package": package, **each} for each in functions[::step][:share]]
    return found


def _documented(package: str) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for module in _modules(package):
        for name, value in sorted(vars(module).items(), key=lambda item: item[0]):
            inner = vars(value).items() if isinstance(value, type) else ()
            for path, function in [(name, value), *((f"{name}.{key}", each) for key, each in sorted(inner))]:
                doc = getattr(function, "__doc__", None)
                if not isinstance(function, types.FunctionType) or not isinstance(doc, str) or doc in seen:
                    continue
                if str(function.__module__).split(".")[0] == package and _TELLS_PARAMETERS.search(doc):
                    seen.add(doc)
                    names = list(inspect.signature(function).parameters)
                    yield {"name": f"{module.__name__}.{path}", "doc": doc, "names": names}


def _modules(package: str) -> list[types.ModuleType]:
    root = importlib.import_module(package)
    found = [root]
    for info in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda _: None):
        if len(found) >= MODULES_OF_ONE:
            break
        if ".tests" in info.name or ".conftest" in info.name or "._" in info.name:
            continue
        try:
            found.append(importlib.import_module(info.name))
        except BaseException:  # noqa: BLE001, S112  # a module that wants what is not installed
            continue
    return found


def _function(doc: str) -> Callable[[], None]:
    def function() -> None: ...

    function.__doc__ = doc
    return function


def naru(doc: str) -> tuple[str, dict[str, str]]:
    from naru.tools.functions.docstrings import read_docstring

    found = read_docstring(doc)
    return found.description, found.parameters


def fastmcp(doc: str) -> tuple[str, dict[str, str]]:
    from fastmcp.utilities.docstring_parsing import parse_docstring

    found = parse_docstring(_function(doc))
    return found.description or "", found.parameters


def pydantic_ai(doc: str) -> tuple[str, dict[str, str]]:
    from pydantic_ai._griffe import doc_descriptions

    description, parameters = doc_descriptions(_function(doc), docstring_format="auto")
    summary = re.match(r"<summary>(.*?)</summary>", description or "", re.DOTALL)  # its own way to tell the rest
    return summary[1] if summary else re.sub(r"(?s)^<returns>.*", "", description or ""), parameters


def openai_agents(doc: str) -> tuple[str, dict[str, str]]:
    from agents.function_schema import generate_func_documentation

    found = generate_func_documentation(_function(doc))
    return found.description or "", found.param_descriptions or {}


def main(task: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    given = json.load(sys.stdin)
    if task == "collect":
        print(json.dumps(collect(given)))
        return
    read = {"naru": naru, "fastmcp": fastmcp, "pydantic-ai": pydantic_ai, "openai-agents": openai_agents}[task]
    rows = []
    for doc in given:
        try:
            description, parameters = read(doc)
        except Exception as error:
            description, parameters = f"{type(error).__name__}: {error}", {}
        rows.append({"description": description, "parameters": parameters})
    print(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1])
