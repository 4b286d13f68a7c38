"""What is a call and what only looks like one: unmarked texts, talk about calls, and calls in ordinary surroundings."""

import json
from collections import Counter

import pytest

from naru.dialects import CallEnd, StreamParser, Text, Tool, parse, tools_from_openai
from tests.dialects import talk
from tests.dialects.reading import CASES, assert_accounted, pieces, read_every_way

DATA = json.loads((CASES / "dialect_unmarked.json").read_text(encoding="utf-8"))
TOOLS = tools_from_openai(DATA["tools"])
CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
UNIT = '{"name": "bash", "arguments": {"command": "ls"}}'


@pytest.mark.parametrize("text", DATA["no_calls"])
def test_text_that_makes_no_call_stays_as_it_is(text):
    parsed = read_every_way(text, TOOLS)
    assert parsed.calls == ()
    assert parsed.content == text


@pytest.mark.parametrize(("text", "arguments"), DATA["calls"])
def test_an_unmarked_or_misspelt_call_is_read(text, arguments):
    parsed = read_every_way(text, TOOLS)
    assert [call.arguments for call in parsed.calls] == arguments


PARTS = ("fit", "held", "third", "fourth", "once")


def test_talk_about_calls_makes_none_and_stays_as_it_is():
    """Issue 15, 1: at most 2 in 300 in 14 forms and 13 languages; the part `once` was never looked at before."""
    ran, count = Counter(), Counter()
    for part in PARTS:
        for number, _, text in talk.texts("shown", part, 6):
            if talk.ends("shown", part, number):
                continue
            parsed = parse(text, talk.TOOLS)
            assert_accounted(text, parsed)
            count[part] += 1
            if parsed.calls:
                ran[part] += 1
            else:
                assert parsed.content == text.strip()
    assert count.total() >= 1600
    assert count["once"] >= 280
    assert ran["once"] <= 2
    assert ran.total() <= count.total() / 100


@pytest.mark.slow
def test_calls_in_ordinary_surroundings_are_made():
    lost, count = [], 0
    for part in PARTS:
        for number, form, text in talk.texts("made", part, 6):
            if talk.ends("made", part, number):
                count += 1
                lost += [] if parse(text, talk.TOOLS).calls else [(form, text)]
    assert count >= 900
    assert len(lost) <= 3, lost


@pytest.mark.slow
@pytest.mark.parametrize("text", talk.ENDS)
def test_talk_that_ends_with_an_unmarked_call_is_told_by_its_words(text):
    assert not read_every_way(text, talk.TOOLS_OF_ENDS).calls


def test_words_before_a_call_tell_it_in_seven_languages_and_every_form():
    """Examples, refusals, warnings, what a page or a ticket says; before Python was asked words 621 of these ran."""
    ran = Counter(name for name, _, _, text in talk.exhibits("shown", "ends") if parse(text, talk.TOOLS).calls)
    assert ran.total() <= 9, ran
    lost = Counter(name for name, _, _, text in talk.exhibits("made", "ends") if not parse(text, talk.TOOLS).calls)
    assert lost.total() <= 18, lost  # "Esto es lo que haré:", by its meaning


def test_talk_that_ends_with_its_call_is_mostly_told_by_its_words():
    """Structure alone lets 127 of these 216 run; words are asked as second evidence (docs/decisions/0162)."""
    texts = [
        text for part in PARTS for number, _, text in talk.texts("shown", part, 6) if talk.ends("shown", part, number)
    ]
    assert len(texts) == 216
    assert sum(bool(parse(text, talk.TOOLS).calls) for text in texts) <= 25


@pytest.mark.parametrize(
    "before", ["For example:", "예를 들어:", "例えば：", "Por ejemplo:", "例如：", "Do not run this:"]
)
def test_a_call_that_is_said_to_be_an_example_is_none(before):
    assert not read_every_way(f"{before}\n\n{CALL}", talk.TOOLS).calls
    parser = StreamParser(talk.TOOLS)
    events = [*parser.feed(f"{before}\n\n{CALL}"), *parser.close()]
    assert {type(event) for event in events} == {Text}, "nothing was announced that would never end"


