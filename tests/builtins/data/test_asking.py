"""Issue 20, line 4: columns found, tables joined, a statement under a grammar, run, repaired twice at most, told."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from llguidance import LLMatcher
from llguidance.gbnf_to_lark import gbnf_to_lark

from naru.builtins.data.asking.ask import REPAIRS, ask
from naru.builtins.data.asking.grammar import select_grammar
from naru.builtins.data.asking.joins import connected, links_of
from naru.builtins.data.asking.scope import Scope, Value, find_scope, named_values
from naru.builtins.data.databases.catalogue import Catalogue, Column, Table
from naru.builtins.data.databases.database import Database
from naru.builtins.data.databases.sqlite import SqliteDatabase
from naru.builtins.data.sources import DataSources
from naru.builtins.data.toolset import data_toolset
from naru.config import DataSettings
from naru.tools.toolset import CallContext

SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), amount REAL);
CREATE TABLE item (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id), product TEXT);
CREATE TABLE weather (day TEXT, degrees REAL);
INSERT INTO customer VALUES (1, 'Kim', 'Seoul'), (2, 'Lee', 'Busan');
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7);
INSERT INTO item VALUES (1, 1, 'lamp');
"""
RIGHT = "SELECT SUM(orders.amount) FROM customer JOIN orders ON customer.id = orders.customer_id WHERE city = 'Seoul'"


@dataclass
class Scripted:
    """Writes what it is told to, and keeps what it was asked."""

    texts: list[str]
    prompts: list[str] = field(default_factory=list)
    grammars: list[str] = field(default_factory=list)

    async def write(self, prompt: str, *, grammar: str = "", max_tokens: int = 300) -> str:
        self.prompts.append(prompt)
        self.grammars.append(grammar)
        return self.texts.pop(0)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.executescript(SHOP)
    shop.close()
    return SqliteDatabase(DataSettings(naru_database_url=str(tmp_path / "shop.db"), _env_file=None))


async def nearest(question: str, count: int) -> list[tuple[str, str, float]]:
    return [("orders", "amount", 0.8), ("customer", "city", 0.6)]


async def test_a_question_is_answered_and_the_second_try_hears_the_databases_words(database: Database):
    writer = Scripted([RIGHT.replace("orders.amount", "orders.price"), RIGHT, "서울의 합계는 15입니다."])
    asked = await ask("서울(Seoul) 고객의 주문 합계는?", await database.catalogue(), nearest, database, writer)
    assert asked.result is not None
    assert [list(row.values()) for row in asked.result.records] == [[15.0]]
    assert asked.answer == "서울의 합계는 15입니다."
    assert "no such column: orders.price" in writer.prompts[1]
    assert "customer.city has the value 'Seoul'" in writer.prompts[0]
    assert "orders.customer_id = customer.id" in writer.prompts[0]
    assert "weather" not in writer.prompts[0]
    assert "in Korean" in writer.prompts[2]
    assert writer.grammars[2] == ""


async def test_it_is_repaired_twice_at_most_and_a_write_is_never_run(database: Database):
    writer = Scripted(["DELETE FROM orders", "SELECT nope", "SELECT none"])
    asked = await ask("How many orders?", await database.catalogue(), nearest, database, writer)
    assert asked.result is None
    assert len(asked.failures) == 1 + REPAIRS
    assert (await database.query("SELECT count(*) AS n FROM orders")).records == [{"n": 3}]
    same = Scripted(["SELECT nope", "SELECT nope", "SELECT nope"])
    assert len((await ask("?", await database.catalogue(), nearest, database, same)).failures) == 1
    assert len(same.texts) == 1, "the same statement again is not tried a third time"


async def test_the_scope_is_what_the_question_means_and_what_lies_between(database: Database):
    catalogue = await database.catalogue()

    async def ends(question: str, count: int) -> list[tuple[str, str, float]]:
        return [("customer", "name", 0.5), ("item", "product", 0.4)]

    scope = await find_scope("Which names bought a lamp?", catalogue, ends, database)
    assert {table.name for table in scope.tables} == {"customer", "orders", "item"}
    assert scope.values == [Value("item", "product", "lamp")]
    assert await named_values("?", catalogue, database) == []


async def test_tables_without_keys_are_joined_by_the_names_of_their_columns(tmp_path: Path):
    with sqlite3.connect(tmp_path / "a.db") as made:
        made.executescript(
            "CREATE TABLE author (aid INT, name TEXT); CREATE TABLE writes (aid INT, pid INT);"
            "CREATE TABLE papers (pid INT, title TEXT); CREATE TABLE reviews (id INT, paper_id INT)"
        )
    made.close()
    catalogue = await SqliteDatabase(DataSettings(naru_database_url=str(tmp_path / "a.db"), _env_file=None)).catalogue()
    links = links_of(catalogue)
    assert {(frozenset({link.table, link.other}), link.columns) for link in links} == {
        (frozenset({"author", "writes"}), (("aid", "aid"),)),
        (frozenset({"writes", "papers"}), (("pid", "pid"),)),
    }
    names = [table.name for table in catalogue.tables]
    assert connected(["author", "papers"], links, names, most=4) == ["author", "writes", "papers"]


