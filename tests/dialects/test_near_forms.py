"""Forms that are nearly a dialect's: what was meant is read, and reported where it was mended (N5)."""

# ruff: noqa: E501 - a table of texts

import json

import pytest

from naru.dialects import Tool
from tests.dialects.reading import CASES, assert_accounted, read_every_way, stream

TOOLS = [
    Tool(
        "bash",
        {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
            "required": ["command"],
        },
    ),
    Tool("write_file", {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}),
    Tool("now", {"type": "object", "properties": {}}),
]
LS = ("bash", {"command": "ls"})
TIMED = ("bash", {"timeout": 5, "command": "ls"})
TEXT = json.dumps('{"command": "ls"}')
TEXT_OBJECT = '{"command": "ls"}'
UNIT = '{"name": "bash", "arguments": {"command": "ls"}}'
PWD = '{"name": "bash", "arguments": {"command": "pwd"}}'


WEATHER = Tool(
    "get_weather",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)
FORMS = json.loads((CASES / "dialect_near_forms.json").read_text(encoding="utf-8"))


def written(content):
    return ("write_file", {"path": "t", "content": content})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<|tool_call>call:write_file{path:"t",content:"hi, you"}<tool_call|>', [written("hi, you")]),
        ("<|tool_call>call:write_file{path:t,content:hi, you}<tool_call|>", [written("hi, you")]),
        ("<|tool_call>call:write_file{path:t,content:a: b}<tool_call|>", [written("a: b")]),
        ('<|tool_call>call:write_file{"path": "t", "content": "a } b"}<tool_call|>', [written("a } b")]),
        ('<|tool_call>call:write_file(path="t", content="hi")<tool_call|>', [written("hi")]),
        ('<|tool_call>call:write_file(path:"t", content:"hi")<tool_call|>', [written("hi")]),
        ('<|tool_call>call:write_file{path="t", content="hi"}<tool_call|>', [written("hi")]),
        ('<|tool_call>call:write_file(path:<|"|>t<|"|>, content:<|"|>hi<|"|>)<tool_call|>', [written("hi")]),
        ("<|tool_call>call:now()<tool_call|>", [("now", {})]),
        (
            "<|tool_call>call:bash{timeout:5 // seconds\n,command:ls}<tool_call|>",
            [("bash", {"timeout": 5, "command": "ls"})],
        ),
        (
            "<|tool_call>call:bash{command:ls, // list\ntimeout:5}<tool_call|>",
            [("bash", {"command": "ls", "timeout": 5})],
        ),
        ("<|tool_call>call:write_file{path:t,content:`hi, {you}`}<tool_call|>", [written("hi, {you}")]),
        ('[TOOL_CALL]\n{tool => "bash", args => {\n  --command "ls"\n}}\n[/TOOL_CALL]', [LS]),
        (
            '[TOOL_CALL]\n{tool => "bash", args => {\n  --command ls\n  --timeout 5\n}}\n[/TOOL_CALL]',
            [("bash", {"command": "ls", "timeout": 5})],
        ),
        ('```python\nx = bash(command="ls")\n```', [LS]),
        (
            f"<|channel|>commentary to=assistant<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{TEXT_OBJECT}<|call|>",
            [LS],
        ),
        (
            "<|tool_call>call:bash{\\n command:ls,\\n timeout:5\\n}<tool_call|>",
            [("bash", {"command": "ls", "timeout": 5})],
        ),
        ('<|tool_call>call:bash{command:<|"|>ls<|"|>}call:now{}<tool_call|>', [LS, ("now", {})]),
        ('<|tool_call>call:bash{command:<|"|>ls<|"|>}\ncall:bash{command:ls}<tool_call|>', [LS, LS]),
        (
            "<start_function_call>call:bash{command:<escape>ls<escape>,timeout:3}<end_function_call>",
            [("bash", {"command": "ls", "timeout": 3})],
        ),
        (
            f"<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{TEXT}<|tool_call_end|><|tool_calls_section_end|>",
            [LS],
        ),
        (f"[TOOL_CALLS]bash[ARGS]{TEXT}", [LS]),
        (
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{TEXT}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            [LS],
        ),
        (f"<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{TEXT}<|call|>", [LS]),
        (f"<function=bash>{TEXT}</function>", [LS]),
        (f"Action: bash\nAction Input: {TEXT}", [LS]),
        (f"{UNIT}</tool_call>", [LS]),
        ('[bash(command="ls")]</tool_call>', [LS]),
        (f"{UNIT} {PWD}", [LS, ("bash", {"command": "pwd"})]),
        (f"{UNIT}{PWD}", [LS, ("bash", {"command": "pwd"})]),
        ('[bash(command="ls")] [now()]', [LS, ("now", {})]),
        ('<tool_call><name>bash</name><parameters>{"command": "ls"}</parameters></tool_call>', [LS]),
        ('<tool_call>\n<tool_name>bash</tool_name>\n<arguments>{"command": "ls"}</arguments>\n</tool_call>', [LS]),
        ("<tool_call><name>bash</name><parameters><command>ls</command></parameters></tool_call>", [LS]),
        ("bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n", [LS]),
        ("bash<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>", [LS]),
        ("[TOOL_CALLS]now[ARGS]", [("now", {})]),
        ('<tool_call>{"name"： "bash"， "arguments"： {"command"： "ls"}}</tool_call>', [LS]),
        ('{"name"：“bash”，"arguments"：{"command"："a：b，c"}}', [("bash", {"command": "a：b，c"})]),
        ('[TOOL_CALLS]bash[ARGS]{"command"： "ls"}', [LS]),
        ('<tool_call>{"name": "bash", "arguments": {"timeout": 5，"command": "ls"}}</tool_call>', [TIMED]),
        ('[TOOL_CALLS] [{"name": "bash"，"arguments": {"timeout": 5，"command": "ls"}}]', [TIMED]),
        (r'<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>', [LS]),
        (r'<tool_call>{\n"name": "bash",\n "arguments": {"command": "ls"}\n}</tool_call>', [LS]),
        (r'{\n  "name": "bash",\n  "arguments": {\n    "command": "ls"\n  }\n}', [LS]),
        ("[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]now[ARGS]", [("now", {}), ("now", {})]),
        ('[TOOL_REQUEST]{"name":"bash","arguments":{"command":"ls"}}[END_TOOL_REQUEST]', [LS]),
        (f"[TOOL_REQUEST]\n{UNIT}\n[END_TOOL_RESULT]", [LS]),
        (f"[unused11][{UNIT}][unused12]", [LS]),
        (f"bash[ARGS]{TEXT_OBJECT}", [LS]),
        (f"functions.bash:0<|tool_call_argument_begin|>{TEXT_OBJECT}<|tool_call_end|>", [LS]),
        (f"bash<｜tool▁sep｜>{TEXT_OBJECT}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", [LS]),
        (
            f"<|tool▁calls▁begin|><|tool▁call▁begin|>bash<|tool▁sep|>{TEXT_OBJECT}<|tool▁call▁end|><|tool▁calls▁end|>",
            [LS],
        ),
        (
            f"<|tool_calls_begin|><|tool_call_begin|>bash<|tool_sep|>{TEXT_OBJECT}<|tool_call_end|><|tool_calls_end|>",
            [LS],
        ),
        (
            f"<|tool_calls_section_begin|><|tool_call_begin|>functions.bash!16<|tool_call_argument_begin|>{TEXT_OBJECT}<|tool_call_end|>",
            [LS],
        ),
        (f"commentary to=functions.bash json{TEXT_OBJECT}", [LS]),
        (
            f"<|start|> assistant to=functions.bash<|channel|> commentary <|constrain|>  json<|message|> {TEXT_OBJECT}<|call|>",
            [LS],
        ),
        (f"<tool_call>bash>{TEXT_OBJECT}", [LS]),
        (f"<tool_call>Shell/bash>{TEXT_OBJECT}</tool_call>", [LS]),
        (f"<tool_call>function\nbash\n{TEXT_OBJECT}</tool_call>", [LS]),
        ("<tool_call>bash<arg_key>command=ls</arg_value></tool_call>", [LS]),
        (
            "<tool_call>\n<function=bash>\n<parameter=command=ls</parameter>\n<parameter=timeout>\n3\n</parameter>\n</function>\n</tool_call>",
            [("bash", {"command": "ls", "timeout": 3})],
        ),
        (
            '<tool_call>\n<invoke name="bash">\n<command>ls</command>\n<timeout>3</timeout>\n</invoke>\n</tool_call>',
            [("bash", {"command": "ls", "timeout": 3})],
        ),
        ('call:bash{command:"ls"}', [LS]),
        ('call:bash{command:"ls"}\ncall:now{}', [LS, ("now", {})]),
        (f"<|im_start|>assistant -> tool/function_call\n[{UNIT}]<|im_end|>", [LS]),
        (f"Action:\n{UNIT}<end_action>", [LS]),
        ("<tool_call>\n<function=bash>\n<parameter=command>ls</parameter=command>\n</function>\n</tool_call>", [LS]),
        ("<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function=bash>\n</tool_call>", [LS]),
        ("<tool_call>\n<function = bash>\n<parameter = command>\nls\n</parameter>\n</function>\n</tool_call>", [LS]),
        (f"<function=bash{TEXT_OBJECT}</function>", [LS]),
        (f"<function=bash{TEXT_OBJECT}></function>", [LS]),
        (f"<function=bash>{TEXT_OBJECT}<function>", [LS]),
        (f"<function(bash){TEXT_OBJECT}</function>", [LS]),
        (f"<function/bash>{TEXT_OBJECT}</function>", [LS]),
        (f"<tool_call name=\"bash\" arguments='{TEXT_OBJECT}' />", [LS]),
        ('<invoke name="bash" command="ls" timeout="3"/>', [("bash", {"command": "ls", "timeout": 3})]),
        ('{"functionCall": {"name": "bash", "args": {"command": "ls"}}}', [LS]),
        ("<bash>\n<args>\n<command>ls</command>\n</args>\n</bash>", [LS]),
        (
            f"<|tool_calls_section_begin|>functions.bash:0<|tool_call_argument_begin|>{TEXT_OBJECT}<|tool_call_end|><|tool_calls_section_end|>",
            [LS],
        ),
        ('<tool_call>{"name": "Bash", "arguments": {"command": "ls"}}</tool_call>', [LS]),
    ],
)
def test_a_near_form_is_read(text, calls):
    """Issue 15, 4."""
    parsed = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == calls
    assert parsed.content == ""


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "bash", "arguments": {"command": "ls" prose',
        '[TOOL_CALLS]bash[ARGS]{"k" 1}',
        "<write_file><path>t</path><content>hi</contents></write_file>",
        "Text.\n<write_file><path>t</pat><content>hi</content></write_file> more text",
        "<|tool_call>call:bash{a",
        "<tool_call><function=bash>nonsense words</function></tool_call>",
        '<tool_call>{"name": "bash", "arguments": {"command": "ls"}, "x" oops',
        "[TOOL_CALLS]bash[ARGS]",
        '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command": "ls" oops',
        "<tool_call>glob pattern=**/*.md path=docs</tool_call>",
    ],
)
def test_the_text_of_a_call_that_breaks_is_the_content(text):
    """Issue 15, 5."""
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_what_stood_in_a_broken_call_never_runs():
    inner = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    for text in (
        f"<tool_call>\n<function=write_file>\n<parameter=path>\nt\n</parameter>\n<parameter=content>\n{inner}\n",
        f"<write_file><path>t</path><content>{inner} and",
        f"<tool_call>write_file<arg_key>content</arg_key><arg_value>{inner}",
    ):
        for reason in ("length", "stop"):
            parsed = read_every_way(text, TOOLS, reason)
            assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    "text",
    [
        "Hi <|end|> there",
        "a<|im_end|>",
        f"<tool_call>{UNIT}</tool_call></tool_call>",
        "Thought: x\n\nAction: bash\nAction Input: ls\nObservation: a.txt\nThought: done",
    ],
)
def test_whatever_is_left_out_is_named_by_a_repair(text):
    parsed = read_every_way(text, TOOLS)
    assert_accounted(text, parsed)
    named = "".join(mended.before for mended in parsed.repairs)
    for span in parsed.spans:
        if span.kind == "dropped":
            assert text[span.start : span.end].strip() in named, span


