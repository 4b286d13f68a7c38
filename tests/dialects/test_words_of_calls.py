"""Tags, labels, keys and fences are known by the words that they are made of, and slips of any of them are mended."""

# ruff: noqa: E501 - a table of texts

import pytest

from naru.dialects import Tool
from naru.dialects.calls.keys import is_around_calls, may_say_call, role_of, says_call
from tests.dialects.reading import read_every_way, stream


def tool(name, **types):
    return Tool(name, {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}})


QUERY = Tool(
    "query_db",
    {
        "type": "object",
        "properties": {"sql": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["sql"],
    },
)
TOOLS = [QUERY, tool("list_rooms"), tool("apply_patch", file="string", patch="string")]
SELECT = ("query_db", {"sql": "SELECT 1"})
LIMITED = ("query_db", {"sql": "SELECT 1", "limit": 2})
ROOMS = ("list_rooms", {})
OBJECT = '{"sql": "SELECT 1"}'
UNIT = f'{{"name": "query_db", "arguments": {OBJECT}}}'


@pytest.mark.parametrize("word", ["tool_call", "ToolRequest", "function-name", "next action", "use_tool", "invoke"])
def test_a_word_made_of_words_for_tools_and_for_calling_them_says_that_a_call_follows(word):
    assert says_call(word)
    assert all(may_say_call(word[:size]) for size in range(len(word)))


@pytest.mark.parametrize("word", ["", "name", "use", "command", "note", "tooling", "calls for action now please"])
def test_a_word_that_is_made_of_others_or_of_acts_alone_does_not(word):
    assert not says_call(word)


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("toolOutput", "outcome"),
        ("exit_code", "outcome"),
        ("elapsed_ms", "outcome"),
        ("action_request", "name"),
        ("functionName", "name"),
        ("request_parameters", "arguments"),
        ("tools", ""),
        ("title", ""),
    ],
)
def test_a_key_has_the_role_that_its_words_give_it(key, role):
    assert role_of(key) == role


