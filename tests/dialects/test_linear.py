"""However long a run of one thing is, in whatever the reader is at: little of it waits, so that work stays linear."""

# ruff: noqa: E501 - a table of texts

import time

import pytest

from naru.dialects import StreamParser, Tool, parse
from tests.dialects.reading import pieces, read_every_way, stream

PING = Tool(
    "ping",
    {
        "type": "object",
        "properties": {"host": {"type": "string"}, "count": {"type": "integer"}, "opts": {"type": "object"}},
    },
)
LONGEST_WAIT = 4_800
"""Characters: the longest text that waits for its meaning, and a tag."""
STATES = {
    "start": "",
    "line": "Hello",
    "new line": "Hello\n",
    "colon": "Call:",
    "thought": "<think>",
    "hermes": "<tool_call>",
    "object": "<tool_call>{",
    "after a name": '<tool_call>{"name": "ping", ',
    "text": '<tool_call>{"name": "ping", "arguments": {"host": "a',
    "after a text": '<tool_call>{"name": "ping", "arguments": {"host": "a"',
    "number": '<tool_call>{"name": "ping", "arguments": {"count": 1',
    "xml value": "<tool_call><function=ping><parameter=host>",
    "xml head": "<tool_call><function=ping>",
    "xml tag": "<tool_call><function=ping><parameter=",
    "xml call": "<tool_call><function=ping><parameter=host>a</parameter></function></tool_call>",
    "glm": "<tool_call>ping",
    "glm key": "<tool_call>ping<arg_key>",
    "glm value": "<tool_call>ping<arg_key>host</arg_key><arg_value>",
    "mistral": "[TOOL_CALLS]",
    "mistral arguments": "[TOOL_CALLS]ping[ARGS]",
    "kimi": "<|tool_calls_section_begin|>",
    "gemma": "<|tool_call>call:ping{",
    "gemma value": '<|tool_call>call:ping{host:<|"|>',
    "harmony": "<|channel|>",
    "harmony message": "<|channel|>commentary to=functions.ping<|message|>",
    "fence": "```json\n",
    "code": "```\n",
    "bare": '{"name": "ping", "arguments": {',
    "name": "ping\n",
    "list": "[ping(",
    "action": "Action: ping",
    "action input": "Action: ping\nAction Input:",
    "cline": "<ping>",
    "cline value": "<ping><host>",
    "after a call": '<tool_call>{"name": "ping", "arguments": {}}</tool_call>',
    "inline code": "a `",
    "comment": "<!-- ",
}
RUNS = (
    " ", "\n", "\t", "\ufeff", "\r", '"', "'", "\\", "<", ">", "[", "]", "{", "}", "(", ")", "`", "~", ",", ":", "a", "p",
    "_", "한", "/", "*", "-", "0", "=", ".", "“", "</parameter>", "<tool_call>", "</tool_call>", "</arg_value>", "</function>",
    "<parameter=host>", "<arg_key>", "</think>", '"a":', ", ", '" ', "\\u0041", "</parameter></function></tool_call> x ",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_little_of_a_long_run_waits(state):
    """Issue 15, 6: what waits is looked at again with each piece, so a run that waits whole costs its square."""
    for run in RUNS:
        parser = StreamParser([PING])
        text = STATES[state] + run * (9_000 // len(run))
        for delta in pieces(text, 64):
            parser.feed(delta)
            assert parser.undecided <= LONGEST_WAIT, run


@pytest.mark.parametrize("run", [" ", "\ufeff", "\t", "`", "\n ", "~"])
@pytest.mark.parametrize("before", ["", "Hello\n", "ping\n"])
def test_blanks_at_the_start_of_a_line_are_read_alike_whole_and_in_pieces(before, run):
    read_every_way(before + run * 90 + '{"name": "ping", "arguments": {}}', [PING])


@pytest.mark.parametrize(
    "text",
    ['<tool_call>["a","b', '<tools>["id", "name", "', '[["a","', '<tool_call>["a","b"', "[['ping(host=1)', 'x"],
)  # fmt: skip
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_lists_of_texts_are_read_alike_whole_and_in_pieces(text, reason):
    parsed = read_every_way(text, [PING], reason)
    assert (parsed.content, parsed.calls) == (text, ())


@pytest.mark.parametrize(
    "arguments",
    [
        '{"host": "a", "host": "b"}',
        '{"count": 1, "count": 2}',
        '{"opts": {"a": 1, "a": 2}}',
        '{"opts": {}, "opts": {"a": 1}}',
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        '<tool_call>{{"name": "ping", "arguments": {}}}</tool_call>', "[TOOL_CALLS]ping[ARGS]{}",
        '{{"name": "ping", "arguments": {}}}', '[{{"name": "ping", "parameters": {}}}]', "<function=ping>{}</function>",
    ],
)  # fmt: skip
def test_doubled_keys_are_reported_alike_whole_and_in_pieces(form, arguments):
    parsed = read_every_way(form.format(arguments), [PING])
    assert len(parsed.calls) == 1
    assert parsed.calls[0].arguments in ({"host": "a"}, {"count": 1}, {"opts": {"a": 1}}, {"opts": {}})


def test_a_call_cut_by_length_is_text_and_never_one_without_arguments():
    """Issue 15, 7: in every dialect, wherever it is cut."""
    ask = Tool("get_now", {"type": "object", "properties": {}})
    for text in (
        "<tool_call>get_now", "[TOOL_CALLS]get_now[ARGS]", "[TOOL_CALLS]get_now", "<tool_call><function=get_now>",
        '<tool_call>{"name": "get_now"', "<|tool_call>call:get_now{", "<|tool_call>call:get_now", "[get_now(", "[get_now()",
        "Action: get_now", "Action: get_now\nAction Input:", "<get_now>", "get_now(", '<invoke name="get_now">',
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_now:0<|tool_call_argument_begin|>",
    ):  # fmt: skip
        parsed = read_every_way(text, [ask], "length")
        assert (parsed.content, parsed.calls) == (text, ()), text


def test_tools_are_taken_as_the_dictionaries_of_a_chat_request():
    """Issue 15, 8."""
    tools = [{"type": "function", "function": {"name": "ping", "parameters": PING.parameters}}]
    text = '<tool_call>{"name": "ping", "arguments": {"count": "3"}}</tool_call>'
    assert parse(text, tools) == parse(text, [PING])
    parser = StreamParser(tools, keep=True)
    parser.feed(text)
    parser.close()
    assert [call.arguments for call in parser.parsed().calls] == [{"count": 3}]


M3 = "]<]minimax[>["


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("print(" * 2_000, False),
        ("[" + "print(" * 2_000, False),
        ('{"name": "ping", "arguments": {}}' + "</tool_call>" * 2_000, True),
        ("<function=ping>" + "<parameters>" * 2_000, False),
        (f'{M3}<tool_call>{M3}<invoke name="ping">{M3}<opts>' + f"{M3}<a>" * 1_500 + f"{M3}</a>" * 1_500
         + f"{M3}</opts>{M3}</invoke>{M3}</tool_call>", True),
        ('<tool_call>{"name": "ping", "arguments": {"opts": ' + '{"a": ' * 200 + "1" + "}" * 200 + "}}</tool_call>", True),
        ('<tool_call>{"name": "ping", "arguments": {"opts": ' + '{"a": ' * 201 + "1" + "}" * 201 + "}}</tool_call>", False),
        ('{"name": "ping", "arguments": {"opts": ' + '{"a": ' * 900 + "1" + "}" * 900 + "}}", False),
    ],
    ids=["print", "print in a list", "closers", "elements", "nested value", "200 deep", "deeper", "far deeper"],
)  # fmt: skip
def test_what_is_nested_or_repeated_without_end_is_read(text, some):
    """A small model that repeats itself is no reason to raise RecursionError."""
    _, whole = stream([text], [PING])
    assert stream(pieces(text, 1_009), [PING])[1] == whole
    assert bool(whole.calls) is some
    assert some or whole.content == text


