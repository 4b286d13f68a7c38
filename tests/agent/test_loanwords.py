"""Korean loanwords meet the English words that they came from."""

from __future__ import annotations

import pytest

from naru.agent.loanwords import sound_alike

WORDS = frozenset("ticket coupon commit project branch monitor design event point list report recipe".split())


@pytest.mark.parametrize(
    ("hangul", "word"),
    [("티켓에", "ticket"), ("쿠폰", "coupon"), ("커밋을", "commit"), ("프로젝트의", "project"), ("브랜치", "branch"),
     ("이벤트", "event"), ("포인트", "point"), ("레시피", "recipe")],
)  # fmt: skip
def test_a_loanword_is_known_by_its_sound_with_or_without_a_particle(hangul: str, word: str) -> None:
    assert sound_alike(hangul, WORDS) == [word]


@pytest.mark.parametrize("hangul", ["사람", "보여줘", "서울", "오늘", "회의"])
def test_other_words_sound_like_none(hangul: str) -> None:
    assert sound_alike(hangul, WORDS) == []


def test_a_first_vowel_that_nobody_would_spell_so_tells_words_apart() -> None:
    assert sound_alike("기분", frozenset({"cabin"})) == []
    assert sound_alike("캐빈", frozenset({"cabin"})) == ["cabin"]
