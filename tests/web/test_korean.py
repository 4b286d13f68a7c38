"""What the hub says is read in Korean where Korean is asked for; what servers and persons wrote stays as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
import yaml

import naru
from naru.config import Settings
from naru.hub import Hub, open_hub
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord
from naru.web.app import open_app
from naru.web.korean import in_korean, known_in_korean
from tests.syntax import parsed
from tests.waiting import until

SOURCE = Path(naru.__file__).parent
CATALOGUE = SOURCE / "web" / "korean.txt"
KOREAN = {"Accept-Language": "ko"}
SHOWN = (
    "connections", "web/admin", "web/console", "web/bodies.py", "stores", "tools/supervision", "telemetry/audit.py",
    "telemetry/audit_file.py",
)  # fmt: skip
"""Where what the console shows is made."""
ELSEWHERE = (
    "connections/wire/", "stores/backup.py", "stores/embedded_postgres.py", "stores/serving_lock.py", "stores/open.py",
    "stores/shared/open.py",
)  # fmt: skip
"""Said to the makers of servers, or at the start and by commands, never in the console."""
OF_OTHERS = re.compile(
    r"(?:Connection|No route|Network|Field|Input|String) .*|\{\} is (?:a required|not of|less|greater|shorter) .*"
    r"|For \{\}, at stage .*"
)
"""Words of the system, of pydantic and of the reader of schemas, and what is put together of small parts."""
MAKERS = re.compile(r"(?!Assertion)\w*Error|Failure")


def rows() -> dict[str, str]:
    blocks = CATALOGUE.read_text(encoding="utf-8").split("\n\n")
    kept = [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]
    return {block[0]: block[1] for block in kept if block}


def literal(node: ast.expr) -> str | None:
    """The text of a literal with {} for what varies; None where all of it does."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def said() -> Iterator[tuple[str, str]]:
    """Each sentence that is handed to an error or a failure as a literal, with the file that it stands in."""
    for shown in SHOWN:
        place = SOURCE / shown
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = str(file.relative_to(SOURCE))
            if name.startswith(ELSEWHERE):
                continue
            for call in ast.walk(parsed(file.read_text(encoding="utf-8"))):
                if not isinstance(call, ast.Call) or not MAKERS.fullmatch(ast.unparse(call.func).split(".")[-1]):
                    continue
                for given in (*call.args, *(one.value for one in call.keywords if one.arg == "remedy")):
                    text = literal(given)
                    if text and re.search(r"\w+ \w+ \w+", text):
                        yield name, text


def filled(text: str) -> str:
    """A sentence with something in each of its gaps."""
    numbers = iter(range(9))
    return re.sub(r"\{\}", lambda _: f"value{next(numbers)}", text)


def test_every_sentence_that_the_console_shows_is_known_in_korean_with_all_that_varies_in_it() -> None:
    sentences = sorted(set(said()))
    assert len(sentences) > 80
    for file, text in sentences:
        if text.startswith("{};") or not re.search(r"[a-z]{2,} [a-z]{2,}", text.replace("{}", "")):
            continue  # it is put together of parts that are sentences themselves
        korean = known_in_korean(filled(text))
        assert korean, f"{file}: no row of korean.txt is {text!r}"
        for value in re.findall(r"value\d", filled(text)):
            assert value in korean, text


@pytest.mark.slow
def test_no_row_is_left_over_and_each_is_korean_with_gaps_of_its_own() -> None:
    texts = []
    for file in SOURCE.rglob("*.py"):
        tree = parsed(file.read_text(encoding="utf-8"))
        texts += [text for node in ast.walk(tree) if isinstance(node, ast.expr) and (text := literal(node))]
    everything = re.sub(r"\{\w*\}", "{}", "\n".join(dict.fromkeys(texts)))
    for row, korean in rows().items():
        assert re.search("[가-힣]", korean), row
        assert set(re.findall(r"\{(\d)!?\}", korean)) <= {str(number + 1) for number in range(row.count("{}"))}, row
        own = max(row.split("{}"), key=len).strip(" .:;()")
        if not re.fullmatch(r"(?:api|server):\w+", row) and not OF_OTHERS.fullmatch(row):
            assert own[:12] in everything or own[-12:] in everything, row