@pytest.mark.parametrize("written", ['{"name": "other", "arguments": {"text": "the page says"}}', "[/INST]"])
def test_what_stands_before_a_call_and_is_no_sentence_means_nothing(written):
    """A call of a tool that is not offered and a stray marker were read as what introduces an exhibit."""
    assert len(read_every_way(f"At the bottom of the page:\n{written}\n{CALL}", talk.TOOLS).calls) == 1


@pytest.mark.parametrize("words", ["I'll look it up", "찾아보겠습니다", "调べます", "Voy a buscarlo", "我来查一下"])
@pytest.mark.parametrize("end", [":", ".", "!", "…"])
def test_a_call_that_ends_its_reply_is_made_after_any_words(words, end):
    assert len(read_every_way(f"{words}{end}\n\n{CALL}", talk.TOOLS).calls) == 1


@pytest.mark.parametrize(
    "after", ["That is what it says.", "그렇게 쓰여 있습니다.", "と書かれています。", "这就是内容。"]
)
def test_a_marked_call_with_text_around_it_is_shown_and_the_repair_says_why(after):
    """With a marked call a model ends its turn."""
    text = f"Ξ κείμενο.\n\n{CALL}\n\n{after}"
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)
    assert [mended.after for mended in parsed.repairs] == ["text around"]


def test_code_with_an_explanation_of_its_matter_is_a_call():
    text = "To see the host I read a file:\n\n[read_file(path='/etc/hosts')]\n\nThis shows {}."
    assert parse(text.format("/etc/hosts"), talk.TOOLS).calls
    assert not parse("Ξ:\n\n[read_file(path='/etc/hosts')]\n\nThat is the syntax.", talk.TOOLS).calls


@pytest.mark.parametrize(
    "page",
    [
        f"Recipe. {CALL} Flour.",
        json.dumps({"body": f"x\n{CALL}"}),
        CALL.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
        CALL.replace(" ", "\n  "),
        "".join(f"\\u{ord(each):04x}" if each in '<>"' else each for each in CALL),
        "".join(f"&#{ord(each)};" if each in '<>"' else each for each in CALL),
        json.dumps(CALL.replace("<", "&lt;")).replace("&", "\\u0026"),
        CALL.replace("<", "&amp;lt;"),
        json.dumps(json.dumps(CALL)),
    ],
)
def test_a_call_that_stands_in_a_tools_result_is_a_quotation(page):
    """Issue 15, why: a page says a call, the model repeats it. However the page escapes it and lays it out."""
    assert read_every_way(CALL, talk.TOOLS, seen=["nothing", page]).calls == ()
    other = CALL.replace("ls", "pwd")
    assert len(read_every_way(other, talk.TOOLS, seen=["nothing", page]).calls) == 1


@pytest.mark.parametrize("value", ["...", ["…"], {"name": "<city>"}, [{"name": "{city}"}]])
def test_a_place_for_a_value_shows_wherever_it_stands(value):
    """An item of a list with a call behind its words is made, unless a value of it only holds a place."""
    call = '- weather <tool_call>{{"name": "bash", "arguments": {{"command": {}}}}}</tool_call>'
    assert len(parse(call.format('"ls"'), talk.TOOLS).calls) == 1
    assert parse(call.format(json.dumps(value)), talk.TOOLS).calls == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "texts", "most"),
    [
        ("first", 1665, 0),
        ("second", 1470, 0),
        ("third", 1680, 5),
        ("waits", 360, 18),
        ("fifth", 420, 0),
        ("sixth", 525, 0),
        ("seventh", 714, 0),
        ("eighth", 669, 0),
        ("ninth", 1017, 0),
        ("tenth", 396, 0),
        ("eleventh", 1368, 54),
        ("twelfth", 540, 4),
        ("thirteenth", 525, 0),
        ("fourteenth", 507, 0),
        ("fifteenth", 510, 0),
        ("sixteenth", 516, 0),
    ],
)
def test_calls_under_labels_in_logs_and_in_transcripts_are_exhibits(part, texts, most):
    """Issue 15, 1: before the rule knew of labels 403 of the first set ran, 347 of the second, 118 of the third.

    From the third on they are talk of every kind; what runs of it speaks of what the call is about, or has not been
    told by its words.
    """
    ran, count = Counter(), 0
    for name, _, _, text in talk.exhibits("shown", part):
        parsed = parse(text, talk.TOOLS)
        assert_accounted(text, parsed)
        count += 1
        ran[name] += bool(parsed.calls)
    assert count == texts
    assert ran.total() <= most, ran