SEARCH = Tool("search", {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})


def test_react_as_it_was_first_written_names_the_only_argument_in_brackets():
    parsed = read_every_way("Thought: look it up.\nAction: search[the tallest tower in Seoul]", [*TOOLS, SEARCH])
    assert [(call.name, call.arguments) for call in parsed.calls] == [
        ("search", {"query": "the tallest tower in Seoul"})
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Action: bash[ls]",  # which of its two arguments?
        "Action: search[1] is explained below.",
        "call: Bob (he knows)",
        "I would say\ncall:bash{command:ls}\nis what Gemma writes.",
        "bash[ARGS] is how Mistral sets arguments apart.",
        "commentary to=functions.bash is a header of gpt-oss.",
        "The file has\n[unused11] in its vocabulary.",
        "<tool_call>bash> ls</tool_call>",
        "<tool_call>bash<arg_key>other=ls</arg_value></tool_call>",
        '<tool_call name="bash" arguments="ls" />',
        '<invoke name="bash" unknown="x"/>',
        '{"title": "Run it", "name": "bash", "parameters": {"type": "object"}}',
        '{"tool_calls": [{"name": "bash", "arguments": {"command": "ls"}}], "status": "ok"}',
        '{"name": "bash", "arguments": ["command", "timeout"]}',
        '{"answer": "It is cold.", "city": "Oslo"}',
        "<function(bash) is not how it is written.",
        "<function=bash{x",
        f"```json example\n{UNIT}\n```",
        "<|python_tag|>bash\n<arg_key>command</arg_key><arg_value>ls</arg_value>",  # what would end them?
        "<functiontool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value>",
    ],
)
def test_what_only_resembles_a_near_form_is_text(text):
    parsed = read_every_way(text, [*TOOLS, SEARCH])
    assert (parsed.calls, parsed.content) == ((), text)