def test_lists_of_definitions_stand_under_keys_of_their_own():
    assert is_around_calls("tool_uses")
    assert not is_around_calls("tools")
    assert not is_around_calls("functions")


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<execute_tool name="query_db">\n<parameter name="sql">SELECT 1</parameter>\n</execute_tool>', [SELECT]),
        (f'<action name="query_db">{OBJECT}</action>', [SELECT]),
        (f"<use_tool>{UNIT}</use_tool>", [SELECT]),
        (f"<api-request>query_db {OBJECT}</api-request>", [SELECT]),
        ("<ToolCall>list_rooms()</ToolCall>", [ROOMS]),
        (f"Tool request: query_db\nInput: {OBJECT}", [SELECT]),
        (f"**Function use:** query_db\nArguments: {OBJECT}", [SELECT]),
        ("Call action: list_rooms()", [ROOMS]),
        (f"```execute_tool\n{UNIT}\n```", [SELECT]),
        (f'{{"next_tool_request": {UNIT}}}', [SELECT]),
        (f"<tool_call>\nfunction_name: query_db\narguments: {OBJECT}\n</tool_call>", [SELECT]),
        (f"[Calling tool: query_db with arguments: {OBJECT}]", [SELECT]),
        (f"<tool_call>query_db\nparameters: {OBJECT}</tool_call>", [SELECT]),
        (f"<tool_call>\n<function>query_db</function>\n{OBJECT}\n</tool_call>", [SELECT]),
        ("<function_calls>\n<tool_code>query_db(sql='SELECT 1')</tool_code>\n</function_calls>", [SELECT]),
        ("<tool_call>query_dbsql</arg_key><arg_value>SELECT 1</arg_value></tool_call>", [SELECT]),
        ("function=query_db><parameter=sql>SELECT 1</parameter></function>", [SELECT]),
        ('=query_db">\n<parameter=sql>SELECT 1</parameter>\n<parameter=limit>2</parameter>\n</function>', [LIMITED]),
        ("=list_rooms></function>", [ROOMS]),
        (f"query_db[ARGS]{OBJECT}[TOOL_CALLS]list_rooms[ARGS]{{}}", [SELECT, ROOMS]),
        (f"{UNIT}<tool_call>{UNIT}</tool_call>", [SELECT, SELECT]),
        ('declaration:default_api:query_db{sql:"SELECT 1"}', [SELECT]),
        ("call:default_api:query_db{sql:SELECT 1}", [SELECT]),
        ("_call:query_db{sql:SELECT 1}", [SELECT]),
        (f"call_tool('query_db', {OBJECT})", [SELECT]),
        ("[invoke(tool='query_db', sql='SELECT 1', limit=2)]", [LIMITED]),
        ("use_function(name='list_rooms', arguments={})", [ROOMS]),
        (f"CallTool('query_db', {OBJECT})", [SELECT]),
        (f"Code_tool('query_db', {OBJECT})", [SELECT]),
        ("function = query_db(sql='SELECT 1')", [SELECT]),
        (
            "```tool\nTOOL_NAME: query_db\nBEGIN_ARG: sql\nSELECT 1\nEND_ARG\nBEGIN_ARG: limit\n2\nEND_ARG\n```",
            [LIMITED],
        ),
        ("TOOL_NAME: query_db\nBEGIN_ARG: sql\nSELECT 1\nEND_ARG\n", [SELECT]),
        ("TOOL_NAME: query_db\r\nBEGIN_ARG: sql\r\nSELECT 1\r\nEND_ARG\r\n", [SELECT]),
        ("```tool\nTOOL_NAME: list_rooms\n```", [ROOMS]),
        (
            '<|open|>toolscall tool="query_db" index="1"<|sep|>\n<|open|>argument key="sql" type="string"<|sep|>SELECT 1'
            "<|close|>argument<|sep|>\n<|close|>call<|sep|>\n<|close|>toolsmessage<|sep|>",
            [SELECT],
        ),
        (
            '<minimax:tool_call>\n<invoke name="query_db">\n<parameter name="sql">SELECT 1</parameter>\n</minimax:tool_call>',
            [SELECT],
        ),
        (
            '<function_calls>\n<invoke name="query_db">\n<parameter name="sql">SELECT 1</parameter>\n<parameter name="limit">2</parameter>\n</function_calls>',
            [LIMITED],
        ),
    ],
)
def test_a_call_is_read_by_the_words_around_it(text, calls):
    """Issue 15, 3 and 4; cut at any place as well."""
    parsed = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == calls
    assert parsed.content == ""
    for cut in range(1, len(text)):
        assert stream([text[:cut], text[cut:]], TOOLS)[1] == parsed, cut


@pytest.mark.parametrize(
    "text",
    [
        f'<section name="query_db">{OBJECT}</section>',
        "The function = query_db is named there.",
        "function = query_db",
        "=query_db is a formula.",
        "note:query_db is a table",
        f"Title: query_db\nInput: {OBJECT}",
        f'{{"tool": "query_db", "arguments": {OBJECT}, "exitCode": 0}}',
        f'{{"tools": [{UNIT}]}}',
        "<call to action> of the page",
        "call_tool('query_db')",
        "call_tool('query_db', {'other': 1})",
        f"Invoke('query_db', {OBJECT})",
        f"_call_tool('query_db', {OBJECT})",
        "TOOL_NAME: query_db is a line\nBEGIN_ARG: sql\nSELECT 1\nEND_ARG",
        "TOOL_NAME: query_db\nBEGIN_ARG: sql\nSELECT 1\nEND_ARG\nand the block is over.",
    ],
)
def test_what_other_words_stand_around_is_text(text):
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    ("before", "after", "closers"),
    [
        ("<tool_call>apply_patch<arg_key>file</arg_key><arg_value>a</arg_value><arg_key>patch</arg_key><arg_value>", "</arg_value></tool_call>", ("</arg_value>", "</tool_call>", "</arg_key>", "</arg_value></tool_call>")),
        ("<tool_call>\n<function=apply_patch>\n<parameter=file>\na\n</parameter>\n<parameter=patch>\n", "\n</parameter>\n</function>\n</tool_call>", ("</parameter>", "</function>", "</parameter>\n</function>")),
        ('<minimax:tool_call><invoke name="apply_patch"><parameter name="file">a</parameter><parameter name="patch">', "</parameter></invoke></minimax:tool_call>", ("</parameter>", "</invoke>", "</minimax:tool_call>")),
        ('<｜DSML｜function_calls><｜DSML｜invoke name="apply_patch"><｜DSML｜parameter name="file" string="true">a</｜DSML｜parameter><｜DSML｜parameter name="patch" string="true">', "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>", ("</｜DSML｜parameter>", "</｜DSML｜invoke>")),
        ("<apply_patch><file>a</file><patch>", "</patch></apply_patch>", ("</patch>", "</apply_patch>", "</file>")),
    ],
    ids=["glm", "qwen", "minimax", "dsml", "cline"],
)  # fmt: skip
def test_a_value_that_is_nothing_but_closing_tags_comes_back(before, after, closers):
    """Issue 15, 2: an empty value is not closed twice."""
    for closer in closers:
        parsed = read_every_way(f"{before}{closer}{after}", TOOLS)
        assert [call.arguments for call in parsed.calls] == [{"file": "a", "patch": closer}]