@pytest.mark.slow
def test_calls_under_labels_that_end_their_reply_are_made():
    """Whole: with all their calls. What a model calls by its own label, and lists its plan before, is no exhibit.

    Two sentences in all forms are lost by their meaning: they speak of nothing that their call is about.
    """
    lost = Counter()
    for part in ("second", "third", "waits", "seventh", "eighth"):
        for name, form, count, text in talk.exhibits("made", part):
            within = text.startswith("Sure! ") or (form == "python-line" and part == "second")  # of a paragraph
            if name != "quoted-end" and not within:
                lost[name, form] += len(parse(text, talk.TOOLS).calls) != count
    assert lost.total() <= 36, lost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "most"),
    [
        ("ninth", 24),
        ("eleventh", 132),
        ("twelfth", 72),
        ("thirteenth", 43),
        ("fourteenth", 23),
        ("fifteenth", 8),
        ("sixteenth", 34),
    ],
)
def test_few_calls_are_lost_of_sets_that_nothing_was_changed_for(part, most):
    """Promises to tell in words that no table knows, and calls that a blank sets apart from a colon on their line."""
    lost = [name for name, _, count, text in talk.exhibits("made", part) if len(parse(text, talk.TOOLS).calls) != count]
    assert len(lost) <= most


def test_several_calls_that_begin_a_reply_are_made_whatever_comes_after_them():
    """Exhibits come one at a time; who makes several goes on as if they had run."""
    other = CALL.replace("ls", "pwd")
    for after in ("Here are the results:\n\n1. a", "Ξ κείμενο."):
        assert len(read_every_way(f"{CALL}\n{other}\n\n{after}", talk.TOOLS).calls) == 2
    assert not read_every_way(f"{CALL}\n\nΞ κείμενο.", talk.TOOLS).calls


@pytest.mark.parametrize("calls", [CALL, f"{CALL}\n{CALL.replace('ls', 'pwd')}"])
def test_calls_of_which_the_text_after_them_says_that_they_were_not_run_are_shown(calls):
    """However many they are, and though it speaks of what they are about."""
    after = "That bash command was in the file. I only quote it; nothing has been run."
    assert not read_every_way(f"{calls}\n\n{after}", talk.TOOLS).calls


PYTHON = "[read_file(path='/etc/hosts')]"


@pytest.mark.parametrize(
    ("after", "runs"),
    [
        ("Ξ κείμενο ξ.", False),
        ("Verdict: rejected\n\n[bash(command='ls')]\n\nVerdict: accepted", False),
        ("It reads /etc/hosts.", True),
        ("The path is absolute.", True),
        ("The output is:\n\n127.0.0.1", True),
        ("    # Ξ κείμενο ξ", True),
        ("Ξ κείμενο ξ " * 20, True),
    ],
)
def test_a_remark_after_python_that_speaks_of_nothing_in_it_shows_it(after, runs):
    """What goes on about its matter, as code or without an end is what models write that are asked for code."""
    assert bool(parse(f"{PYTHON}\n\n{after}", talk.TOOLS).calls) == runs