def test_a_token_that_stayed_tells_a_call_from_a_name_after_text_too():
    parsed = read_every_way(f"I'll look.\nbash[ARGS]{TEXT_OBJECT}", TOOLS)
    assert ([(call.name, call.arguments) for call in parsed.calls], parsed.content) == ([LS], "I'll look.")


def test_names_that_differ_in_case_alone_stay_apart():
    both = [Tool("read", {}), Tool("Read", {})]
    parsed = read_every_way('<tool_call>{"name": "READ", "arguments": {}}</tool_call>', both)
    assert parsed.calls == ()


@pytest.mark.parametrize(
    "value",
    [
        "<parameter>\n  <hello></hello></parameter>\n",
        "<parameter>a</parameter><parameter>b</parameter>",
        "close it with <parameter> and go on",
        '<parameter name="x">y</parameter> <parameter>z</parameter>',
    ],
)
@pytest.mark.parametrize("form", ["minimax", "qwen"])
def test_a_value_that_holds_tags_without_a_name_comes_back_whole(form, value):
    if form == "minimax":
        text = f'<minimax:tool_call>\n<invoke name="write_file">\n<parameter name="path">t</parameter>\n<parameter name="content">{value}</parameter>\n</invoke>\n</minimax:tool_call>'
    else:
        text = f"<tool_call>\n<function=write_file>\n<parameter=path>\nt\n</parameter>\n<parameter=content>\n{value}\n</parameter>\n</function>\n</tool_call>"
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] == [{"path": "t", "content": value}]


