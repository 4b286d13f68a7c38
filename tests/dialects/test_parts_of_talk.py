"""Calls that a question, ReAct's own lines, an item of a list or a label stands before: issue 15, 1."""

import pytest

from naru.dialects.judging import meaning
from tests.dialects import talk
from tests.dialects.reading import read_every_way

needs_encoder = pytest.mark.skipif(meaning._encoder() is None, reason="needs the extra embed: scripts/bootstrap")
FENCED = '```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```'
ACTION = 'Action: bash\nAction Input: {"command": "ls"}'
HERMES = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
CLINE = "- <bash>\n<command>ls</command>\n</bash>\n- <read_file>\n<path>a</path>\n</read_file>"


def names(text):
    """Return the tools that a text calls; where it calls none all of it is content."""
    parsed = read_every_way(text, talk.TOOLS)
    assert parsed.calls or parsed.content == text.strip()
    return [call.name for call in parsed.calls]


def test_a_question_for_leave_is_not_taken_back_by_what_is_needed():
    assert names(f"Should I run the following? I need your confirmation first.\n\n{FENCED}") == []


@needs_encoder
@pytest.mark.parametrize(
    "before",
    ["要运行以下内容吗？我需要您先确认。", "Soll ich Folgendes ausführen? Ich brauche zuerst Ihre Bestätigung."],
)
def test_a_question_for_leave_in_another_language_is_not_taken_back_either(before):
    assert names(f"{before}\n\n{FENCED}") == []


@pytest.mark.parametrize(
    "before",
    [
        "Is the disk full? Let me look.",
        "Is the disk full? I need the list of files for that.",
        "서버가 살아 있는지 볼까요? 확인하겠습니다.",
        'Here are the calls:\n\n<?xml version="1.0" encoding="UTF-8"?>',
    ],
)
def test_a_question_that_is_answered_by_doing_asks_no_leave(before):
    assert names(f"{before}\n\n{FENCED}") == ["bash"]


@pytest.mark.parametrize("lead", ["ReAct prompts look like:", "Los prompts ReAct son así:", "Zum Beispiel:"])
@pytest.mark.parametrize("after", ["", "\nObservation: two files\n\nand the model goes on from there."])
def test_what_leads_on_to_a_thought_leads_on_to_its_action(lead, after):
    assert names(f"{lead}\n\nThought: the files are needed\n{ACTION}{after}") == []


def test_a_course_of_actions_that_is_shown_is_shown_to_its_end():
    more = 'Thought: next\nAction: read_file\nAction Input: {"path": "a"}\nObservation: b'
    assert names(f"The format is:\nThought: why\n{ACTION}\nObservation: what came\n{more}") == []


@pytest.mark.parametrize("lead", ["", "I'll look it up:\n", "Question: 谁写的？\n"])
@pytest.mark.parametrize("after", ["", "\nObservation: two files\nThought: done\nFinal Answer: two"])
def test_a_thought_of_ones_own_leads_on_to_a_call(lead, after):
    assert names(f"{lead}Thought: Do I need to use a tool? Yes\n{ACTION}{after}") == ["bash"]
    assert names(f"{lead}Thought: 应该搜索。\n{ACTION}{after}") == ["bash"]
    assert names(f"{lead}Thought: I should look for it.\n{ACTION}{after}") == ["bash"]


def test_tags_of_a_client_are_items_of_a_list_as_json_is():
    assert names(f"I'll do both:\n{CLINE}") == ["bash", "read_file"]
    assert names(f"The tags are:\n{CLINE}") == []


@needs_encoder
def test_what_is_still_to_be_done_in_a_list_speaks_of_no_call():
    assert names(f"- [ ] Datei lesen\n- [x] Tests ausführen\n\n{HERMES}") == ["bash"]


@pytest.mark.parametrize("gap", ["\n", " "])
def test_a_label_that_is_a_value_of_its_call_names_what_is_done(gap):
    calls = [f'{{"name": "read_file", "arguments": {{"path": "{path}"}}}}' for path in ("notes", "hosts")]
    assert names(f"notes:{gap}{calls[0]}\n\nhosts:{gap}{calls[1]}") == ["read_file", "read_file"]
    assert names(f"First:{gap}{calls[0]}\n\nThen:{gap}{calls[1]}") == []


@needs_encoder
def test_who_says_before_and_after_a_call_what_is_done_makes_it():
    assert names(f"要回答这个问题需要文件列表，我来调用工具。\n\n{HERMES}\n\n得到结果后我再继续。") == ["bash"]
    assert names(f"要回答这个问题需要文件列表，我来调用工具。\n\n{HERMES}\n\n什么也没有执行。") == []


def test_the_german_word_for_here_is_not_the_french_one_for_yesterday():
    assert names(f"Die Dateien von hier:\n\n{HERMES}") == ["bash"]