@pytest.mark.parametrize("run", [" ", "a ", "\n"])
@pytest.mark.parametrize(
    "head", ["<function=", '<invoke name=', "<tool_call><function=ping><parameter=", "<tool_call><name>"]
)  # fmt: skip
def test_a_run_of_blanks_in_a_tag_costs_no_more_than_its_length(head, run):
    """A thousand blanks took seconds, four thousand minutes: each could belong to three parts of the tag."""
    begun = time.process_time()
    text = head + run * 2_000
    assert parse(text, [PING]).content.rstrip() == text.rstrip()
    read_every_way(text[:600], [PING])
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    "tag", ['"ping"', "'ping'", " ping", "ping ", "ping id='1'", '"ping" id="1"', "ping\n", " 'ping' "]
)
def test_a_name_in_a_tag_is_read_with_quotes_and_without(tag):
    for text in (
        f"<function={tag}><parameter=host>a</parameter></function>",
        f"<invoke name={tag}><parameter name=host>a</parameter></invoke>",
    ):
        assert [call.arguments for call in read_every_way(text, [PING]).calls] == [{"host": "a"}]
    text = f"<function=ping><parameter={tag.replace('ping', 'host')}>a</parameter></function>"
    assert [call.arguments for call in read_every_way(text, [PING]).calls] == [{"host": "a"}]