@pytest.mark.parametrize("gap", ["\n", "\r\n", " \n "])
@pytest.mark.parametrize("place", [",{}content:b", ",content{}:b"])
def test_a_line_break_around_gemmas_next_key_is_read_the_same_in_any_pieces(gap, place):
    """Found by `bench/dialects.py`: in pieces the key was taken for text before its colon had come."""
    text = f"<|tool_call>call:write_file{{path:true{place.format(gap)}}}<tool_call|>"
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] in ([{"path": "true", "content": "b"}], [])


@pytest.mark.parametrize("text", FORMS["read"])
def test_a_call_of_one_tool_is_read_however_it_is_written(text):
    """Issue 15, 4: tags, labels, keys, quotes, braces and names as no template has them; all of them list a folder."""
    parsed = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [LS]


CALLED = {
    "weather": ("get_weather", {"city": "Oslo", "days": 3}),
    "timeout": ("bash", {"command": "ls", "timeout": 5}),
}


@pytest.mark.parametrize(("call", "text"), [(call, text) for call in CALLED for text in FORMS[call]])
def test_a_call_with_two_arguments_is_read_however_it_is_written(call, text):
    """Issue 15, 4: a name that was offered and arguments that fit its schema, in whatever stands around them.

    59 of the 70 of `timeout` were read when they were first tried, 34 of them before the rules for the others came.
    """
    parsed = read_every_way(text, [*TOOLS, SEARCH, WEATHER])
    assert [(called.name, called.arguments) for called in parsed.calls] == [CALLED[call]]


