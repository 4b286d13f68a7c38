"""A slip at the end of one argument never makes the next a part of it: the call is mended or refused."""

# ruff: noqa: E501 - calls are easier to read in one line

import json
import re

import pytest

from naru.dialects import Tool, parse
from tests.dialects.reading import read_every_way

WRITE = Tool(
    "write_file",
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("path", "content", "mode")},
        "required": ["path", "content"],
    },
)
SEARCH = Tool("search", {"type": "object", "properties": {"query": {"type": "string"}, "opts": {"type": "object"}}})
TOOLS = [WRITE, SEARCH]
WANTED = {"path": "a.py", "content": "hello", "mode": "x"}
OBJECT = json.dumps(WANTED)
FORMS = {
    "hermes": f'<tool_call>\n{{"name": "write_file", "arguments": {OBJECT}}}\n</tool_call>',
    "json": f'{{"name": "write_file", "arguments": {OBJECT}}}',
    "mistral": f"[TOOL_CALLS]write_file[ARGS]{OBJECT}",
    "kimi": f"<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{OBJECT}<|tool_call_end|>",
    "harmony": f"<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{OBJECT}<|call|>",
    "react": f"Action: write_file\nAction Input: {OBJECT}",
    "openai": f'{{"type": "function", "function": {{"name": "write_file", "arguments": {OBJECT}}}}}',
    "openai-list": f'{{"tool_calls": [{{"id": "1", "function": {{"name": "write_file", "arguments": {OBJECT}}}}}]}}',
    "as-text": f'<tool_call>{{"name": "write_file", "arguments": {json.dumps(OBJECT)}}}</tool_call>',
    "python": '[write_file(path="a.py", content="hello", mode="x")]',
    "kimi-k3": '<|open|>call tool="write_file" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a.py'
    '<|close|>argument<|sep|><|open|>argument key="content" type="string"<|sep|>hello<|close|>argument<|sep|>'
    '<|open|>argument key="mode" type="string"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|>',
    "continue": "```tool\nTOOL_NAME: write_file\nBEGIN_ARG: path\na.py\nEND_ARG\nBEGIN_ARG: content\nhello\nEND_ARG\n"
    "BEGIN_ARG: mode\nx\nEND_ARG\n```",
    "dashed": '[TOOL_CALL]\n{tool => "write_file", args => {\n  --path "a.py"\n  --content "hello"\n  --mode "x"\n}}\n[/TOOL_CALL]',
}
TOKEN = re.compile(r"<[^<>\n]{1,60}>|BEGIN_ARG:|END_ARG|--|[,:\"=]|\b(?:path|content|mode|argument)\b")
DAMAGES = {
    "left out": lambda token: "",
    "doubled": lambda token: token + token,
    "its end left out": lambda token: token[:-1],
    "its beginning left out": lambda token: token[1:],
    "in capitals": str.upper,
    "escaped": lambda token: "\\" + token,
    "a bracket after it": lambda token: token + "]",
    "in backticks": lambda token: f"`{token}`",
    "a quote after it": lambda token: token + '"',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_value_holds_the_argument_after_it(form, damage):
    text = FORMS[form]
    assert [call.arguments for call in parse(text, TOOLS).calls] == [WANTED]
    for token in TOKEN.finditer(text):
        broken = text[: token.start()] + DAMAGES[damage](token[0]) + text[token.end() :]
        for call in parse(broken, TOOLS).calls:
            values = {key: value for key, value in WANTED.items() if key not in call.arguments}
            for key, value in call.arguments.items():
                held = [
                    name
                    for name in values
                    if re.search(rf"\b{name}\b", value) or (values[name] in value and len(values[name]) > 1)
                ]
                assert not held or key not in WANTED, (broken, call.arguments)


@pytest.mark.parametrize("space", [" ", "\n", "\n  "])
@pytest.mark.parametrize("form", ["hermes", "json", "mistral", "kimi", "harmony", "react"])
def test_a_comma_that_was_left_out_between_two_arguments_is_mended(form, space):
    """The second was a part of the first, which ran."""
    parsed = read_every_way(FORMS[form].replace(", ", space), TOOLS)
    assert [call.arguments for call in parsed.calls] == [WANTED]


def test_a_comma_that_was_left_out_inside_of_an_object_is_mended():
    text = '<tool_call>{"name": "search", "arguments": {"query": "x" "opts": {"a": "b" "c": "d"}}}</tool_call>'
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] == [
        {"query": "x", "opts": {"a": "b", "c": "d"}}
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "search", "arguments": {"query": "x, "opts": {"a": 1}}}</tool_call>',
        '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "b", "mode: "x"}}</tool_call>',
        '{"name": "write_file", "arguments": {"path": "a.py", "content": "b\\", "mode": "x"}}',
        '[write_file(path="a", content="b, mode="x")]',
        '[write_file(path="a", content="b" mode="x")]',
        'search("query": "a b")',
        '[search("\\"query\\": \\"a b\\"")]',
        '[write_file("path": "a", "content": "b")]',
        'write_file("{"path": "a", "content": "b"}")',
        '[Calling tool: search({"query: "x", "opts": 1})]',
        '<|tool_call>call:search{"query": a b"}<tool_call|>',
        FORMS["continue"].replace("hello\nEND_ARG", "hello\nEND_ARGS"),
        FORMS["kimi-k3"].replace("hello<|close|>argument", "hello<|close|>arguments"),
    ],
)
def test_a_call_whose_value_holds_an_optional_argument_is_text(text):
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ('say "hello" to me', 'say "hello" to me'),
        ('the "mode" of "path": read', 'the "mode" of "path": read'),
        ("{'mode': 1}", "{'mode': 1}"),
    ],
)
def test_stray_quotes_in_a_value_stay_where_nothing_is_missing(written, content):
    text = f'<tool_call>{{"name": "write_file", "arguments": {{"path": "a", "mode": "x", "content": "{written}"}}}}</tool_call>'
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] == [
        {"path": "a", "mode": "x", "content": content}
    ]


