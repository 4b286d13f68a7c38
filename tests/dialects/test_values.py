"""Values between tags: whatever stands in one comes back as it was, and slips of tags are mended or refused."""

# ruff: noqa: E501 - calls are easier to read in one line

import json
import random

import pytest

from naru.dialects import StreamParser, Tool, parse
from tests.dialects.reading import pieces, read_every_way

WRITE = Tool(
    "write_file",
    {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path"]},
)
BASH = Tool(
    "bash", {"type": "object", "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}}}
)  # fmt: skip
PLAN = Tool(
    "plan",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "stops": {"type": "array", "items": {"type": "string"}},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            "opts": {"type": "object"},
        },
    },
)
TOOLS = [WRITE, BASH, PLAN]

FORMS = {
    "glm": "<tool_call>write_file<arg_key>path</arg_key><arg_value>t</arg_value><arg_key>content</arg_key>"
    "<arg_value>{}</arg_value></tool_call>",
    "qwen": "<tool_call>\n<function=write_file>\n<parameter=path>\nt\n</parameter>\n<parameter=content>\n{}\n</parameter>"
    "\n</function>\n</tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="write_file">\n<parameter name="path">t</parameter>\n'
    '<parameter name="content">{}</parameter>\n</invoke>\n</minimax:tool_call>',
    "dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="write_file">\n<｜DSML｜parameter name="path" string="true">t'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="content" string="true">{}</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "seed": "<seed:tool_call><function=write_file><parameter=path>t</parameter><parameter=content>{}</parameter>"
    "</function></seed:tool_call>",
    "cline": "<write_file>\n<path>t</path>\n<content>{}</content>\n</write_file>",
    "invoke": '<function_calls><invoke name="write_file"><parameter name="path">t</parameter><parameter name="content">{}'
    "</parameter></invoke></function_calls>",
}
BITS = (
    "text", "a line\n", '```json\n{"a": 1}\n```', "<b>bold</b>", "<tool_call>", "[TOOL_CALLS]f[ARGS]{}", "<think>x</think>",
    '{"name": "bash", "arguments": {}}', "Action: bash\nAction Input: ls", "\n", '"quoted"', "<|tool_call>", "<!-- c -->",
    "&lt;", "</div>", "x < y > z", "<parameter>", "<arg_key>", "[bash(command=1)]", "<![CDATA[x]]>",
)  # fmt: skip
CLOSERS = (
    "</arg_value>", "</tool_call>", "</arg_value></tool_call>", "</parameter>", "</function>", "</invoke>", "</content>",
    "</parameter>\n</function>\n</tool_call>", "</parameter></invoke></minimax:tool_call>", "</｜DSML｜parameter>",
    "</｜DSML｜invoke>", "</seed:tool_call>", "</write_file>", "</function_calls>", "</param>", "</Parameter>",
)  # fmt: skip
"""Closing tags that nothing opens; text follows each, since one before a call could as well have been meant."""


def values(seed: int, count: int):
    rng = random.Random(seed)
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 5)):
            kind = rng.random()
            if kind < 0.5:
                parts.append(rng.choice(BITS))
            elif kind < 0.7:
                parts.append(rng.choice(CLOSERS) + " then")
            else:
                parts.append(FORMS[rng.choice(list(FORMS))].format(rng.choice(["q", "line\n", "<b></b>"])))
        yield "x" + " ".join(parts) + "y"


def assert_comes_back(form: str, value: str) -> None:
    text = FORMS[form].format(value)
    whole = parse(text, TOOLS)
    assert [call.arguments for call in whole.calls] == [{"path": "t", "content": value}], text
    for size in (1, 5):
        parser = StreamParser(TOOLS, keep=True)
        for delta in pieces(text, size):
            parser.feed(delta)
        parser.close()
        assert parser.parsed() == whole, text


@pytest.mark.parametrize("form", FORMS)
def test_a_value_comes_back_as_it_was(form):
    """Issue 15, 2: closers, markers, fences, calls of this form and of others."""
    for value in values(15, 40):
        assert_comes_back(form, value)


@pytest.mark.parametrize("form", FORMS)
def test_a_value_comes_back_though_an_argument_is_missing_that_it_could_hold(form):
    """Closing tags that a text speaks of are no end after which an argument was lost."""
    tool = Tool("write_file", {**WRITE.parameters, "properties": {**WRITE.properties, "mode": {"type": "string"}}})
    for value in values(77, 60):
        calls = parse(FORMS[form].format(value), [tool]).calls
        assert [call.arguments for call in calls] == [{"path": "t", "content": value}], value


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_300_values_come_back_as_they_were(form):
    for value in values(2, 300):
        assert_comes_back(form, value)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("inner", FORMS)