@pytest.mark.parametrize("text", FORMS["text"])
def test_what_may_be_something_else_or_is_cut_is_text(text):
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (r"{\"name\": \"bash\", \"arguments\": {\"command\": \"echo \\\"a\\\"\"}}", {"command": 'echo "a"'}),
        ('<bash command="ls" timeout="3" />', {"command": "ls", "timeout": 3}),
        ('I look.\n\n<bash command="a &amp; b"></bash>', {"command": "a & b"}),
        ('Tool: bash\nInput: {"command": "ls", "timeout": 3}', {"command": "ls", "timeout": 3}),
        ('x = await bash(command="ls", timeout=3)', {"command": "ls", "timeout": 3}),
    ],
)
def test_arguments_of_near_forms_are_read_as_they_are_meant(text, arguments):
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] == [arguments]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n<function=bash\n{"ai>\n<parameter=command>x": "a", "b"c", "d": true}\n</function>\n</tool_call>',
        "<tool_call><function=bash {ai>\n<parameter=command>x</parameter></function></tool_call>",
        '<function=bash {"command": "ls"}></function>',
        '{"name":"bash","arguments":{"arguments":{"command":"ls","timeout":5}}}',
        '{"type": "fun,ction", "name": "bash", "parameters": {"command": "ls", "timeout": 1}}',
        '<bash args=\'{"command":"ls","til><now city="Oslo" days="3"/></tool_call>meout":5}\'/>',
        '<function_call>\n{"name": "bash", "arguments": {"commandarguments": {"command": "ls"}}\n</function_call>',
        "print(await bash(command='ls'))",
        '{"name": "bash", /*: "bash", /* x */ "arguments": {"command": "ls"}}',
        'bash:**{"command": "ls"}',
        '_functions.bash:0{"command": "ls"}',
        'I list it.\nmulti_tool_use.bash[ARGS]{"command": "ls"}',
    ],
)
def test_what_is_near_a_form_is_read_the_same_however_the_text_is_cut(text):
    _, whole = stream([text], TOOLS)
    assert stream(list(text), TOOLS)[1] == whole
    for cut in range(1, len(text)):
        assert stream([text[:cut], text[cut:]], TOOLS)[1] == whole, cut


@pytest.mark.parametrize(
    "text", FORMS["read"][:-16:5] + FORMS["read"][-16:] + FORMS["text"][:-8:5] + FORMS["text"][-8:]
)
def test_a_near_form_is_read_the_same_cut_at_any_place(text):
    _, whole = stream([text], TOOLS)
    for cut in range(1, len(text)):
        assert stream([text[:cut], text[cut:]], TOOLS)[1] == whole, cut


@pytest.mark.parametrize(
    "text",
    [
        "<function=bash></function><parameter=command>ls</parameter></function>",
        '<invoke name="bash"></invoke>\n<parameter name="command">ls</parameter></invoke>',
    ],
    ids=["qwen", "invoke"],
)
def test_issue_15_6_an_argument_after_its_calls_closing_tag_is_read_cut_at_any_place(text):
    """The call ran without its argument where a delta ended in that argument's tag."""
    for cut in range(1, len(text)):
        (call,) = stream([text[:cut], text[cut:]], TOOLS)[1].calls
        assert (call.name, call.arguments) == LS, cut


@pytest.mark.parametrize("prefix", ["call:", "", "call:default_api:", "declaration:default_api:", "_call:"])
def test_words_before_gemmas_name_are_no_part_of_it(prefix):
    parsed = read_every_way(f'<|tool_call>{prefix}bash{{command:<|"|>ls<|"|>}}<tool_call|>', TOOLS)
    assert ([(call.name, call.arguments) for call in parsed.calls], parsed.repairs) == ([LS], ())


