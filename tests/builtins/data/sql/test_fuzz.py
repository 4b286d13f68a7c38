"""20,000 statements made by mutating attacks and legitimate queries: none of them changes anything (S-45)."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from naru.builtins.data.sql.database import DatabaseOptions
from naru.builtins.data.sql.transaction import Limits
from naru.errors import NaruError
from tests.builtins.data.servers import CASES, BgaServer
from tests.builtins.data.sql.test_guard import REFUSED

COUNT = 20_000
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


def mutated(chance: random.Random) -> str:
    """Return one statement, changed one to four times."""
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        words = text.split(" ")
        match chance.randrange(8):
            case 0:
                text = text[:at] + chance.choice(SPLICES) + text[at:]
            case 1:
                text = text[:at] + text[at + chance.randint(1, 6) :]
            case 2:
                words[chance.randrange(len(words))] = chance.choice(DANGEROUS)
                text = " ".join(words)
            case 3:
                other = chance.choice(SEEDS)
                text = text[:at] + other[chance.randrange(len(other) + 1) :]
            case 4:
                text = chance.choice(SPLICES) + text + chance.choice(SPLICES)
            case 5:
                text = f"SELECT {chance.choice(DANGEROUS)} FROM ({text.rstrip('; ')}) d"
            case 6:
                text = "".join(letter.swapcase() if chance.random() < 0.3 else letter for letter in text)
            case _:
                first, second = chance.randrange(len(words)), chance.randrange(len(words))
                words[first], words[second] = words[second], words[first]
                text = " ".join(words)
    return text


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1800)
async def test_no_mutation_changes_anything(bga: BgaServer):
    chance = random.Random(SEED)
    database = bga.database(DatabaseOptions(limits=Limits(statement_seconds=2), pool_min=4, pool_max=8))
    before = bga.fingerprint()
    ran = 0

    async def tried(sql: str) -> bool:
        try:
            await database.query(sql)
        except NaruError:
            return False
        return True

    for start in range(0, COUNT, BATCH):
        statements = [mutated(chance) for _ in range(BATCH)]
        ran += sum(await asyncio.gather(*map(tried, statements)))
        assert bga.fingerprint() == before, f"one of the statements {start} to {start + BATCH} of seed {SEED} wrote"
    assert ran > COUNT // 50, "the mutations must not all be broken SQL"
    print(f"{COUNT} statements, {ran} ran, 0 changes")
    await database.close()
