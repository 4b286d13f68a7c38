"""Environment variables in configurations: f01, f03, and the syntaxes of other products."""

from __future__ import annotations

from pathlib import Path

import pytest

from naru.errors import ConfigError
from naru.stores.formats.expand import MissingVariableError, expand, is_placeholder, variables_of

VARIABLES = {"MY_TOKEN": "t-1", "EMPTY": "", "DIR": "/srv", "DOLLAR": "${MY_TOKEN}", "lower": "low"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bearer ${MY_TOKEN}", "Bearer t-1"),
        ("$MY_TOKEN", "t-1"),
        ("$MY_TOKEN/x", "t-1/x"),
        ("${UNSET:-dflt}", "dflt"),
        ("${UNSET-dflt}", "dflt"),
        ("${UNSET:-}", ""),
        ("${UNSET:-http://h:1/?a=b}", "http://h:1/?a=b"),
        ("${EMPTY:-dflt}", "dflt"),
        ("${EMPTY}", ""),
        ("${env:MY_TOKEN}", "t-1"),
        ("${env://MY_TOKEN}", "t-1"),
        ("${env://UNSET:-d}", "d"),
        ("{env:MY_TOKEN}", "t-1"),
        ("os.environ/MY_TOKEN", "t-1"),
        ("env.MY_TOKEN", "t-1"),
        ("${lower}", "low"),
        ("${MY_TOKEN}${DIR}", "t-1/srv"),
        ("${DOLLAR}", "${MY_TOKEN}"),
        ("$$5", "$5"),
        ("$5", "$5"),
        ("$", "$"),
        ("a$", "a$"),
        ("pa$word", "pa$word"),
        ("$$MY_TOKEN", "$MY_TOKEN"),
        ("$${MY_TOKEN}", "${MY_TOKEN}"),
        ("{{USER_ID}}", "{{USER_ID}}"),
        ("${}", "${}"),
        ("${not a name}", "${not a name}"),
        ("see os.environ/MY_TOKEN", "see os.environ/MY_TOKEN"),
        ("C:\\Users\\me", "C:\\Users\\me"),
        ("${UNSET:-${MY_TOKEN}}", "t-1"),
        ("${UNSET:-a${MY_TOKEN}b${DIR}}c", "at-1b/srvc"),
        ("${UNSET:-${UNSET:-x}}", "x"),
        ("${UNSET:-${DIR}/${UNSET:-y}}", "/srv/y"),
        ("${MY_TOKEN:?give one}", "t-1"),
        ("${MY_TOKEN:+set}", "set"),
        ("${UNSET:+set}", ""),
        ("${MY_TOKEN:+-H ${MY_TOKEN}}", "-H t-1"),
        ("a${pathSeparator}b${/}c", "a/b/c"),
        ("${workspaceFolderBasename}", "work-folder"),
        ("${cwd}", "/work-folder"),
        ("%APPDATA%", "%APPDATA%"),
        ("${userHome}/x", f"{Path.home()}/x"),
        ("${workspaceFolder}/x", "/work-folder/x"),
    ],
)
def test_f01_a_placeholder_is_replaced_and_other_text_stays(text: str, expected: str) -> None:
    config = {"command": text, "args": [text], "env": {"K": text}, "cwd": text, "url": text, "headers": {"H": text}}
    found = expand(config, server="s", variables=VARIABLES, folder=Path("/work-folder"))
    assert found == {
        "command": expected,
        "args": [expected],
        "env": {"K": expected},
        "cwd": expected,
        "url": expected,
        "headers": {"H": expected},
    }


def test_f03_a_missing_variable_is_named_with_its_field_each_one() -> None:
    with pytest.raises(MissingVariableError) as refused:
        expand({"url": "${MY_URL}"}, server="a", variables={})
    assert "MY_URL not set (mcpServers.a.url)" in str(refused.value)
    config = {"command": "python", "args": ["${DIR}/s.py", "${ARG}"], "env": {"K": "${K2}"}, "headers": {"H": "$TOKEN"}}
    with pytest.raises(ConfigError) as refused:
        expand(config, server="b", variables={"DIR": "/srv"})
    for said in (
        "ARG not set (mcpServers.b.args[1])",
        "K2 not set (mcpServers.b.env.K)",
        "TOKEN not set (mcpServers.b.headers.H)",
    ):
        assert said in str(refused.value)
    assert "DIR not set" not in str(refused.value)
    config = {"command": "x", "env": {"A": "${A:?get one at the desk}"}, "args": ["${UNSET:-${B}}", "${command:pick}"]}
    with pytest.raises(ConfigError) as refused:
        expand(config, server="c", variables={})
    for said in ("A not set (mcpServers.c.env.A): get one at the desk", "B not set (mcpServers.c.args[0])", "command:"):
        assert said in str(refused.value)


def test_an_input_of_vs_code_is_taken_from_the_environment() -> None:
    config = {"url": "http://h/", "headers": {"H": "Bearer ${input:api-key}"}}
    found = expand(config, server="a", variables={"NARU_INPUT_API_KEY": "k"})
    assert found["headers"] == {"H": "Bearer k"}
    with pytest.raises(MissingVariableError, match="NARU_INPUT_API_KEY not set"):
        expand(config, server="a", variables={})


def test_an_env_file_fills_the_environment_and_declared_variables_win(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# note\nA=1\nexport B='two words'\nbad line\nC=\n", encoding="utf-8")
    found = expand({"command": "x", "envFile": str(file), "env": {"A": "own"}}, server="a", variables={})
    assert found["env"] == {"A": "own", "B": "two words", "C": ""}
    with pytest.raises(ConfigError, match="envFile"):
        expand({"command": "x", "envFile": str(tmp_path / "none")}, server="a", variables={})


def test_keys_that_are_not_ours_stay_as_they_are() -> None:
    config = {"url": "http://h/", "icon": "${UNSET}", "timeout": 5, "alwaysAllow": ["$X"]}
    assert expand(config, server="a", variables={}) == config


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("${A}", True),
        ("$A", True),
        ("os.environ/A", True),
        ("env.A", True),
        ("{env:A}", True),
        ("$$A", False),
        ("${A:-secret}", False),
        ("Bearer ${A}", False),
        ("plain", False),
    ],
)
def test_a_placeholder_is_told_from_a_value(text: str, is_one: bool) -> None:
    assert is_placeholder(text) is is_one


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("${A}-${env:B}-${env://C}-{env:D}-$E", {"A", "B", "C", "D", "E"}),
        ("${A:-${B:-b}}${C:+c$D}${E:?no}", {"A", "B", "C", "D", "E"}),
        ("${input:api-key}", {"NARU_INPUT_API_KEY"}),
        ("os.environ/A", {"A"}),
        ("$$A ${userHome} a", set()),
    ],
)
def test_all_variables_that_a_config_may_read_are_named(text: str, names: set[str]) -> None:
    assert variables_of({"env": {"X": [text]}, "note": "${Z}"}) == names