def test_a_value_that_documents_a_call_is_counted_by_depth(form, inner):
    assert_comes_back(form, f"Write {FORMS[inner].format('q')} or {FORMS[inner].format('a<b>')} as you like.")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("<![CDATA[a & b]]>", "a & b"),
        ("\n  <![CDATA[\na </parameter>\n]]>\n", "\na </parameter>\n"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ("<![CDATA[]]>", ""),
        ("<![CDATA[y]]>z", "<![CDATA[y]]>z"),
        ("<![CDATA[y]]>\n<b>z</b>", "<![CDATA[y]]>\n<b>z</b>"),
        ("z<![CDATA[y]]>", "z<![CDATA[y]]>"),
        ("<![CDAT[y", "<![CDAT[y"),
    ],
)
def test_a_value_is_what_its_cdata_says_only_where_it_is_nothing_else(form, written, value):
    """Issue 15, 2."""
    parsed = read_every_way(FORMS[form].format(written), TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"path": "t", "content": value}]


def test_a_foreign_closer_does_not_cut_a_value():
    assert_comes_back("glm", "a</function><b>")
    assert_comes_back("glm", "</arg_value> closes what <arg_value> opens")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tag", ['<param name="x">', "<arg=x>"])
def test_an_opening_tag_of_another_kind_is_not_counted_in_a_value(form, tag):
    """The value's own closing tag was taken for that of `<param>`: text, or the next argument was part of this one."""
    assert_comes_back(form, f"a {tag} is never closed")
    assert_comes_back(form, tag)


def test_an_opening_tag_of_another_kind_does_not_swallow_the_next_argument():
    text = '<invoke name="write_file"><parameter name="content">{}</parameter><parameter name="path">t</parameter></invoke>'
    short = '<function name="write_file"><param name="content">{}</param><param name="path">t</param></function>'
    for form, tag in (
        (text, '<param name="x"></tool_call>'),
        (short, "<parameter=b>"),
        (short, '<parameter name="b">'),
    ):
        parsed = read_every_way(form.format(tag), TOOLS)
        assert [call.arguments for call in parsed.calls] == [{"content": tag, "path": "t"}]


MENDED = [
    "<tool_call>bash<arg_key>command</arg_key></arg_key><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key><arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value></arg_value></tool_call>",
    "<tool_call>bash<arg_key>command<arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_key></tool_call>",
    "<tool_call>bash<arg_key>command</arg_value><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash</arg_value><arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash\ncommand</arg_key><arg_value>ls</arg_value></tool_call>",
    "<tool_call><function=bash><parameter=command>ls</param></function></tool_call>",
    "<tool_call><function=bash><parameter=command>ls</Parameter></function></tool_call>",
    "<tool_call><function=bash><parameter=command>ls</command></function></tool_call>",
    "<tool_call><function=bash><parameter=command>ls</parameter></parameter></function></tool_call>",
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</parameter>\n</function>\n</tool_call>",
    '<function_calls><invoke name="bash"><parameter name="command">ls</command></invoke></function_calls>',
]
REFUSED = [
    "<tool_call>bash<arg_key>command</arg_key><arg_value><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key>ls</tool_call>",
    "<tool_call>bash</arg_key><arg_value>ls</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value>mood</arg_key><arg_value>3</arg_value></tool_call>",
    "<tool_call><function=bash>\n<parameter=command>>\nls\n</parameter></function></tool_call>",
    '<invoke name="write_file"/>\n<parameter name="path">t</parameter>\n</invoke>',
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value><arg_value>3</arg_value></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</timeout></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</timeout><arg_key>timeout</arg_key><arg_value>3</arg_value></tool_call>",
    "<tool_call><function=bash><parameter=<arg_key>command>ls</parameter></function></tool_call>",
    "<tool_call><function=bash>command>ls</parameter></function></tool_call>",
    "<tool_call><function=bash</arg_value><parameter=command>ls</parameter></function></tool_call>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value>",
    "<tool_call>bash<arg_key>command</arg_key><arg_value>ls",
    "<tool_call><function=bash><parameter=command>ls",
    "<bash><command>ls</path></bash>",
    "<bash><command>ls</bash>",
]


@pytest.mark.parametrize("text", MENDED)
def test_a_slip_of_a_tag_is_mended_and_reported(text):
    """Issue 15, 3."""
    parsed = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [("bash", {"command": "ls"})]
    assert {mended.kind for mended in parsed.repairs} <= {"misplaced-tag", "missing-tag", "doubled-tag", "wrong-tag"}
    assert parsed.repairs


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value>timeout</arg_key><arg_value>3</arg_value></tool_call>",
        "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\ntimeout</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    ],
)
def test_an_argument_that_lost_its_key_s_opening_tag_is_mended(text):
    """It was a part of the value before it where another argument followed, and the call was refused where none did."""
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"command": "ls", "timeout": 3}]
    assert [mended.kind for mended in parsed.repairs if mended.kind != "coerced"] == ["misplaced-tag"]


