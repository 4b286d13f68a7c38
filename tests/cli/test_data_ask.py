"""Issue 20, lines 4 and 6: `naru data ask` from question to rows and a sentence, over an endpoint's recorded shapes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.models.fake_endpoint import FakeEndpoint, Reply, delta, json_reply, serve, sse
from typer.testing import CliRunner

from naru.cli.data.command import app
from naru.cli.terminal.exit_codes import Exit

pytestmark = pytest.mark.slow  # each database is a process of its own

SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), amount REAL);
INSERT INTO customer VALUES (1, 'Kim', 'Seoul'), (2, 'Lee', 'Busan');
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7);
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NARU_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("NARU_HOME", str(tmp_path))
    for name in ("TEXT_EMBEDDING_MODEL_URL", "CHROMADB_HOST", "NARU_DATABASE_URL"):
        monkeypatch.setenv(name, "")
    for name in ("TwoEncoders", "SentenceEncoder"):
        monkeypatch.setattr(f"naru.builtins.data.embeddings.choose.{name}.is_installed", lambda: False)
    with sqlite3.connect(tmp_path / "shop.db") as made:
        made.executescript(SHOP)
    made.close()
    return tmp_path / "shop.db"


async def ask(shop: Path, question: str, texts: Sequence[str], *flags: str) -> tuple[Result, list[str]]:
    """Ask with a model that writes these texts; give what came, and what the model was asked."""
    left = list(texts)

    def answers(body: dict[str, Any]) -> Reply:
        if "messages" not in body:
            return json_reply({"object": "list", "data": [{"id": "m", "object": "model"}]})
        return Reply(sse(delta(content=left.pop(0)), delta("stop")))

    async with serve(answers) as fake:
        words = ["ask", question, "--database", str(shop), "--base-url", fake.base_url, "--model", "m", *flags]
        result = await asyncio.to_thread(CliRunner().invoke, app, words)
    return result, asked_of(fake)


def asked_of(fake: FakeEndpoint) -> list[str]:
    return [body["messages"][-1]["content"] for body in fake.bodies if "messages" in body]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("서울(Seoul) 고객의 주문 합계는 얼마입니까?", "Korean"),
        ("¿Cuál es la suma de los pedidos de los clientes de Seoul?", "Spanish"),
        ("Wie hoch ist die Summe aller Bestellungen der Kunden aus Seoul?", "German"),
        ("What is the sum of the orders of customers from Seoul?", "English"),
    ],
)
async def test_rows_stand_on_stdout_and_are_told_in_the_questions_language(shop: Path, question: str, language: str):
    pytest.importorskip("py3langid", reason="install the extra `local`")
    pytest.importorskip("sqlglot", reason="install the extra `local`")
    sql = "SELECT SUM(amount) AS total FROM orders WHERE city = 'seoul'"
    result, asked = await ask(shop, question, [f"```sql\n{sql};\n```", "15."])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == ['{"total": 15.0}', "15."]
    assert "JOIN customer ON customer.id = orders.customer_id WHERE customer.city = 'Seoul'" in result.stderr
    assert f"in one or two sentences in {language}." in asked[-1]


async def test_that_nothing_was_found_is_told_as_such(shop: Path):
    result, asked = await ask(shop, "Who lives in Jeju?", ["SELECT name FROM customer WHERE city = 'Jeju'", "Nobody."])
    assert result.stdout.splitlines() == ["Nobody."]
    assert "as JSON rows: none; nothing in the database is so" in asked[-1]


async def test_why_no_statement_answered_is_explained_with_the_way_on(shop: Path):
    texts = ["SELECT price FROM orders", "SELECT prices FROM orders", "DROP TABLE orders"]
    result, asked = await ask(shop, "What do things cost?", texts)
    assert result.exit_code == Exit.NOT_WELL
    assert not result.stdout
    assert "No statement answered the question. The last one was 'DROP TABLE orders'" in result.stderr
    assert "Ask in other words, or with a larger model: `naru data ask --model …`." in result.stderr
    assert "no such column: price" in asked[1]
    assert len(asked) == 3, "nothing is told where nothing was found"


async def test_json_holds_what_was_tried(shop: Path):
    texts = ["SELECT nope FROM orders", "SELECT COUNT(*) AS n FROM orders", "Three."]
    result, _ = await ask(shop, "How many orders?", texts, "--json")
    told = json.loads(result.stdout)
    assert (told["records"], told["answer"], told["truncated"]) == ([{"n": 3}], "Three.", False)
    assert ["no such column" in one["told"] for one in told["failures"]] == [True]