def test_every_code_of_the_reference_has_a_row() -> None:
    listed = yaml.safe_load((SOURCE.parents[1] / "docs" / "reference" / "errors.yaml").read_text(encoding="utf-8"))
    for section in ("api", "server"):
        codes = [code for code in listed[section] if not code.startswith("http_")]
        assert [code for code in codes if f"{section}:{code}" not in rows()] == []


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        (
            "Just now, at stage connect: no connection to http://127.0.0.1:9: Connection refused. "
            "Next try in 3 s (attempt 1 of 8), or with the next call.",
            "방금 연결 단계에서: http://127.0.0.1:9에 연결할 수 없습니다: 연결 거부. "
            "3초 뒤(8번 중 1번째) 또는 다음 호출 때 다시 시도합니다.",
        ),
        (
            "Start the server, or check its URL. Then connect it again.",
            "서버를 시작하거나 URL을 확인하세요. 그런 다음 다시 연결하세요.",
        ),
        ("config.url: Field required.", "config.url: 꼭 필요합니다"),
        (
            "The model endpoint http://127.0.0.1:9/v1 cannot be reached: Connection refused. "
            "Check that the model server runs and that the base URL is right.",
            "모델 서버 http://127.0.0.1:9/v1에 닿을 수 없습니다: 연결 거부. "
            "모델 서버가 실행 중인지, 기본 주소가 맞는지 확인하세요.",
        ),
        ("The server's own words.", "The server's own words."),
        (
            "Not signed in: This sign-in was begun by somebody else; it was not used. Begin it again.",
            "로그인하지 못했습니다: 다른 사람이 시작한 로그인이라 쓰지 않았습니다. 다시 시작하세요.",
        ),
        # What a server said stands in it as it came, also when it sounds as one of ours.
        (
            "tools/list was refused: Try again..",
            "tools/list가 거절되었습니다: Try again..",
        ),
    ],
)
def test_sentences_of_the_hub_are_read_in_korean(english: str, korean: str) -> None:
    assert in_korean(english) == korean


def test_what_is_not_known_is_told_by_its_code_with_the_words_behind_it() -> None:
    assert (
        in_korean("A new sentence.", "server:busy") == "서버가 바쁩니다. 잠시 뒤에 다시 시도하세요. (A new sentence.)"
    )


@asynccontextmanager
async def hub_and_client(folder: Path) -> AsyncIterator[tuple[Hub, httpx.AsyncClient]]:
    settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            yield hub, client


async def test_refusals_are_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    async with hub_and_client(tmp_path) as (_, client):
        plain = await client.get("/api/mcp/servers/없음")
        korean = await client.get("/api/mcp/servers/없음", headers={"Accept-Language": "ko-KR,ko;q=0.9,en;q=0.8"})
        nothing = await client.get("/api/nothing", headers=KOREAN)
        english = await client.get("/api/nothing", headers={"Accept-Language": "en-US,ko;q=0.5"})
    assert plain.json()["detail"] == "No server named '없음' is registered."
    assert korean.json()["detail"] == "'없음'(이)라는 서버가 없습니다."
    assert korean.json()["code"] == plain.json()["code"]
    assert korean.status_code == plain.status_code == 404
    assert korean.headers["content-language"] == "ko"
    assert "Accept-Language" in korean.headers["vary"]
    assert nothing.json()["detail"] == "/api/nothing에는 아무것도 없습니다."
    assert english.json()["detail"] == "There is nothing at /api/nothing."


async def test_the_state_of_a_server_is_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    async with hub_and_client(tmp_path) as (hub, client):
        record = ServerRecord(name="lost", config={"url": "http://127.0.0.1:9/mcp"}, auto_connect=False)
        await hub.manager.register(record)
        resting = (await client.get("/api/mcp/servers/lost", headers=KOREAN)).json()["explanation"]
        refused = (await client.post("/api/mcp/servers/lost/connect", headers=KOREAN)).json()
        await until(lambda: hub.manager.explain("lost").failure)
        shown = (await client.get("/api/mcp/servers/lost", headers=KOREAN)).json()
        listed = (await client.get("/api/console/servers", headers=KOREAN)).json()["servers"]
        plain = (await client.get("/api/mcp/servers/lost")).json()["explanation"]
    assert resting["summary"] == "등록되었고 아직 연결하지 않았습니다."
    for explanation in (refused["explanation"], shown["explanation"]):
        assert "http://127.0.0.1:9에 연결할 수 없습니다: 연결 거부" in explanation["summary"]
        assert "서버를 시작하거나 URL을 확인하세요." in explanation["remedy"]
    assert "연결할 수 없습니다" in refused["detail"]
    assert "(" not in refused["remedy"]
    assert listed[0]["why"] == "http://127.0.0.1:9에 연결할 수 없습니다: 연결 거부."
    assert "no connection to http://127.0.0.1:9: Connection refused." in plain["summary"]


async def test_a_call_that_was_not_made_says_so_in_korean(tmp_path: Path) -> None:
    async with hub_and_client(tmp_path) as (_, client):
        body = {"name": "none__such", "arguments": {}}
        result = (await client.post("/api/tools/call", json=body, headers=KOREAN)).json()
    assert result["content"][0]["text"] == "도구 'none__such'이(가) 없습니다. 제공하는 도구가 하나도 없습니다."
