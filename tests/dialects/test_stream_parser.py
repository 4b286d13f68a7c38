"""The reader's promises: the same under every split, nothing lost, nothing invented, calls shown as they arrive."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.dialects import ArgumentsDelta, CallEnd, CallStart, Reasoning, StreamParser, Text, Tool, parse
from tests.counting import calls_made
from tests.dialects.reading import assert_accounted, pieces, read_every_way, stream, summed

WRITE = Tool(
    "write_file",
    {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path"]},
)
PING = Tool("ping", {"type": "object", "properties": {"host": {"type": "string"}, "count": {"type": "integer"}}})
TOOLS = [WRITE, PING]
CALL = '{"name": "ping", "arguments": {"host": "a"}}'


def call_of(form: str, content: str) -> str:
    arguments = json.dumps({"path": "a", "content": content})
    return {
        "hermes": f'<tool_call>{{"name": "write_file", "arguments": {arguments}}}</tool_call>',
        "mistral": f"[TOOL_CALLS]write_file[ARGS]{arguments}",
        "xml": "<tool_call><function=write_file><parameter=path>a</parameter><parameter=content>"
        f"{content}</parameter></function></tool_call>",
        "glm": "<tool_call>write_file<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>content</arg_key>"
        f"<arg_value>{content}</arg_value></tool_call>",
        "gemma": f'<|tool_call>call:write_file{{path:<|"|>a<|"|>,content:<|"|>{content}<|"|>}}<tool_call|>',
        "deepseek": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{arguments}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "harmony": f"<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{arguments}<|call|>",
    }[form]


FRAGMENTS = [
    "<tool_call>", CALL, "</tool_call>", "<think>", "</think>", "\n", "```json\n", "\n```", " ", "text", "[TOOL_CALLS]",
    "ping", "[ARGS]", '{"host": "a"}', "[ping(host='a')]", "Action: ping\n", "Action Input: ", "<|channel|>", "{", '"',
    "`", "<ping>", "<host>", "</host>", "</ping>", "Observation: x", "\n\n", ": ", "<|im_end|>",
]  # fmt: skip
FORMS = ("hermes", "mistral", "xml", "glm", "gemma", "deepseek", "harmony")


@pytest.mark.parametrize("form", FORMS)
def test_a_long_argument_shows_progress_before_it_ends(form):
    text = call_of(form, "line of text; " * 200)
    parser = StreamParser(TOOLS)
    shown = 0
    for delta in pieces(text[: len(text) // 2], 7):
        shown += sum(len(event.json) for event in parser.feed(delta) if isinstance(event, ArgumentsDelta))
    assert shown > len(text) // 3


@pytest.mark.parametrize("form", FORMS)
def test_a_call_cut_anywhere_never_counts(form):
    text = call_of(form, 'say "hi" {now} <b>')
    last = max(text.rfind(mark) for mark in ("}", "</function>", "</arg_value>"))
    for size in range(last):
        for reason in ("length", "stop"):
            assert parse(text[:size], TOOLS, finish_reason=reason).calls == (), text[:size]


def test_a_call_that_was_cut_off_is_text_and_a_report():
    """Issue 15, 5 and 7: nothing vanishes, and nothing of it runs."""
    text = 'I look.\n<tool_call>{"name": "ping", "arguments": {"host": "a'
    parsed = read_every_way(text, TOOLS, "length")
    assert (parsed.content, parsed.calls) == (text, ())
    assert [mended.kind for mended in parsed.repairs] == ["incomplete-call"]


def test_a_call_cut_off_after_another_is_left_out_and_named_whole():
    rest = '<tool_call>{"name": "ping", "arguments": {"host": "' + "a" * 300
    parsed = read_every_way(f"<tool_call>{CALL}</tool_call>\n{rest}", TOOLS, "length")
    assert (parsed.content, len(parsed.calls)) == ("", 1)
    assert [(mended.kind, mended.before) for mended in parsed.repairs] == [("left-out", rest)]


def test_a_complete_call_before_a_cut_one_stands():
    text = f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "ping", "arguments": {{"ho'
    assert [call.name for call in parse(text, TOOLS, finish_reason="length").calls] == ["ping"]


def test_events_come_in_order_start_deltas_end():
    events, _ = stream([f"<tool_call>{CALL}</tool_call>"], TOOLS)
    assert type(events[0]) is CallStart
    assert {type(event) for event in events[1:-1]} == {ArgumentsDelta}
    assert type(events[-1]) is CallEnd


def test_ordinary_text_is_held_back_no_longer_than_a_marker_could_be():
    parser = StreamParser(TOOLS)
    parser.feed("Hello")
    for delta in (" world", " and", " <b", ">bold", "</b", "> [1", "] text"):
        events = parser.feed(delta)
        held = len(delta) - sum(len(event.text) for event in events if isinstance(event, Text))
        assert held <= 3, delta
    assert parser.feed(" so") == [Text(" so")]


def test_the_first_word_is_not_held_back():
    assert StreamParser(TOOLS).feed("Hello") == [Text("Hello")]


@pytest.mark.parametrize(
    ("text", "content", "reasoning", "count"),
    [
        ("<think>a</think>b", "b", "a", 0),
        (f"<think>Try <tool_call>{CALL}</tool_call>? No.</think>Fine.", "Fine.", None, 0),
        (f"<think>Try <tool_call>{CALL}</tool_call></think>", "", None, 0),
        (f"<think>I must.\n<tool_call>{CALL}</tool_call>", "", "I must.", 1),
        (f"<think>Try <tool_call>{CALL}</tool_call> or not", "", None, 0),
        (f"<think>a</think>\n<tool_call>{CALL}</tool_call>", "", "a", 1),
        ("no opener</think>b", "b", "no opener", 0),
        ("The <think> tag and the </think> tag.", "The <think> tag and the </think> tag.", "", 0),
        (f"<think>```json\n{CALL}\n```</think>done", "done", None, 0),
        (f"<think>{CALL}", "", CALL, 0),
    ],
)
def test_reasoning_is_kept_apart_and_its_drafts_never_run(text, content, reasoning, count):
    parsed = read_every_way(text, TOOLS)
    assert parsed.content == content
    assert len(parsed.calls) == count
    if reasoning is not None:
        assert parsed.reasoning == reasoning


def test_a_draft_in_reasoning_that_was_cut_off_never_runs():
    assert parse(f"<think>Try <tool_call>{CALL}</tool_call>", TOOLS, finish_reason="length").calls == ()


def test_the_prompt_may_have_opened_the_reasoning():
    parsed = read_every_way("hm\n", TOOLS, "length", generation_prompt="<|im_start|>assistant\n<think>\n")
    assert (parsed.content, parsed.reasoning) == ("", "hm\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"host": "a", "host": "b"}', {"host": "a"}),
        ('{"host": "a", "count": NaN}', {"host": "a", "count": None}),
        ('{"host": "\\ud83d\\ude00"}', {"host": "😀"}),
        ('{"host": "x\\ud83d"}', {"host": "x\ufffd"}),
        ('{"host": "x\ud83dy"}', {"host": "x\ufffdy"}),
        ('{"host": "tab\there\u0000"}', {"host": "tab\there\u0000"}),
        ('{"host": "a\nb"}', {"host": "a\nb"}),
        ('{"host": "the "beta" flag", "count": 1}', {"host": 'the "beta" flag', "count": 1}),
        ('{"host": "C:\\windows\\_x"}', {"host": "C:\\windows_x"}),
        ("{“host”: “a”}", {"host": "a"}),
        ("{'host': 'it\\'s'}", {"host": "it's"}),
        ('{"host": "a", "count": "3"}', {"host": "a", "count": 3}),
        ('{"host": "a", "count": 3,}', {"host": "a", "count": 3}),
    ],
)
def test_odd_json_has_one_defined_reading_that_can_be_encoded(arguments, expected):
    parsed = read_every_way(f'<tool_call>{{"name": "ping", "arguments": {arguments}}}</tool_call>', TOOLS)
    assert [call.arguments for call in parsed.calls] == [expected]
    json.dumps(expected, ensure_ascii=False).encode()


def test_a_value_that_holds_the_closing_tag_is_read_whole():
    content = "close with </parameter> and </function></tool_call> here"
    parsed = read_every_way(call_of("xml", content), TOOLS)
    assert parsed.calls[0].arguments["content"] == content


@pytest.mark.parametrize(
    "text",
    [
        f'[TOOL_CALLS] [{CALL}, {CALL}"]',
        '<tool_call>{"name": "ping", "arguments": {"host": "a", "x”: “y”, “z": "c"}}</tool_call>',
        f'<tool_call>{CALL}"</tool_call>',
        "<tool_call>\n<function=ping>\n<param=host>\na\n</parameter>\n</function>\n</tool_call>",
    ],
)
def test_stray_quotes_and_tags_are_judged_the_same_in_any_pieces(text):
    read_every_way(text, TOOLS)


@pytest.mark.parametrize("before", ["", "<tool_call>\n", "say\n", "> "])
@pytest.mark.parametrize("between", ["</tool_call>", "Xyz", "- a", "</think>", "\r", "\u200b", "<tool_call>&", "**a**"])
def test_a_call_after_json_that_is_none_is_judged_the_same_in_any_pieces(before, between):
    """Found by `bench/dialects.py`: whether JSON goes on was asked of fewer lines where they came whole."""
    read_every_way(f'{before}{{"name": "unknown", "arguments": {{}}}}\n{between}\n{CALL}\n</tool_call>', TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- what a model without tools of its own might write in its answer to that, word by word:\n{CALL}",
        f"<q>Send this request to the server yourself, from a shell or from a browser of your choice.\n{CALL}",
    ],
)
def test_what_introduces_a_call_counts_however_small_the_pieces(text):
    """Found by `bench/dialects.py`: the text before was remembered by pieces, not by characters."""
    read_every_way(text, TOOLS)
    assert stream(pieces(text, 1), TOOLS)[1].calls == ()


@pytest.mark.parametrize("after", ["", " ", "\n", "x", "<", "[", "{"])
@pytest.mark.parametrize(
    "opener", ["<|message_model|>ping<|content_invoke_tool_json|>", "<|content_invoke_tool_json|>"]
)
def test_a_reply_that_ends_right_after_its_openers_is_no_call(opener, after):
    read_every_way(opener + after, TOOLS)


@pytest.mark.parametrize("tag", ["<isafm|arg_key>", "<x|arg_key>", "<|arg_key>", "<ifm|tool_sep>"])
def test_a_vendors_prefix_that_is_unknown_is_unknown_in_any_pieces(tag):
    read_every_way(f"<ifm|tool_calls>\n<ifm|tool_call>ping\n{tag}host</ifm|arg_key>\n</ifm|tool_call>", TOOLS)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(FRAGMENTS)
        | st.text(max_size=4),
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_text_is_read_the_same_in_any_pieces_and_none_is_lost(parts, rng: random.Random):
    text = "".join(parts)
    events, whole = stream([text], TOOLS)
    deltas, at = [], 0
    while at < len(text):
        size = rng.randint(1, 9)
        deltas.append(text[at : at + size])
        at += size
    again, parsed = stream(deltas, TOOLS)
    assert parsed == whole
    assert summed(again) == summed(events)
    assert_accounted(text, whole)


def test_said_text_and_reasoning_are_pieces_of_the_input():
    text = f"one <think> two\n<tool_call>{CALL}</tool_call> three"
    _, parsed = stream([text], TOOLS)
    said = "".join(text[span.start : span.end] for span in parsed.spans if span.kind == "text")
    assert said == parsed.content


@pytest.mark.parametrize("form", FORMS)
def test_the_work_of_reading_grows_with_the_length_alone(form):
    def work_per_character(size: int) -> float:
        text = call_of(form, "x" * size)

        def read() -> None:
            parser = StreamParser(TOOLS)
            for delta in pieces(text, 16):
                parser.feed(delta)
            parser.close()

        return calls_made(read) / len(text)

    assert work_per_character(64_000) < 1.2 * work_per_character(4_000)


@pytest.mark.parametrize("form", FORMS)
def test_only_undecided_text_is_kept(form):
    parser = StreamParser(TOOLS)
    for delta in pieces(call_of(form, "word " * 2000), 16):
        parser.feed(delta)
        assert parser.undecided <= 200


@pytest.mark.parametrize(
    "unit", ["<tool_call>", "[TOOL_CALLS]ping", '{"name":"ping","arguments":{', "```json\n{", "<think>", "[ping("]
)
def test_hostile_repetition_makes_no_more_work_than_its_length(unit):
    def work(size: int) -> int:
        return calls_made(lambda: parse(unit * (size // len(unit)), TOOLS))

    assert work(32_000) < 12 * work(4_000)


def test_a_list_of_events_is_the_callers_alone():
    parser = StreamParser(TOOLS)
    nothing = parser.feed("")
    assert parser.feed("Hello") == [Text("Hello")]
    assert nothing == []


DRAFT = f"Try <tool_call>{CALL}</tool_call>? No."


@pytest.mark.parametrize(
    "draft", [DRAFT, f"Try:\n```json\n{CALL}\n```\nNo.\n", f"Try\n{CALL}\nor not.", f"{DRAFT} {DRAFT}"]
)
def test_a_draft_in_reasoning_that_an_unseen_prompt_opened_never_runs(draft):
    parsed = read_every_way(f"{draft}</think>Fine.", TOOLS)
    assert (parsed.calls, parsed.content) == ((), "Fine.")
    again = read_every_way(f"{draft}</think>\n<tool_call>{CALL}</tool_call>", TOOLS)
    assert [call.name for call in again.calls] == ["ping"]


def test_a_call_ends_with_the_reply_at_the_latest():
    parser = StreamParser(TOOLS)
    assert not any(isinstance(event, CallEnd) for event in parser.feed(f"I look.\n<tool_call>{CALL}</tool_call>"))
    brace, end = parser.close()
    assert (brace, type(end)) == (ArgumentsDelta(0, "}"), CallEnd)


@pytest.mark.parametrize(
    ("text", "content", "reasoning", "count"),
    [
        ('commentary to=functions.ping json{"host": "a"}', "", "", 1),
        ('analysisI must ping.assistantcommentary to=functions.ping json{"host": "a"}', "", "I must ping.", 1),
        ("analysisEasy.assistantfinalIt is up.", "It is up.", "Easy.", 0),
    ],
)
def test_the_hint_of_gpt_oss_reads_its_messages_without_special_tokens(text, content, reasoning, count):
    parsed = read_every_way(text, TOOLS, hint="gpt-oss-20b")
    assert (parsed.content, parsed.reasoning, len(parsed.calls)) == (content, reasoning, count)


def test_an_ordinary_first_letter_is_not_held_back():
    for letter in "BDEGHIJKLMNQRSUVWXYZ가あ我É":  # `A`, `C`, `F`, `P`, `O`, `T` may begin a word that announces a call
        assert StreamParser([PING]).feed(letter) == [Text(letter)], letter


def test_a_first_word_in_small_letters_waits_for_what_comes_after_it():
    """It may be what the result of a call is assigned to."""
    parser = StreamParser([PING])
    assert parser.feed("hello") + parser.feed(" ") == []
    assert parser.feed("t") == [Text("hello t")]


@pytest.mark.parametrize(
    ("text", "calls", "content"),
    [
        ('x = ping(host="a")', 1, ""),
        ('first=ping(host="a")\nsecond = ping(host="b")', 2, ""),
        ('I look:\nanswer = ping(host="a")', 1, "I look:"),
        ('x == ping(host="a")', 0, 'x == ping(host="a")'),
        ('x = pong(host="a")', 0, 'x = pong(host="a")'),
        ('One writes x = ping(host="a") there.', 0, 'One writes x = ping(host="a") there.'),
        ("Plan.\nping\n<arg_key>host</arg_key>\n<arg_value>a</arg_value>\n</tool_call>", 1, "Plan."),
        ("Plan.\nping\n<arg_keys>", 0, "Plan.\nping\n<arg_keys>"),
    ],
)
def test_a_line_that_assigns_a_call_and_pairs_in_the_middle_are_read(text, calls, content):
    """Issue 15, 4."""
    parsed = read_every_way(text, TOOLS)
    assert (len(parsed.calls), parsed.content) == (calls, content)


def test_text_in_a_section_but_outside_its_calls_is_named():
    """Issue 15, 5: nothing vanishes."""
    call = '<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{"host": "a"}<|tool_call_end|>'
    text = f"<|tool_calls_section_begin|> some {call} more {call}<|tool_calls_section_end|>"
    parsed = read_every_way(text, TOOLS)
    assert len(parsed.calls) == 2
    assert [mended.before for mended in parsed.repairs if mended.kind == "left-out"] == [" some ", " more "]


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "function", "id": "c1", "function": {"name": "ping", "arguments": "{}"}}',
        '{"tool": "ping", "host": "a", "count": 2, "id": "x"}',
        '{"name": "ping", "arguments": {"host": "a"}, "id": "x", "type": "function"}',
        '{"ping": {"host": "a"}}',
    ],
)
def test_the_frame_of_a_call_is_no_text_that_a_repair_names(text):
    parsed = read_every_way(text, TOOLS)
    assert (len(parsed.calls), [mended for mended in parsed.repairs if mended.kind == "left-out"]) == (1, [])


def test_an_object_of_no_calls_is_text():
    text = '{"tool_calls": [[]], "content": "I look."}'
    parsed = read_every_way(text, TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_repairs_are_reported():
    parsed = parse(
        '<tool_call>{"name": "functions.ping", "arguments": {"host": "a", "count": "3"}}}</tool_call>', TOOLS
    )
    assert {mended.kind for mended in parsed.repairs} == {"tool-name", "coerced", "extra-brace"}


def test_reasoning_events_stream():
    parser = StreamParser(TOOLS)
    events = parser.feed("<think>abc")
    assert events == [Reasoning("abc")]


K3_CALL = (
    '<|open|>call tool="ping" index="1"<|sep|><|open|>argument key="host" type="string"<|sep|>a<|close|>argument<|sep|>'
    "<|close|>call<|sep|>"
)
K3_BROKEN = '<|open|>call tool="ping" index="2"<|sep|>a <|close|>argument<|sep|>'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<|channel|>commentary?commentary?It is warm.<|end|>", "It is warm."),
        ("<|channel|>commentary<|mess|>It is warm.<|end|>Yes.", "It is warm."),
        ('<|channel|>commentary warm to=functions.ping<|message|>{"host": "a"}<|call|>', "warm"),
        ("<|channel|>commentary to=somebody<|message|>Yes.", "somebody"),
        (
            '[TOOL_CALLS] [{"name": "ping", "arguments": {"host": "a"}}, {"name": "pong", "arguments": {"x": 1}}]',
            "pong",
        ),
        (f"Try.\n<tool_call>{CALL}</tool_call>\n</think>Fine.", '{"host": "a"'),
        ('<|open|>argument key="title" type="string"<|sep|>text', "title"),
        ('{"thought": "I must look.", "name": "ping", "arguments": {"host": "a"}}', "I must look."),
        ('<tool_call>{"name": "ping", "arguments": {"host": "a"}, "count": 30, "note": "x"}</tool_call>', "note: x"),
        ('[{"name": "ping", "arguments": {"host": "a",}, "why": "It is down."}]', "It is down."),
        ('{"content": "I look.", "tool_calls": [{"name": "ping", "arguments": {"host": "a"}}]}', "I look."),
        (f"{K3_CALL}{K3_BROKEN}", "<|close|>argument<|sep|>"),
        (K3_CALL.replace("ping", "pong"), "<|close|>argument<|sep|>"),
        (K3_CALL.replace("ping", "pong"), "<|close|>call<|sep|>"),
        ("Yes.<|close|>tools<|sep|>", "<|close|>tools<|sep|>"),
    ],
)
def test_what_is_neither_said_nor_called_is_named_by_a_repair(text, word):
    """Issue 15, 5: every character is in content, reasoning, a call's arguments, or what a repair names."""
    parsed = read_every_way(text, TOOLS)
    assert word not in parsed.content
    assert any(word in mended.before + mended.after for mended in parsed.repairs), parsed


@pytest.mark.parametrize("text", ["q```_w {``_w", "```x``y", "````a`b", "``a```b", 'get``` x``y "`z'])
def test_runs_of_backticks_are_counted_one_by_one_in_any_pieces(text):
    """Found by `bench/dialects.py`: a run of three was added to the next one."""
    read_every_way(f"{text}[TOOL_CALLS]ping[ARGS]{{}}", TOOLS)


def test_a_text_with_half_characters_makes_arguments_that_can_be_encoded():
    tools = [Tool("ls", {"type": "object", "properties": {"dir": {"type": "string"}}, "required": ["dir"]})]
    parsed = read_every_way("Action: ls\nAction Input: a\udbffb", tools)
    assert [call.arguments for call in parsed.calls] == [{"dir": "a\ufffdb"}]
