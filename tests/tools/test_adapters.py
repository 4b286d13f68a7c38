"""Issue 19 line 10: tools of FastMCP, LangChain and pydantic-ai as they are, and Naru's toolset handed to them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.client_environments import python_environment

from naru.adapters import for_langchain
from naru.errors import ConfigError
from naru.tools.functions.toolset import FunctionToolset

HERE = Path(__file__).parent
REQUIREMENTS = (
    "fastmcp==4.2.3", "langchain-core==1.8.3", "pydantic-ai-slim==2.68.0",
    "docstring-parser==0.18.0", "orjson==3.13.0", "jsonschema-rs==0.61.0",
)  # fmt: skip
WAIT_SECONDS = 200


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    python = python_environment(*REQUIREMENTS)
    done = subprocess.run(
        [str(python), str(HERE / "foreign_tools.py")],
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent / "src")},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_their_tools_are_offered_with_their_own_schemas(found):
    taken = found["taken"]
    assert taken["add"] == ["Add two.", ["a", "b"], ["a", "b"]]
    assert taken["point"] == ["Make a point.", ["x"], ["x"]]
    assert taken["visit"] == ["Visit a place.", ["days", "place"], ["place"]]


@pytest.mark.slow
def test_their_tools_are_called_with_arguments_that_fit(found):
    taken = found["taken"]
    assert taken["added"] == ["3 mine", None, False]
    assert taken["pointed"] == ['{"x":3}', {"x": 3}, False]
    assert taken["visited"] == ["3 in Seoul", None, False]
    assert taken["failed"][2] is True
    assert "x is below zero" in taken["failed"][0]
    assert '"city" is a required' in taken["refused"]


@pytest.mark.slow
def test_what_langchain_injects_is_not_taken_from_a_model(found):
    assert found["taken"]["forged"] == ["3 mine", None, False]


@pytest.mark.slow
def test_their_tools_are_registered_as_they_are(found):
    registered = found["registered"]
    assert registered["unchanged"] == [True] * 4
    assert registered["names"] == ["add", "point", "visit"]
    assert "takes a RunContext" in registered["context"]
    assert "Depends" in registered["context"]


@pytest.mark.slow
def test_narus_tools_work_in_each_library(found):
    handed = found["handed"]
    assert handed["langchain"] == ["point", "Make a point.", '{"x":3}']
    assert handed["langchain message"] == ["1 in Seoul", False]
    assert "x is below zero" in handed["langchain failed"]
    assert handed["langchain names"] == "{'x': 1} m s"
    assert json.loads(handed["pydantic-ai"]) == {"point": {"x": 0}}
    assert handed["fastmcp"] == ["point", "Make a point.", "Where."]
    assert handed["fastmcp result"] == ['{"x":3}', {"x": 3}]
    for failed in ("fastmcp failed", "fastmcp wrong"):
        assert handed[failed][1] is True
    assert "place" in handed["fastmcp wrong"][0]


async def test_a_library_that_is_not_there_says_how_to_get_it():
    with pytest.raises(ConfigError, match="pip install langchain-core"):
        await for_langchain(FunctionToolset([]))