def test_a_special_token_that_lacks_but_its_bracket_at_the_end_is_left_out_and_named():
    """So DeepSeek's answers end where an engine took the call out of them."""
    parsed = read_every_way("I look.\n\n<｜DSML｜function_calls", TOOLS)
    assert (parsed.content, parsed.calls) == ("I look.", ())
    assert [mended.before for mended in parsed.repairs] == ["<｜DSML｜function_calls"]
    for text in (
        "A tag is written <tool_call", "It is closed by </tool_call", "`<|tool_call`", "Less is <",
        "Read `a` <｜DSML｜func",
    ):  # fmt: skip
        assert read_every_way(text, TOOLS).content == text


@pytest.mark.parametrize(
    "labels", [("Wrong:\n\n", "Right:\n\n"), ("틀림:\n\n", "맞음:\n\n"), ("Muster A\n", "Muster B\n")]
)
@pytest.mark.parametrize(
    "head", ["Tool request: {}\nInput: {}", "Tool: {}\nInput: {}", "TOOL_NAME: {}\nBEGIN_ARG: sql\n{}\nEND_ARG"]
)
def test_labelled_calls_under_labels_of_their_own_are_both_shown(labels, head):
    """Issue 15, 1: the first was none, for what follows it, so that the second looked like a call that ends its reply."""
    text = "\n\n".join(label + head.format("query_db", f'{{"sql": "{number}"}}') for number, label in enumerate(labels))
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    "unit", ["[query_db(sql='{}')]", "query_db(sql='{}')", '{{"name": "query_db", "arguments": {{"sql": "{}"}}}}']
)
def test_one_label_may_stand_over_several_calls(unit):
    """A recorded reply of four lists under "Tool Calls:" had no call; what else follows makes them none."""
    text = f"Tool Calls:\n\n{unit.format('a')}\n{unit.format('b')}"
    assert [call.arguments for call in read_every_way(text, TOOLS).calls] == [{"sql": "a"}, {"sql": "b"}]
    assert not read_every_way(f"{text}\nΞ κείμενο ξ.", TOOLS).calls


def test_blocks_one_after_the_other_are_calls_of_their_own():
    block = "TOOL_NAME: query_db\nBEGIN_ARG: sql\nSELECT 1\nEND_ARG"
    parsed = read_every_way(f"{block}\n{block}\n\nTOOL_NAME: apply_patch\nBEGIN_ARG: file\na\nEND_ARG\n", TOOLS)
    assert [call.name for call in parsed.calls] == ["query_db", "query_db", "apply_patch"]


def test_a_value_between_lines_holds_the_line_that_ends_it_where_text_follows():
    value = "first\nEND_ARG\nsecond\n\nEND_ARG is no end"
    text = f"```tool\nTOOL_NAME: apply_patch\nBEGIN_ARG: patch\n{value}\nEND_ARG\nBEGIN_ARG: file\n\nEND_ARG\n```"
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"patch": value, "file": ""}]
