"""Comments in calls: white space wherever it may stand, in every form and in any pieces; what only looks so is text."""

# ruff: noqa: E501 - a table of texts

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.dialects import Tool
from tests.dialects.reading import read_every_way

BASH = Tool(
    "bash",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "timeout": {"type": "integer"},
            "paths": {"type": "array", "items": {"type": "string"}},
        },
    },
)
TOOLS = [BASH]
UNIT = '{"reasoning": "I look", "tool": "bash", "args": {"command": "ls"}}'
CALL = UNIT.replace("{", "{{").replace("}", "}}")
COMMENTS = ("// run it\n", "/* run it */", "/* run\n** it */", "# run it\n", "// it's long: " + "x" * 300 + "\n")
PLACES = {
    "after the last value": '{{"command": "ls", "timeout": 5 {0}}}',
    "after the last text": '{{"timeout": 5, "command": "ls" {0}}}',
    "after a comma": '{{"command": "ls", {0} "timeout": 5}}',
    "before a comma": '{{"command": "ls" {0}, "timeout": 5}}',
    "before a key": '{{ {0} "command": "ls", "timeout": 5}}',
    "in a list": '{{"command": "ls", "timeout": 5, "paths": ["a", {0} "b" {0}]}}',
}
FORMS = {
    "hermes": '<tool_call>{{"name": "bash", "arguments": {0}}}</tool_call>',
    "bare": '{{"name": "bash", "arguments": {0}}}',
    "mistral": "[TOOL_CALLS]bash[ARGS]{0}",
    "fence": '```json\n{{"name": "bash", "arguments": {0}}}\n```',
    "list": '[{{"name": "bash", "arguments": {0}}}]',
    "harmony": "<|channel|>commentary to=functions.bash<|message|>{0}<|call|>",
    "a second one": CALL + '{{\n  // the tool\n  "name": "bash",\n  "arguments": {0}}}',
}


def called(text: str) -> list[dict[str, object]]:
    return [call.arguments for call in read_every_way(text, TOOLS).calls]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_a_comment_in_the_arguments_says_nothing(form: str, place: str) -> None:
    """Issue 15, 4: also where its quote is judged while the comment is still arriving."""
    wanted = {"command": "ls", "timeout": 5} | ({"paths": ["a", "b"]} if place == "in a list" else {})
    for comment in COMMENTS:
        arguments = PLACES[place].format(comment)
        assert called(FORMS[form].format(arguments))[-1] == wanted, comment


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('bash(\n    command="ls",  # the list\n    timeout=5,  # seconds\n)', [{"command": "ls", "timeout": 5}]),
        ('bash(\n    # the list\n    command="ls",\n    timeout=5  # seconds\n)', [{"command": "ls", "timeout": 5}]),
        ("bash(command='ls',  # the city's list\n     timeout=5)", []),
        ('bash(command="ls",  # the city\'s list\n     timeout=5)', [{"command": "ls", "timeout": 5}]),
        ('[bash(command="ls"),  # then\n bash(command="pwd") // last\n]', [{"command": "ls"}, {"command": "pwd"}]),
        ('```tool_code\n# the list\nbash(command="ls")\n# that is all\n```', [{"command": "ls"}]),
        ('```tool_code\n# bash(command="ls")\n```', []),
        (
            '<tool_call>[{"name": "bash", "arguments": {"command": "ls"}}, // then\n'
            '{"name": "bash", "arguments": {"command": "pwd"}} /* last */]</tool_call>',
            [{"command": "ls"}, {"command": "pwd"}],
        ),
        (
            '<tool_call>{"name": "bash", /* a shell */ "arguments": // its\n {"command": "ls"}}</tool_call>',
            [{"command": "ls"}],
        ),
    ],
)
def test_a_comment_elsewhere_in_calls_says_nothing(text: str, wanted: list[dict[str, object]]) -> None:
    assert called(text) == wanted


@pytest.mark.parametrize(
    "command",
    ['echo "a" # b', 'echo "a" // b', "curl https://a.b/c // d", 'echo "a", # b', "# only", 'x = "a" /* b', "#", "//"],
)
@pytest.mark.parametrize("end", ["}", "\n}", ', "timeout": 5}', ',\n "timeout": 5}'])
def test_what_looks_like_a_comment_in_a_text_stays(command: str, end: str) -> None:
    """Its quotes are not escaped: a comment that holds another quote may be the text's own."""
    for written in (f'"{command}"', json.dumps(command)):
        text = f'<tool_call>{{"name": "bash", "arguments": {{"command": {written}{end}}}</tool_call>'
        assert [arguments["command"] for arguments in called(text)] == [command]


def test_a_number_sign_begins_no_comment_in_a_word() -> None:
    assert called('<tool_call>{"name": "bash", "arguments": {command: fix #5\n}}</tool_call>') == [
        {"command": "fix #5"}
    ]


BITS = (
    '"', "'", "{", "}", "[", "]", "(", ")", ",", ":", "\n", " ", "//", "/*", "*/", "#", "\\", "\\n", '"a"', "b", "5",
    "true", '": "', '", ', '"}', '"}}', "// run\n", '", "k', "x" * 70, "=", "**",
)  # fmt: skip
BEGINNINGS = (
    UNIT,
    UNIT + '{"name": "bash", "arguments": {"command": "a"',
    '{"name": "bash", "arguments": {"command": "a"',
    '<tool_call>{"name": "bash", "arguments": {"timeout": 1',
    '<tool_call>{"name": "bash", "arguments": {"paths": ["a"',
    'bash(command="a"',
    '[bash(command="a")',
    '<|tool_call>call:bash{command:"a"',
    'Action: bash\nAction Input: {"command": "a"',
)


@given(
    st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(BITS), max_size=9), st.sampled_from(["", "}}", ")]", "\n"])
)
def test_a_call_that_goes_on_anyhow_is_read_alike_whole_and_in_pieces(begun: str, bits: list[str], end: str) -> None:
    """Found by `bench/dialects.py`: an unfinished comment after a text was taken for more of the text."""
    read_every_way(begun + "".join(bits) + end, TOOLS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        UNIT + '{\n  // the tool\n  "name": "bash",\n  "arguments": {"]command": "ls" // run\n}',
        '{"name": "bash", "arguments": {"command": "ls" // run\n}',
        '<tool_call>{"name": "bash", "arguments": {"command": "ls" /* run *',
        '<tool_call>{"name": "bash", "arguments": {"command": "ls", /' + "* " * 300 + '*/ "timeout": 5}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"paths": ["a", trueish", "b"]}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"command": "ls", timeout \\n: 5}}</tool_call>',
        '{"name": "bash", "arguments": {"command": "ls",' + " " * 3_900 + '"timeout": 5}}',
        '{"name": "bash", "arguments": {"command": "ls",' + " " * 4_100 + '"timeout": 5}}',
        '{"name": "bash", "arguments": {"command": "ls"' + " " * 4_100 + "}}",
        '{"name": "bash",' + " " * 4_100 + '"arguments": {"command": "ls"}}',
        '{"name": "bash", "arguments": {"command": "' + " " * 4_100 + '"}}',
    ],
)
def test_what_comes_after_a_quote_is_judged_alike_whole_and_in_pieces(text: str) -> None:
    read_every_way(text, TOOLS)