@pytest.mark.parametrize("more", ["", ', "mode": "s"'])
def test_an_object_that_was_not_escaped_in_a_text_gives_no_argument_away(more):
    """`mode` was `z"}`, and the content was cut before it."""
    content = 'x = {"content": "y", "mode": "z"}'
    arguments = f'{{"path": "a", "content": "{content}"{more}}}'
    assert [call.arguments for call in read_every_way(f"[Calling tool: write_file({arguments})]", TOOLS).calls] == [
        {"path": "a", "content": content} | ({"mode": "s"} if more else {})
    ]
    text = f'<tool_call>{{"name": "write_file", "arguments": {arguments}}}</tool_call>'
    assert {call.arguments["content"] for call in read_every_way(text, TOOLS).calls} <= {content}


@pytest.mark.parametrize("written", ["content:", "content: ,mode:1", '<|"|>content<|"|>:'])
def test_an_argument_of_gemma_without_any_value_is_no_empty_text(written):
    text = f'<|tool_call>call:write_file{{path:<|"|>a<|"|>,{written}}}<tool_call|>'
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize("name", [" path", "path ", "`path`", "path:", "[path]"])
def test_marks_around_a_key_of_json_are_no_part_of_it(name):
    text = f'<tool_call>{{"name": "write_file", "arguments": {{"{name}": "a", "content": "b"}}}}</tool_call>'
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"path": "a", "content": "b"}]
    assert [mended.kind for mended in parsed.repairs] == ["argument-name"]


def test_a_key_with_marks_stays_where_the_plain_one_is_there():
    for first, second in (("path", "path?"), ("path?", "path")):
        text = f'<tool_call>{{"name": "write_file", "arguments": {{"{first}": "a", "{second}": "b", "content": "c"}}}}</tool_call>'
        assert read_every_way(text, TOOLS).calls[0].arguments["path"] == "a"


UNESCAPED = [
    '{\n  "name": "demo",\n  "version": "1"\n}',
    '{"a": "x", "b": {"c": "y"}}',
    '{"scripts": {"build": "tsc", "test": "jest"}}',
    'print("hi", "there")',
    '<a href="x" class="y">z</a>',
    'echo "a" && echo "b", "c"',
]
CUT = ['say "a", "path": "b" now', 'const a = {b: "c", d: "e"};', '[{"id": "1"}, {"id": "2"}]']


@pytest.mark.parametrize("value", UNESCAPED)
@pytest.mark.parametrize(
    "form",
    [
        '<tool_call>{{"name": "write_file", "arguments": {{"path": "a", "content": "{}"}}}}</tool_call>',
        '{{"name": "write_file", "parameters": {{"content": "{}", "path": "a"}}}}',
        '[TOOL_CALLS]write_file[ARGS]{{"path": "a", "content": "{}"}}',
        '<|tool_call>call:write_file{{path:"a",content:"{}"}}<tool_call|>',
    ],
)
def test_a_file_s_text_that_was_not_escaped_is_not_cut(form, value):
    """Its first pair of quotes ended it where a comma and another member came, and the file was written so."""
    parsed = read_every_way(form.format(value), TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"path": "a", "content": value}]


@pytest.mark.parametrize("value", CUT)
@pytest.mark.parametrize(
    "form",
    [
        '<tool_call>{{"name": "write_file", "arguments": {{"path": "a", "content": "{}"}}}}</tool_call>',
        '[TOOL_CALLS]write_file[ARGS]{{"content": "{}", "path": "a"}}',
        '<|tool_call>call:write_file{{path:"a",content:"{}"}}<tool_call|>',
        '[write_file(content="{}", path="a")]',
    ],
)
def test_a_text_that_was_not_escaped_is_whole_or_no_argument(form, value):
    for call in read_every_way(form.format(value), TOOLS).calls:
        assert call.arguments == {"path": "a", "content": value}


def test_a_text_of_a_python_call_holds_keywords_that_are_none_of_its_tool():
    for value in ("{uri='http://a.example', local='item', prefix='ex'}", "say 'hi', you"):
        text = f"[write_file(content='{value}', path='a')]"
        parsed = read_every_way(text, TOOLS)
        assert [call.arguments for call in parsed.calls] == [{"path": "a", "content": value}]