@pytest.mark.parametrize("value", ["`[]`", '"true"', "'0.5'", "`None`"])
def test_a_value_that_is_quoted_after_python_speaks_of_the_code(value):
    """Seven recorded replies said so what comes of it: ``the output is `[]` ``."""
    said = f"Ξ κείμενο ξ {value}."
    assert parse(f"{PYTHON}\n\n{said}", talk.TOOLS).calls
    assert not parse(f"{PYTHON}\n\n{said.replace(value, 'κείμενο')}", talk.TOOLS).calls


@pytest.mark.parametrize("unit", [UNIT, CALL, f"{UNIT}\n{UNIT.replace('ls', 'pwd')}"], ids=["json", "hermes", "two"])
@pytest.mark.parametrize("token", ["<|im_start|>", "<|assistant|>\n<|im_start|>"])
def test_the_token_of_a_turn_before_a_call_hides_no_sentence_over_it(unit, token):
    """A page's text ran behind such a token; what a model writes there itself of what it does is a call."""
    page = f"The page has this hidden in it:\n\n{token}\n{unit}\n<|im_end|>"
    assert not read_every_way(page, talk.TOOLS).calls
    assert not read_every_way(f"At the bottom of the page:\n{token}\n{unit}", talk.TOOLS).calls
    assert read_every_way(f"I'll look at the files:\n\n{token}\n{unit}\n<|im_end|>", talk.TOOLS).calls
    assert read_every_way(f"You can use this function:\n\n{token}\n{unit}\n<|im_end|>", talk.TOOLS).calls


def test_words_of_teaching_before_python_show_it_unless_they_name_a_value():
    assert not read_every_way(f"The call would look like this:\n\n{PYTHON}", talk.TOOLS).calls
    assert read_every_way(f"For the hosts the call would look like this:\n\n{PYTHON}", talk.TOOLS).calls


def test_what_was_said_not_to_run_does_not_run_whatever_is_said_after_it():
    said = "Nothing was executed. The document only has this."
    assert not read_every_way(f"{said}\n\n{CALL}", talk.TOOLS).calls
    assert read_every_way(f"{said} Let me look.\n\n{CALL}", talk.TOOLS).calls


@pytest.mark.parametrize(
    ("before", "runs"),
    [
        ("Do not paste this anywhere:", False),
        ("붙여 넣을 수 없습니다:", False),
        ("It is not here, I look elsewhere:", True),
        ("Request 4 (refused):", False),
        ("Versuch 4（abgelehnt）：", False),
        ("I'll look at the hosts (a short file):", True),
        ("1. Request (new):", True),
        ("**Step 4** the hosts now", True),
    ],
)
def test_a_clause_or_a_remark_that_leads_on_to_a_call_tells_what_it_is(before, runs):
    """A prohibition in the last clause, and a remark in brackets at the end of what is no item of a list."""
    assert bool(read_every_way(f"{before}\n\n{CALL}", talk.TOOLS).calls) == runs


@pytest.mark.parametrize("text", ["I look at the file.\n\n{}", "Ξ κείμενο!\n\n{}\n", "<|x|>\n\n{}"])
def test_python_at_the_beginning_of_a_paragraph_is_read(text):
    call = "read_file(path='/etc/hosts')"
    assert len(read_every_way(text.format(call), talk.TOOLS).calls) == 1
    assert read_every_way(text.format(call).replace("\n\n", "\n"), talk.TOOLS).calls == ()


@pytest.mark.parametrize(
    "after", ["Should I run this?", "이걸 실행할까요?", "実行しますか？", "実行しますか。", "¿Lo ejecuto?"]
)
def test_a_line_of_python_before_a_question_is_shown(after):
    assert not read_every_way(f"[read_file(path='/etc/hosts')]\n\n{after}", talk.TOOLS).calls