def test_a_colon_in_a_tools_own_name_is_a_part_of_it():
    """`github:search` was taken for a tool `search`, which nobody offers."""
    search = Tool("github:search", {"type": "object", "properties": {"q": {"type": "string"}}})
    parsed = read_every_way('<|tool_call>call:github:search{q:<|"|>x<|"|>}<tool_call|>', [search])
    assert [(call.name, call.arguments) for call in parsed.calls] == [("github:search", {"q": "x"})]


@pytest.mark.parametrize(
    "thought", ["Thought: Do I need a tool? Yes", "Thought: Do I need a tool?", "**Thought:** I list"]
)
def test_the_thought_before_a_react_action_is_no_sentence_that_shows_it(thought):
    """LangChain's conversational agent asks for these lines; without a full stop the call was taken for a shown one."""
    parsed = read_every_way(f"{thought}\nAction: bash\nAction Input: {TEXT_OBJECT}", TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [LS]


@pytest.mark.parametrize("before", ["You could call it like this:", "First, let's list the files.", "1. The listing:"])
def test_code_that_assigns_a_result_is_an_example_after_words(before):
    """Models with calls of their own explain calls so: of 34 recorded replies none meant one."""
    text = f'{before}\n\n```python\nx = bash(command="ls")\n```'
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_an_argument_s_name_that_begins_with_an_escaped_underscore_is_read():
    tool = Tool("fly", {"type": "object", "properties": {"_from": {"type": "string"}, "to": {"type": "string"}}})
    for text in (r"[fly(\_from='Seoul', to='Oslo')]", r"[fly(to='Oslo', \_from='Seoul')]"):
        (call,) = read_every_way(text, [tool]).calls
        assert call.arguments == {"_from": "Seoul", "to": "Oslo"}


@pytest.mark.parametrize("unit", [f"[{UNIT}]", f"[[{UNIT}]]", f"```json\n[{UNIT}]\n```", f"{UNIT},"])
def test_prose_after_calls_without_a_closing_tag_is_the_content_alone(unit):
    prose = "I'll tell you once I have the result."
    parsed = read_every_way(f"<|tool_call|>{unit}\n\n{prose}", TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [LS]
    assert parsed.content == prose


@pytest.mark.parametrize(
    "before", ["", "\n", "\n\n", " \n", "\r\n"], ids=["nothing", "line", "two lines", "blank", "crlf"]
)
def test_issue_15_6_a_call_as_a_json_string_is_read_after_blank_lines_too(before):
    text = before + json.dumps('{"name": "bash", "arguments": {"command": "ls"}}')
    assert [one.arguments for one in read_every_way(text, TOOLS).calls] == [{"command": "ls"}]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (f"```tool_callAction: bash\n{TEXT_OBJECT}\n```", [LS]),
        (f"```json : bash\n{TEXT_OBJECT}\n```", [LS]),
        (f"Action: bash\nAction Parameters: {TEXT_OBJECT}", [LS]),
        (f"Action: bash\n- **Action Parameters 1** : {TEXT_OBJECT}", [LS]),
        (f"ba{'_' * 40}sh(command='ls')", []),
        ("ba_s_h(command='ls')", [LS]),
        (f"to=functions.bash{' ' * 200}{TEXT_OBJECT}", []),
        (f"commentary to=bash {' ' * 100}json{TEXT_OBJECT}", [LS]),
        (f"```python\nx = {' ' * 200}bash(command='ls')\n```", []),
        (f"```python\nx = {' ' * 100}bash(command='ls')\n```", [LS]),
    ],
    ids=[
        "glued label", "colon and label", "parameters", "numbered parameters", "many marks", "few marks",
        "far object", "near object", "far call", "near call",
    ],
)  # fmt: skip
def test_issue_15_6_what_is_waited_for_reaches_as_far_as_what_is_read(text, calls):
    """A label, a name or a gap longer than the wait for it was no call in pieces, and one in the whole text."""
    assert [(call.name, call.arguments) for call in read_every_way(text, TOOLS).calls] == calls


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize(
    ("text", "calls"),
    [("<function nl>\n{", 0), ("<function bash>\n{", 0), ('<function bash>\n{"command": "ls"}</function>', 1)],
)
def test_issue_15_6_a_brace_after_a_tag_and_a_line_is_read_in_pieces_as_whole(text, calls, finish):
    assert len(read_every_way(text, TOOLS, finish).calls) == calls