def test_issue_20_4_a_table_without_a_key_is_joined_by_the_first_column_that_another_has_too():
    def table(name: str, *columns: str) -> Table:
        return Table(name, [Column(column, "text") for column in columns])

    towns = table("geographic", "city_name", "region")
    dishes = table("restaurant", "id", "name", "city_name")
    places = table("location", "restaurant_id", "street", "city_name")
    people = table("cook", "name", "id", "mood")
    found = {(link.table, link.other, link.columns) for link in links_of(Catalogue((towns, dishes, places, people)))}
    assert found == {
        ("restaurant", "location", (("id", "restaurant_id"),)),
        ("geographic", "restaurant", (("city_name", "city_name"),)),
        ("geographic", "location", (("city_name", "city_name"),)),
    }


def test_issue_20_4_names_that_end_as_a_key_does_or_tell_of_a_table_join_it_and_measures_do_not():
    def table(name: str, *columns: str) -> Table:
        kinds = {"population": "bigint", "amount": "bigint"}
        return Table(name, [Column(column, kinds.get(column, "text")) for column in columns])

    def found(*tables: Table) -> set[tuple[str, str, tuple[tuple[str, str], ...]]]:
        return {(link.table, link.other, link.columns) for link in links_of(Catalogue(tables))}

    customers, deals = table("customer", "cust_id", "name"), table("deal", "tx_id", "tx_cust_id", "amount")
    assert found(customers, deals, table("visitor", "uid")) == {("customer", "deal", (("cust_id", "tx_cust_id"),))}
    offers, terms = table("offering", "offering_id", "semester"), table("semester", "semester_id", "year")
    assert found(offers, terms) == {("offering", "semester", (("semester", "semester_id"),))}
    towns, states = table("city", "population", "state_name"), table("state", "population", "state_name")
    assert found(towns, states) == {("city", "state", (("state_name", "state_name"),))}
    assert found(table("lake", "amount", "depth"), table("sea", "amount", "salt")) == set()


async def test_the_grammar_takes_the_found_names_and_no_others(database: Database):
    catalogue = await database.catalogue()
    tables = [table for table in catalogue.tables if table.name in ("customer", "orders")]
    scope = Scope(tables, links_of(catalogue), ())
    for dialect in ("PostgreSQL", "SQLite", "DuckDB", "MySQL"):
        grammar = select_grammar(scope, dialect)
        lark = gbnf_to_lark(grammar)
        assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(lark)), dialect
        assert '" ELSE " (leaf | "NULL")' in grammar, "or the model takes it for a table's name"
        assert '"city"' in grammar
        assert "weather" not in grammar
        (measures,) = (line for line in grammar.splitlines() if line.startswith("measure ::="))
        assert '"amount"' in measures
        assert '"city"' not in measures, "words are never summed up"


async def test_any_client_takes_the_same_steps_as_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("TwoEncoders", "SentenceEncoder"):
        monkeypatch.setattr(f"naru.builtins.data.embeddings.choose.{name}.is_installed", lambda: False)
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.executescript(SHOP)
    shop.close()
    settings = DataSettings(
        naru_database_url=str(tmp_path / "shop.db"), naru_data_dir=tmp_path, chromadb_host="",
        text_embedding_model_url="", _env_file=None,
    )  # fmt: skip
    sources = DataSources(settings)
    toolset, context = data_toolset(sources), CallContext(timeout_seconds=30)
    definition = await toolset.definition("query_bga_database")
    assert "the SQLite database" in definition.description, "a model that sees this tool alone writes SQLite's SQL"
    told = await toolset.call("describe_tables", {"question": "amount of the orders from Seoul"}, context)
    assert told.text.startswith("-- SQLite\nCREATE TABLE ")
    assert "orders.customer_id = customer.id" in told.text
    assert "customer.city has the value 'Seoul'" in told.text
    rows = await toolset.call("query_bga_database", {"generated_sql": RIGHT}, context)
    assert rows.structured["data"]["content"]["row_count"] == 1
    found = await toolset.call("get_sim_search", {"query_list": ["city"], "n_results": 1}, context)
    assert found.structured["result"] == [["customer.city (text); values: Busan, Seoul"]]
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as shop:
        shop.execute("ALTER TABLE customer RENAME COLUMN city TO town")
    old = await toolset.call("query_bga_database", {"generated_sql": "SELECT city FROM customer"}, context)
    assert old.is_error
    told = await toolset.call("describe_tables", {"question": "customers of which town?"}, context)
    assert "town text" in told.text
    assert "city" not in told.text, "a statement that failed has the catalogue read anew"
    assert ("customer", "town") in [one[:2] for one in await sources.find_columns("town", 3)]
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as shop:
        shop.execute("ALTER TABLE customer RENAME COLUMN town TO place")
    assert "town text" in (await toolset.call("describe_tables", {"question": "customers"}, context)).text
    monkeypatch.setattr("naru.builtins.data.sources.CATALOGUE_SECONDS", 0.0)
    assert "place text" in (await toolset.call("describe_tables", {"question": "customers"}, context)).text
    found = await toolset.call("get_sim_search", {"query_list": ["place"], "n_results": 1}, context)
    assert found.structured["result"] == [["customer.place (text); values: Busan, Seoul"]]
    await toolset.close()
    await sources.close()