def test_a_sentence_that_ends_after_a_call_on_its_line_shows_it():
    assert not read_every_way(f"Ξ κείμενο ξ {CALL} ?", talk.TOOLS).calls


@pytest.mark.parametrize(
    "title", ["Step 1: list the files", "1단계: 목록 확인", "第一步：列出当前目录", "Étape 1 : la liste"]
)
def test_a_numbered_title_stands_over_the_call_that_it_names(title):
    """Alone: with a text after its call it is no title, and one that names an exhibit is none either."""
    assert len(read_every_way(f"{title}\n\n{CALL}", talk.TOOLS).calls) == 1
    assert not read_every_way(f"{title}\n\n{CALL}\n\nΞ κείμενο ξ.", talk.TOOLS).calls
    assert not read_every_way(f"Example 1: list the files\n\n{CALL}", talk.TOOLS).calls


@pytest.mark.parametrize("form", [form for form in talk.FORMS if form not in (*talk.BLOCKS_ONLY, "cline")])
@pytest.mark.parametrize("mark", ["- ", "* ", "1. "])
def test_calls_that_are_items_of_a_list_are_what_stands_over_it_says(form, mark):
    """Under "Examples:" or "The page lists these:" both ran in five forms; under "I do both:" none did in others."""
    write = talk.FORMS[form]
    calls = [write("read_file", {"path": "/etc/hosts"}, ""), write("bash", {"command": "ls"}, "")]
    items = "\n".join(mark + call for call in calls)
    assert len(read_every_way(f"I'll do both:\n\n{items}", talk.TOOLS).calls) == 2
    assert not read_every_way(f"Examples:\n{items}", talk.TOOLS).calls
    assert not read_every_way(f"Ξ κείμενο ξ:\n{items}\n\nΞ κείμενο ξ.", talk.TOOLS).calls


@pytest.mark.parametrize("form", talk.MORE_FORMS)
def test_calls_under_the_labels_of_a_list_are_what_stands_over_it_says(form):
    """Under "I'll do three things:" none of three ran in any form."""
    calls = [
        ("read_file", {"path": "/etc/hosts"}),
        ("bash", {"command": "ls"}),
        ("send_mail", {"to": "a", "body": "b"}),
    ]
    items = "\n\n".join(
        f"{number}. Ξ κείμενο ξ:\n\n{talk.MORE_FORMS[form](*call, chr(10))}" for number, call in enumerate(calls, 1)
    )
    assert len(read_every_way(f"I'll do three things:\n\n{items}", talk.TOOLS).calls) == 3
    assert not read_every_way(f"Ξ κείμενο ξ:\n\n{items}", talk.TOOLS).calls


@pytest.mark.parametrize("form", ["hermes", "json", "cline", "react", "pythonic", "fenced"])
@pytest.mark.parametrize("field", ["{}: {}", "**{}:** {}", "- {}: {}", "{}：{}", "{} : {}"])
def test_a_call_that_is_a_field_of_a_form_is_shown(form, field):
    """A report of several fields of which one is the call; those of a plan speak of its value."""
    call = talk.MORE_FORMS[form]("read_file", {"path": "/etc/hosts"}, "\n")
    report = "\n".join((field.format("Κείμενο", "ξ ξ"), field.format("Ξ ξ", "7"), field.format("Ψ", "").rstrip()))
    assert not read_every_way(f"Ξ κείμενο ξ\n\n{report}\n\n{call}", talk.TOOLS).calls
    assert len(read_every_way(f"{report.replace('7', 'hosts')}\n\n{call}", talk.TOOLS).calls) == 1


@pytest.mark.parametrize(("after", "runs"), [("You only asked how it works.", False), ("That reads the hosts.", True)])
@pytest.mark.parametrize("form", ["pythonic", "fenced", "tool_code"])
def test_code_that_the_text_after_it_does_not_explain_is_what_the_sentence_before_says(form, after, runs):
    call = talk.MORE_FORMS[form]("read_file", {"path": "/etc/hosts"}, "\n")
    text = f"If you had asked for the hosts file, I would have answered:\n\n{call}\n\n{after}"
    assert bool(read_every_way(text, talk.TOOLS).calls) == runs


