"""Issue 14, 4: a value is compared with what was said by form alone, in any script."""

from __future__ import annotations

import pytest

from naru.agent.small.sources import Sources
from naru.tools.texts import Text, numbers, spans


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("EMP003의 부서를 알려 주세요", "EMP003"),
        ("Wo ist Bestellung ORD-88123?", "ord88123"),
        ("Where is order ord 88123?", "ORD-88123"),
        ("회원 4471의 사물함", 4471),
        ("使用量は１２３４キロ", 1234),
        ("It costs 1,250.50 euros", 1250.5),
        ("Es kostet 1.250,50 Euro", 1250.5),
        ("В Москве ٤٢ грамма", 42),
        ("Wer ist José Núñez?", "josé núñez"),
        ("マドリードの天気は？", "マドリード"),
        ("北京今天天气怎么样？", "北京"),
        ("Room R3, please", "R3"),
        ("member 0042", 42),
        ("Madrid는 어때?", "Madrid"),
        ("Kaito Starはどこ？", "Kaito Star"),
        ('{"rooms":[31,44,"R-7"]}', 31),
        ('{"name":"M\\u00fcller"}', "Müller"),
        ('{"note":"Two days.\\nMadrid first."}', "Madrid"),
    ],
)
def test_a_value_is_found_however_it_is_written(text: str, value: object) -> None:
    assert Text(text).holds(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Order 88123", "8812"),
        ("Order 88123", 123),
        ("Order 88123", 10**400),
        ("the weather in Paris", "par"),
        ("anything", True),
        ("anything", None),
        ("anything", ""),
        ("anything", "--"),
    ],
)
def test_a_part_of_a_word_or_number_is_not_that_value(text: str, value: object) -> None:
    assert not Text(text).holds(value)


def test_spans_are_what_could_be_an_id_or_a_number() -> None:
    assert spans("S-402와 KR/11-B, 그리고 2026-12-03 14:00.") == ["S-402", "KR/11-B", "2026-12-03", "14:00"]
    assert numbers("1 840 visitors") == {1840.0}


def test_a_word_is_not_put_together_from_pieces_of_others() -> None:
    sources = Sources("Is there a book on bees in Korean, or what did Felix Braun say?")
    assert [sources.as_written(one) for one in ("ko", "felixbraun")] == ["ko", "Felix Braun"]
    assert Sources("홍 길동의 번호는?").as_written("홍길동") == "홍 길동"


def test_a_blank_that_a_model_put_beside_a_word_of_the_question_is_no_part_of_it() -> None:
    sources = Sources("How many bikes are at the harbour station?")
    assert [sources.as_written(one) for one in (" harbour station", " Hafen ")] == ["harbour station", " Hafen "]


def test_results_and_earlier_turns_are_sources_too() -> None:
    sources = Sources("And hers?", ["Her card is M-0012."])
    sources.add_result('{"loan": "L-503"}')
    assert sources.hold("M-0012")
    assert sources.hold("l503")
    assert sources.spans() == ["L-503", "M-0012"]


def test_a_question_without_an_id_is_about_those_of_the_turns_before_and_never_about_a_count_in_a_result() -> None:
    sources = Sources("And where does she live?", ["Who is RD-55?"])
    sources.add_result('{"riders": [], "total": 0}')
    assert sources.subject == ["RD-55"]
    assert Sources("Who is Tom?").subject == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("When is Bruno's next visit?", ["Bruno"]),
        ("엘리프 말고 Tom Peters의 잔액은 얼마야?", ["Tom Peters"]),
        ("¿Cuándo sale el Kaito Star?", ["Kaito Star"]),
        ("Qui est le capitaine de l'Aurelia ?", ["Aurelia"]),
        ("samivet 还有库存吗？", ["samivet"]),
        ("Где сейчас Марта Ковальска?", ["Марта Ковальска"]),
        ("Thanks. And who owns MSKU-77120?", []),
        ("마드리드 날씨 어때?", []),
    ],
)
def test_names_are_told_by_capitals_or_by_their_script(text: str, found: list[str]) -> None:
    assert Text(text).names == found
