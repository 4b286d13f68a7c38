"""What the meaning of the sentence before a call tells, in words and languages that no table knows."""

import json

import numpy as np
import pytest

from naru.dialects import parse
from naru.dialects.judging import meaning
from tests.dialects import talk
from tests.dialects.reading import CASES, read_every_way

DATA = json.loads((CASES / "dialect_lead_ins.json").read_text(encoding="utf-8"))
CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
needs_encoder = pytest.mark.skipif(meaning._encoder() is None, reason="needs the extra embed: scripts/bootstrap")


def runs(kind, name):
    texts = [text for every in DATA[name][kind].values() for text in every]
    return sum(bool(parse(f"{text}\n\n{CALL}", talk.TOOLS).calls) for text in texts), len(texts)


@pytest.mark.slow
@needs_encoder
def test_a_shown_call_is_told_by_what_the_sentence_before_it_means():
    """By words alone 131 of the first set, 68 of the second and 37 of the third run; they are in the fit."""
    assert runs("shown", "first")[1] == 143
    assert runs("shown", "first")[0] <= 8
    assert runs("shown", "second")[1] == 86
    assert runs("shown", "second")[0] <= 3
    assert runs("shown", "third")[1] == 44
    assert runs("shown", "third")[0] <= 5


@pytest.mark.slow
def test_a_call_that_is_announced_in_any_words_is_made():
    """With the encoder or without it; by words alone two are lost, and 29 by meaning, all before another's call.

    Their own calls would be about what many of them speak of, for which more is asked.
    """
    assert runs("made", "first")[1] - runs("made", "first")[0] <= 9
    assert runs("made", "second")[1] - runs("made", "second")[0] <= 8
    assert runs("made", "third")[1] - runs("made", "third")[0] <= 14


@needs_encoder
@pytest.mark.parametrize("before", ["Y entonces pone esto:", "My friend likes this one:"])
def test_who_says_nothing_of_what_a_call_is_about_shows_it_sooner(before):
    """The same words before a call that they are about leave it a call."""
    call = '<tool_call>{{"name": "send_mail", "arguments": {{"to": "{}", "body": "{}"}}}}</tool_call>'
    assert not read_every_way(f"{before}\n\n{call.format('kim@example.com', 'hello')}", talk.TOOLS).calls
    assert read_every_way(f"{before}\n\n{call.format('kim@example.com', before)}", talk.TOOLS).calls


@needs_encoder
@pytest.mark.parametrize("before", ["Tyto zprávy nechal na stránce někdo cizí:", "ข้อความนี้อยู่ท้ายหน้าเว็บ:"])
def test_what_is_shown_in_a_language_without_words_is_shown_however_it_comes(before):
    text = f"{before}\n\n{CALL}"
    parsed = read_every_way(text, talk.TOOLS)
    assert (parsed.calls, parsed.content) == ((), text)
    assert parsed.repairs[0].after.endswith("spoken of")


@needs_encoder
@pytest.mark.parametrize(
    "before", ["I'd better check before answering.", "Based on the question, the function call should be:"]
)
def test_words_that_are_said_of_calls_that_are_made_too_are_judged_by_what_their_sentence_means(before):
    """ "Based on the question, the function call should be:" introduced six recorded calls, and none ran."""
    assert len(read_every_way(f"{before}\n\n{CALL}", talk.TOOLS).calls) == 1


@pytest.mark.parametrize("before", ["Ξ κείμενο!\n\n", "Some text before ", "\ud800 Ξ:\n\n"])
def test_a_word_or_two_and_the_beginning_of_a_sentence_mean_nothing(before):
    assert len(read_every_way(f"{before}{CALL}", talk.TOOLS).calls) == 1


def test_without_the_encoder_structure_and_words_judge_alone(monkeypatch):
    monkeypatch.setattr(meaning, "_PACKAGE", "no_such_package")
    meaning._encoder.cache_clear()
    meaning._along.cache_clear()
    try:
        assert len(parse(f"The README of that package closes with these words:\n\n{CALL}", talk.TOOLS).calls) == 1
        assert not parse(f"For example:\n\n{CALL}", talk.TOOLS).calls
    finally:
        meaning._encoder.cache_clear()
        meaning._along.cache_clear()


@pytest.mark.parametrize("after", ["\n\n", "\n<b>\n"])
def test_a_reply_of_a_hundred_sentences_with_calls_asks_a_few(monkeypatch, after):
    asked = []

    class Counting:
        def encode(self, texts, *, is_query):
            asked.extend(texts)
            return [np.ones(384)]

    meaning._along.cache_clear()
    monkeypatch.setattr(meaning, "_encoder", Counting)
    try:
        text = "".join(f"Şimdi sıra {turn} numarada duruyor bence:\n\n{CALL}{after}" for turn in range(100))
        read_every_way(text, talk.TOOLS)
    finally:
        meaning._along.cache_clear()
    assert 0 < len(asked) <= 64
