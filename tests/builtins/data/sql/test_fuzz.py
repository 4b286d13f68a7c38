"""Statements made by mutating attacks and legitimate queries: none of them changes anything (S-45)."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError, RefusedStatementError
from naru.builtins.data.databases.postgresql.database import DatabaseOptions
from tests.builtins.data.servers import CASES, BgaServer
from tests.builtins.data.sql.test_guard import REFUSED
from tests.sizes import sized

COUNT = sized(5_000, 20_000)
BATCH = 500
SEED = 20261128

CASES_OF_BOTH_KINDS = [json.loads(line) for line in (CASES / "sql.jsonl").read_text(encoding="utf-8").splitlines()]
SEEDS = [case["sql"] for case in CASES_OF_BOTH_KINDS if case["category"] not in ("dos", "nested", "bounded")] + REFUSED
DANGEROUS = (
    *("pg_read_file('PG_VERSION')", "lo_create(0)", "wipe_docs()", "run_sql('DELETE FROM docs')", "nextval('lot_seq')"),
    *("set_config('transaction_read_only', 'off', false)", "pg_advisory_lock(7)", "lo_from_bytea(0, 'x')", "(d).purge"),
    *(
        "query_to_xml('DELETE FROM docs', true, true, '')",
        "dblink_exec('', 'DELETE FROM docs')",
        "setval('lot_seq', 9)",
    ),
    *("pg_terminate_backend(pg_backend_pid())", "1 OPERATOR(public.~~!) 2", "(0.001).pg_sleep", "txid_current()"),
)
SPLICES = (
    *(
        "; DELETE FROM docs",
        "; COMMIT; DROP TABLE docs",
        ") naru_text; DELETE FROM docs; --",
        "'; DELETE FROM docs; --",
    ),
    *(
        "/*",
        "*/",
        "--",
        "\n",
        "\u00a0",
        "\ufeff",
        "'",
        '"',
        "$$",
        "$a$",
        "E'\\'",
        "U&'\\0027'",
        ";",
        "\\",
        "%s",
        "\x00",
    ),
    *(" UNION ALL SELECT ", " INTO evil ", " FOR UPDATE ", " RETURNING * ", "(", ")", ", ", " AS ", "::regclass", ".*"),
    *(
        "WITH w AS (DELETE FROM docs RETURNING 1) ",
        "EXPLAIN ANALYZE ",
        "COPY (",
        ") TO PROGRAM 'true'",
        "BEGIN;",
        "SET ",
    ),
)


LEGITIMATE = [case["sql"].rstrip("; ") for case in CASES_OF_BOTH_KINDS if case["expect"] == "allow"]
FRAMES = (
    "SELECT * FROM ({a}) a CROSS JOIN ({b}) b LIMIT 3",
    "WITH a AS ({a}) SELECT {x} FROM a LIMIT 3",
    "WITH a AS MATERIALIZED ({a}), b AS ({b}) SELECT count(*) FROM a, b",
    "SELECT EXISTS ({a}), ARRAY(SELECT {x}), (SELECT count(*) FROM ({b}) b)",
    "SELECT {x}::text UNION ALL SELECT '1'",
    "SELECT * FROM ({a}) a, LATERAL (SELECT {x}) l LIMIT 3",
    "SELECT coalesce(NULL, {x}::text) FROM ({a}) a GROUP BY 1 HAVING count({x}) > 0",
    "{a} /* ; DELETE FROM docs */ -- {x}",
    "SELECT CASE WHEN {x} IS NULL THEN 1 END",
    "VALUES ({x}), ({x})",
    "SELECT a.* FROM ({a}) a WHERE a IS NOT NULL ORDER BY 1 LIMIT 2",
    "TABLE docs",
)


def mutated(chance: random.Random) -> str:
    """Return one statement: half of them composed of whole ones, the other half broken up one to three times."""
    if chance.random() < 0.5:
        harmless = ("now()", "random()", "1", "'a'", "lower('A')", "length('가')")
        parts = {"a": chance.choice(LEGITIMATE), "b": chance.choice(LEGITIMATE)}
        x = chance.choice(DANGEROUS if chance.random() < 0.4 else harmless)
        text = chance.choice(FRAMES).format(x=x, **{key: f"\n{value}\n" for key, value in parts.items()})
        return text.replace(" ", chance.choice((" ", " /* ' */ ", "\n", "\u00a0")))
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 3)):
        text = _broken_up(text, chance)
    return text


def _broken_up(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    words = text.split(" ")
    place = chance.randrange(len(words))
    match chance.randrange(8):
        case 0:
            return text[:at] + chance.choice(SPLICES) + text[at:]
        case 1:
            return text[:at] + text[at + chance.randint(1, 6) :]
        case 2:
            return " ".join([*words[:place], chance.choice(DANGEROUS), *words[place + 1 :]])
        case 3:
            other = chance.choice(SEEDS)
            return text[:at] + other[chance.randrange(len(other) + 1) :]
        case 4:
            return chance.choice(SPLICES) + text + chance.choice(SPLICES)
        case 5:
            return f"SELECT {chance.choice(DANGEROUS)} FROM ({text.rstrip('; ')}) d"
        case 6:
            return "".join(letter.swapcase() if chance.random() < 0.3 else letter for letter in text)
        case _:
            return " ".join([*words[:place], *reversed(words[place:])])


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1800)
async def test_no_mutation_changes_anything(bga: BgaServer):
    chance = random.Random(SEED)
    database = bga.database(DatabaseOptions(limits=Limits(statement_seconds=2), pool_min=4, pool_max=8))
    before = bga.fingerprint()
    ran = 0
    at_once = asyncio.Semaphore(8)

    async def tried(sql: str) -> bool:
        try:
            async with at_once:
                await database.query(sql)
        except (RefusedStatementError, QueryError):
            return False
        except DatabaseUnavailableError as error:  # a busy machine; anything else is a fault
            assert "stopped answering" in str(error) or "busy" in str(error), error  # noqa: PT017
            return False
        return True

    for start in range(0, COUNT, BATCH):
        statements = [mutated(chance) for _ in range(BATCH)]
        ran += sum(await asyncio.gather(*map(tried, statements)))
        assert bga.fingerprint() == before, f"one of the statements {start} to {start + BATCH} of seed {SEED} wrote"
    assert ran > COUNT // 10, "the mutations must not all be broken SQL"
    print(f"{COUNT} statements, {ran} ran, 0 changes")
    await database.close()