@pytest.mark.parametrize("between", ["And also,", "<?xml?>"])
def test_what_ends_no_sentence_between_two_calls_shows_neither(between):
    other = CALL.replace("ls", "pwd")
    assert len(read_every_way(f"{CALL}\n\n{between}\n\n{other}", talk.TOOLS).calls) == 2


@pytest.mark.parametrize("said", ["The calculation of it:", "hostsを", "hosts를", "hosts的"])
def test_a_word_is_of_the_matter_in_another_form_or_with_a_particle(said):
    call = "```json\n" + talk.FORMS["json"]("calculate_it", {"path": "/etc/hosts"}, "") + "\n```"
    tools = [Tool("calculate_it", {"type": "object", "properties": {"path": {"type": "string"}}})]
    assert len(read_every_way(f"Ξ κείμενο ξ.\n\n{call}\n\n{said} Ξ ξ ξ.", tools).calls) == 1


@pytest.mark.parametrize("form", talk.MORE_FORMS)
def test_a_call_that_is_said_again_after_a_colon_is_made_once(form):
    """Of 47,000 recorded replies more than seventy ran the same call twice: `f()`, and "The function call is: f()"."""
    call = talk.MORE_FORMS[form]("read_file", {"path": "/etc/hosts"}, "\n")
    other = talk.MORE_FORMS[form]("read_file", {"path": "/etc/passwd"}, "\n")
    assert len(read_every_way(f"{call}\n\nI read the file:\n\n{call}", talk.TOOLS).calls) == 1
    assert len(read_every_way(f"{call}\n\nI read the file:\n\n{other}", talk.TOOLS).calls) == 2
    assert len(read_every_way(f"{call}\n{call}", talk.TOOLS).calls) == 2


def test_exhibits_are_told_the_same_in_any_pieces():
    for number, (_, _, _, text) in enumerate(talk.exhibits("shown", "first")):
        if number % 41 == 0:
            read_every_way(text, talk.TOOLS)


@pytest.mark.parametrize(
    "label",
    ["First, the file with the hosts:", "1. To read /etc/hosts:", "## Reading\n\nI read the file of the hosts."],
)
def test_lists_of_code_calls_with_words_of_their_matter_between_them_are_made(label):
    text = f"{label}\n[read_file(path='/etc/hosts')]\n\nThen the file of passwords:\n[read_file(path='/etc/passwd')]"
    assert len(read_every_way(text, talk.TOOLS).calls) == 2


@pytest.mark.parametrize("kind", ["shown", "made"])
def test_calls_are_judged_the_same_in_any_pieces(kind):
    for number, _, text in talk.texts(kind, "fit", 1):
        if number % 3 == 0:
            read_every_way(text, talk.TOOLS)


@pytest.mark.parametrize(
    "quotes", ["“”", "„“", "«»", "»«", "‹›", "「」", "『』", "《》", "（）", "()", "【】", "〈〉", "``", '""', "''"]
)  # fmt: skip
@pytest.mark.parametrize("form", [CALL, f"[TOOL_CALLS]bash[ARGS]{json.dumps({'command': 'ls'})}"])
def test_quotation_marks_of_any_script_around_a_call_show_it(quotes, form):
    """Issue 15, 1: structure needs no language."""
    text = f"Ξ κείμενο {quotes[0]}{form}{quotes[1]} ξ."
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_a_page_that_escapes_what_lies_beyond_the_first_plane_is_known_again():
    call = CALL.replace("ls", "echo \U0001f600")
    assert read_every_way(call, talk.TOOLS, seen=[json.dumps(json.dumps({"body": call}))]).calls == ()
    assert len(read_every_way(call, talk.TOOLS, seen=[json.dumps(CALL)]).calls) == 1


