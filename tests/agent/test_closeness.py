"""Tools chosen by meaning beside words: H13."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from naru.agent.closeness import ASKING, ORDERING, Closeness
from naru.agent.closeness import TALK as TALK_POLES
from naru.agent.hooks import Hooks
from naru.agent.limits import Limits
from naru.agent.loop import run
from naru.agent.selection import first_of, index_of
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.errors import UpstreamError
from naru.messages import ChatRequest, Message, ToolDefinition
from naru.models.scripted import ScriptedBackend
from naru.stores.kept.vectors import VectorShelf

WORDS = {
    "get_weather": "Forecast of rain, sun and temperature for a place.",
    "send_invoice": "Bills a customer for an order.",
    "play_song": "Starts a piece of music in the living room.",
    "book_flight": "Reserves a seat in an aeroplane.",
    "translate": "Puts a text into another language.",
    "read_mail": "Shows new messages in the inbox.",
}
TOOLS = [ToolDefinition(name=name, description=text, input_schema={}) for name, text in WORDS.items()]
AXES = {"weather": ("forecast", "umbrella"), "music": ("music", "tune"), "money": ("bills", "charge")}


class Axes:
    """An embedder that knows three meanings; counts what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fault: Exception | None = None

    async def embed(self, texts: Sequence[str], kind: str) -> list[list[float]]:
        if self.fault is not None:
            raise self.fault
        self.texts += texts
        return [[float(any(word in text.lower() for word in words)) for words in AXES.values()] for text in texts]