@pytest.mark.parametrize("name", ["`command`", '"command"', "command:", "[command]"])
def test_marks_around_an_argument_s_name_in_a_tag_are_no_part_of_it(name):
    for form in (
        "<tool_call>bash<arg_key>{}</arg_key><arg_value>ls</arg_value></tool_call>",
        "<tool_call><function=bash><parameter={}>ls</parameter></function></tool_call>",
    ):
        parsed = read_every_way(form.format(name), TOOLS)
        assert [call.arguments for call in parsed.calls] == [{"command": "ls"}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value",
    [
        "<",
        "a < ",
        "> quoted\n> more",
        ">=3.8",
        ">Save</button>",
        ">>> 1 + 1",
        "} else {",
        "# >",
        ">seq\nACGT",
        ">out.txt",
        "Map<",
        "=>",
    ],
)
def test_a_bracket_that_may_belong_to_a_value_stays(form, value):
    assert_comes_back(form, value)


@pytest.mark.parametrize("text", REFUSED)
def test_a_slip_that_leaves_doubt_is_text(text):
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>bash<arg_key>command</arg_key><arg_value>ls<arg_value><arg_key>timeout</arg_key><arg_value>3</arg_value></tool_call>",
        "<tool_call>\n<function=bash>\n<parameter=command>\nls\n<parameter>\n<parameter=timeout>\n3\n</parameter>\n</function>\n</tool_call>",
        '<invoke name="bash"><parameter name="command">ls<parameter>\n<parameter name="timeout">3</parameter></invoke>',
    ],
)
def test_a_closing_tag_without_its_stroke_before_another_argument_is_mended(text):
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"command": "ls", "timeout": 3}]
    assert [mended.kind for mended in parsed.repairs] == ["wrong-tag"]


@pytest.mark.parametrize("first", ["t", "t</param>", "t</path>", "t</parameter>"])
def test_a_missing_or_misspelt_closer_before_another_argument_is_mended(first):
    text = f"<tool_call><function=write_file><parameter=path>{first}<parameter=content>hi</parameter></function></tool_call>"
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"path": "t", "content": "hi"}]


def element(name: str, inner: str) -> str:
    return f"]<]minimax[>[<{name}>{inner}]<]minimax[>[</{name}>"


@pytest.mark.parametrize(
    ("key", "inner", "value"),
    [
        ("stops", element("item", "A") + element("item", "B"), ["A", "B"]),
        ("grid", element("item", element("item", "1") + element("item", "2")) + element("item", ""), [[1, 2], ""]),
        ("opts", element("pace", "slow") + element("deep", element("x", "1")), {"pace": "slow", "deep": {"x": "1"}}),
        ("stops", "\n" + element("item", "A") + "\n", ["A"]),
        ("opts", element("tag", "A") + element("n", "1") + element("tag", "B"), {"tag": ["A", "B"], "n": "1"}),
    ],
)
def test_nested_elements_of_minimax_m3_are_lists_and_objects(key, inner, value):
    """Issue 15, 4."""
    call = f']<]minimax[>[<invoke name="plan">{element(key, inner)}]<]minimax[>[</invoke>'
    parsed = read_every_way(f"]<]minimax[>[<tool_call>{call}]<]minimax[>[</tool_call>", TOOLS)
    assert [call.arguments for call in parsed.calls] == [{key: value}]


@pytest.mark.parametrize("length", [40, 400, 900, 2000])
def test_a_long_key_is_read_alike_whole_and_in_pieces(length: int) -> None:
    key = ("The quick brown fox. " * 100)[:length]
    arguments = {"path": "", key: "a", "content": "b"}
    whole = read_every_way(json.dumps({"name": "write_file", "arguments": arguments}), [WRITE])
    if length < 1000:
        assert [call.arguments for call in whole.calls] == [arguments]


@pytest.mark.parametrize("written", ["commands", "comand", "commmand", "comamnd", "Command"])
@pytest.mark.parametrize(
    "form",
    [
        '<tool_call>{{"name": "bash", "arguments": {{"{}": "ls"}}}}</tool_call>',
        "<tool_call>bash<arg_key>{}</arg_key><arg_value>ls</arg_value></tool_call>",
        '<invoke name="bash"><parameter name="{}">ls</parameter></invoke>',
        '[bash({}="ls")]',
    ],
)
def test_an_argument_s_name_with_a_slip_is_that_of_the_tool(form, written):
    parsed = read_every_way(form.format(written), TOOLS)
    assert [call.arguments for call in parsed.calls] == [{"command": "ls"}]
    assert ("argument-name", written, "command") in [(one.kind, one.before, one.after) for one in parsed.repairs]


def test_a_name_with_a_slip_stays_where_the_tool_takes_any_and_a_call_that_says_both_is_text():
    free = Tool("set", {"type": "object", "properties": {"label": {"type": "string"}}, "additionalProperties": True})
    calls = parse('<tool_call>{"name": "set", "arguments": {"labels": "a"}}</tool_call>', [free]).calls
    assert calls[0].arguments == {"labels": "a"}
    text = '<tool_call>{"name": "bash", "arguments": {"commands": "a", "command": "b"}}</tool_call>'
    assert (read_every_way(text, TOOLS).calls, read_every_way(text, TOOLS).content) == ((), text)