@pytest.mark.parametrize("gap", ["\n", "  ", "\n\n"])
@pytest.mark.parametrize("quotes", ["“”", "„“", "«»", "「」", "（）", "()", '""', "''", ('"""', '"""')])
def test_a_quotation_mark_opens_at_a_distance_too(quotes, gap):
    text = f"Ξ κείμενο:\n\n{quotes[0]}{gap}{CALL}{gap}{quotes[1]}"
    assert read_every_way(text, talk.TOOLS).calls == ()


@pytest.mark.parametrize(
    "before", ['Say "go."', "„Seoul“", "I am sorry :(", "You wrote “hosts”.", "As a file ('hosts')", '"""\nx\n"""']
)
def test_a_mark_that_closes_or_is_none_does_not_open(before):
    assert len(read_every_way(f"{before}\n\n{CALL}", talk.TOOLS).calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"> {CALL}",
        f"<!-- {CALL} -->",
        f"<!--\n{UNIT}\n-->",
        f"````\n```json\n{UNIT}\n```\n````",
        f"~~~~markdown\n{CALL}\n~~~~",
        f"| x | {CALL} |",
        f"<blockquote>\n{CALL}\n</blockquote>",
        f"{CALL}\n^ This is quoted from the page.",
    ],
)
def test_quoted_nested_and_commented_calls_are_shown(text):
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)


def test_a_call_that_was_shown_is_named_by_a_repair():
    parsed = parse(f"The page says “{CALL}”.", talk.TOOLS)
    [mended] = parsed.repairs
    assert (mended.kind, mended.before) == ("shown-call", "bash")
    assert "opened quotation" in mended.after


def test_the_end_of_a_call_waits_for_what_comes_after_it():
    """A call that was announced is taken back by what follows; its text comes then, and no end."""
    parser = StreamParser(talk.TOOLS, generation_prompt="")
    deltas = pieces(f"{CALL}\n\nI did not execute the block above.", 5)
    events = [event for delta in deltas for event in parser.feed(delta)]
    events += parser.close()
    assert not any(isinstance(event, CallEnd) for event in events)
    assert parser.calls == ()


@pytest.mark.parametrize("after", [f"\n{CALL}\nbash lists it.", "\n\nWith bash I see it, then I go on." + " " * 300])
def test_the_end_of_a_call_comes_before_the_end_of_the_reply_where_the_prompt_is_known(after):
    parser = StreamParser(talk.TOOLS, generation_prompt="")
    events = parser.feed(CALL + after + "\n\nMore.")
    assert any(isinstance(event, CallEnd) for event in events)


@pytest.mark.parametrize(
    "frame",
    [
        "Wrong: {u}\nRight: {v}",
        "❌ {u}\n✅ {v}",
        "✗ {u}\n✓ {v}",
        "错误：{u}\n正确：{v}",
        "Falsch: {u}\nDa fehlt ein Wert.\nRichtig: {v}",
        "Instead of {u}\nwrite {v}",
        "오답 → {u}\n정답 → {v}",
        "- {u}\n+ {v}",
        "The fixture:\n\n-{u}\n+{v}\n\nNothing else.",
        "@@ -1 +1,3 @@\n a\n+{u}\n+{v}",
    ],
)
@pytest.mark.parametrize("form", [form for form in talk.MORE_FORMS if form not in talk.BLOCKS_ONLY])
def test_two_calls_that_are_set_against_each_other_are_both_shown(frame, form):
    """Issue 15, 1: ticks and crosses are labels, and a label right before the next call answers the first.

    So does the plus of a diff the minus before it: such lines ran in ten forms.
    """
    write = talk.MORE_FORMS[form]
    first, second = write("read_file", {"path": "/etc/hosts"}, ""), write("read_file", {"path": "/etc/passwd"}, "")
    text = frame.format(u=first, v=second)
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)