class Offering:
    """The tools as a Toolset."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def tools(self) -> Sequence[ToolDefinition]:
        return TOOLS

    async def call(self, name, arguments, context): ...


async def names(closeness: Closeness, question: str, most: int = 1) -> list[str]:
    return [tool.name for tool in first_of(await closeness.rank(TOOLS, [question]), TOOLS, most)]


async def test_h13_a_question_without_a_common_word_finds_its_tool_by_meaning() -> None:
    closeness = Closeness(Axes().embed)
    assert await names(closeness, "Will I need an umbrella?") == ["get_weather"]
    assert await names(closeness, "Hum me a tune") == ["play_song"]


async def test_h13_a_question_with_the_tools_own_words_finds_it_whatever_the_vectors_say() -> None:
    assert "translate" in await names(Closeness(Axes().embed), "translate this text into another language", 2)


async def test_each_text_is_embedded_once_and_an_edited_tool_anew() -> None:
    axes = Axes()
    closeness = Closeness(axes.embed)
    for question in ("a tune", "an umbrella", "a charge"):
        await names(closeness, question)
    poles = len([*ASKING.split("? "), *ORDERING.split(". "), *TALK_POLES])
    texts = 2 * len(TOOLS)  # with its parameters, and without
    assert len(axes.texts) == texts + poles + 3
    edited = [*TOOLS[:-1], ToolDefinition(name="read_mail", description="Another text.", input_schema={})]
    await closeness.rank(edited, ["a tune"])
    assert len(axes.texts) == texts + poles + 3 + 2 + 1


async def test_issue_14_2_a_new_start_embeds_no_tool_that_is_on_the_shelf(tmp_path: Path) -> None:
    axes, later = Axes(), Axes()
    many = [ToolDefinition(f"tool_{number}", f"Does the thing number {number}.") for number in range(500)]
    first = await Closeness(axes.embed, VectorShelf(tmp_path / "vectors.db")).rank(many, ["a tune"])
    again = await Closeness(later.embed, VectorShelf(tmp_path / "vectors.db")).rank(many, ["a tune"])
    assert len(axes.texts) > len(many)
    assert [text for text in later.texts if "thing number" in text] == []
    assert [one.tool.name for one in again] == [one.tool.name for one in first]


async def test_a_shelf_that_cannot_be_read_leaves_the_choice_to_words(tmp_path: Path) -> None:
    (tmp_path / "vectors.db").write_text("no database", encoding="utf-8")
    closeness = Closeness(Axes().embed, VectorShelf(tmp_path / "vectors.db"))
    assert "translate" in await names(closeness, "translate this text into another language", 1)


async def test_issue_14_2_what_was_said_before_finds_the_tool_of_a_follow_up() -> None:
    ranked = await Closeness(Axes().embed).rank(TOOLS, ["And tomorrow?", "Do I need an umbrella?\nAnd tomorrow?"])
    assert ranked[0].tool.name == "get_weather"
    assert ranked[0].closeness == 0, "to the question itself"


async def test_an_embedder_that_fails_leaves_the_choice_to_words(caplog: pytest.LogCaptureFixture) -> None:
    axes = Axes()
    closeness = Closeness(axes.embed)
    axes.fault = UpstreamError("the endpoint is away.")
    question = "translate a text"
    for _ in range(3):
        ranked = await closeness.rank(TOOLS, [question])
        assert first_of(ranked, TOOLS, 2) == first_of(index_of(TOOLS).rank(question), TOOLS, 2)
        assert ranked[0].closeness is None
    assert caplog.text.count("the endpoint is away") == 1, "said once"


@pytest.mark.parametrize("most", [0, 6, 60])
async def test_nothing_is_embedded_where_nothing_is_chosen(most: int) -> None:
    axes = Axes()
    backend = ScriptedBackend(["Fine."])
    request = ChatRequest("scripted", [Message("user", "a tune")])
    async for _ in run(
        backend, Offering(), request, limits=Limits(max_tools=most), hooks=Hooks(rank=Closeness(axes.embed).rank)
    ):
        pass
    assert list(backend.requests[0].tools) == TOOLS
    assert axes.texts == []


async def test_odd_vectors_and_questions_are_no_exception() -> None:
    async def embed(texts: Sequence[str], kind: str) -> list[list[float]]:
        return [[] if kind == "query" else [0.0] * (position % 3) for position, _ in enumerate(texts)]

    for question in ("", "x" * 10_000, "\ud800"):
        assert len(await names(Closeness(embed), question, 2)) == 2


async def test_a_run_offers_what_the_hook_ranked_first() -> None:
    backend = ScriptedBackend(["Fine."])
    request = ChatRequest("scripted", [Message("user", "Will I need an umbrella?")])
    hooks = Hooks(rank=Closeness(Axes().embed).rank)
    async for _ in run(backend, Offering(), request, limits=Limits(max_tools=1), hooks=hooks):
        pass
    assert [tool.name for tool in backend.requests[0].tools] == ["get_weather"]


@pytest.fixture(scope="module")
def meaning(encoder: SentenceEncoder) -> Closeness:
    """Closeness by the embedded encoder, which these tests may share: each text is embedded once."""
    return Closeness(encoder.embed)


@pytest.mark.slow
async def test_h13_the_embedded_model_finds_meaning_in_korean_and_english(meaning: Closeness) -> None:
    questions = {
        "Do I have to take an umbrella tomorrow?": "get_weather",
        "내일 우산을 챙겨야 할까?": "get_weather",
        "Put on some jazz": "play_song",
        "I want to go to Paris by plane": "book_flight",
    }
    found = {question: await names(meaning, question, 2) for question in questions}
    right = sum(expected in found[question] for question, expected in questions.items())
    print(f"H13: {right} of {len(questions)} questions find their tool among 2 of {len(TOOLS)}: {found}")
    assert right >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "is_talk"),
    [
        ("Thanks, that was very helpful!", True),
        ("안녕! 오늘 기분 어때?", True),
        ("Grazie mille, a presto!", True),
        ("¿Qué es un documental? Explícamelo en una frase.", True),
        ("나 오늘 너무 우울해. 위로해 줘.", True),
        ("Я устал. Подбодри меня.", True),
        ("What's on our plate?", False),
        ("В спальне холоднее двадцати градусов?", False),
        ("S-410 这场还剩几个座位？", False),
        ("토요일에는 몇 시부터 운동할 수 있어?", False),
    ],
)
async def test_issue_14_3_talk_lies_near_talk_in_every_language_and_questions_do_not(
    meaning: Closeness, text: str, is_talk: bool
) -> None:
    ranked = await meaning.rank(TOOLS, [text])
    assert ranked[0].is_talk is is_talk


KNOWING = (
    "What did they order under 5199?",
    "When will order 5101 be picked up?",
    "Who cancelled B7731?",
    "Was kostet Zaldorin?",
    "Worum geht es bei Schaden 731?",
    "¿Cuándo se pagó la factura 88?",
    "À qui est la réservation RSV-2202 ?",
    "티켓 420은 누가 닫았어?",
    "보험 KV-20031은 1년에 얼마야?",
    "予約B7731は誰の名前ですか？",
    "电表 MZ-6127 在2026年10月用了多少度？",
    "Сколько стоит билет на S-401?",
    "A che ora comincia Night Orchard?",
    "Ile sztuk zostało na dzisiaj?",
    "Is B7731 cancelled already?",
    "TK-8812は払い戻しできますか？",
)
DOING = (
    "Order three rye loaves for customer c-17.",
    "Would it be possible to cancel B7731?",
    "Why don't you close ticket 412?",
    "I lost my pass SP-60117.",
    "And SP-60117 too.",
    "Yes, please.",
    "Kannst du mir für morgen das Segelflugzeug D-4410 reservieren?",
    "¿Puedo reservar D-4410 para el viernes?",
    "Je voudrais m'abonner à ce podcast.",
    "예약 B7731 취소할 수 있어?",
    "RX5001 처방전 다시 채워 줄래?",
    "D-4410、金曜日に予約できますか？",
    "能不能帮我停掉JOB-881？",
    "Можно отменить бронь B7731?",
    "Pode encomendar dois pães para o cliente c-17?",
    "Anuluj rezerwację B7731.",
    "B7731 rezervasyonunu iptal et.",
)


@pytest.mark.slow
async def test_issue_14_who_wants_to_know_something_is_told_from_who_wants_it_done_in_every_language(
    meaning: Closeness,
) -> None:
    is_to_know = {one: (await meaning.rank(TOOLS, [one]))[0].is_to_know for one in (*KNOWING, *DOING)}
    follow_up = (await meaning.rank(TOOLS, ["And 5102?", "Cancel order 5101.\nAnd 5102?"]))[0]
    assert [one for one in DOING if is_to_know[one]] == [], "an order passes for a question"
    assert [one for one in KNOWING if not is_to_know[one]] == []
    assert not follow_up.is_to_know
