"""One small schema in each engine's words, with rows enough that a product of eight tables does not end."""

from __future__ import annotations

import sqlite3
from pathlib import Path

LOTS = ", ".join(
    f"('L{number:03d}', 'B{number % 5}', '{'ABC'[number % 3]}', '2026-01-{number % 28 + 1:02d}', {number * 10}, "
    f"{number * 9}, {90 + number % 9}.5, '{'재작업' if number % 7 == 0 else ''}')"
    for number in range(1, 61)
)
SCHEMA = f"""
CREATE TABLE lot (lot_id VARCHAR(10) PRIMARY KEY, product VARCHAR(20), customer VARCHAR(40), start_dt DATE,
  qty_in INTEGER, qty_out INTEGER, yield_pct DECIMAL(6, 3), 비고 VARCHAR(100));
CREATE TABLE ball (ball_id INTEGER PRIMARY KEY, lot_id VARCHAR(10) REFERENCES lot (lot_id), diameter DECIMAL(6, 2));
INSERT INTO lot VALUES {LOTS};
INSERT INTO ball VALUES (1, 'L001', 500.5), (2, 'L001', 501.25), (3, 'L002', 499);
CREATE VIEW best AS SELECT * FROM lot WHERE yield_pct > 95;
"""
SQLITE = SCHEMA + "CREATE VIRTUAL TABLE notes USING fts5(body); INSERT INTO notes VALUES ('solder void');"
DUCKDB = SCHEMA + (
    "CREATE SEQUENCE seq; CREATE MACRO plus_one(x) AS x + 1; COMMENT ON COLUMN lot.qty_in IS '투입 수량';"
    "CREATE MACRO secret_file() AS TABLE SELECT * FROM read_text('/etc/passwd');"
    "CREATE MACRO degrees(x) AS current_setting('temp_directory');"
    "CREATE MACRO repeat_row(x) AS TABLE SELECT current_setting('temp_directory');"
)
MYSQL = SCHEMA.replace("qty_in INTEGER", "qty_in INTEGER COMMENT '투입 수량'").replace(
    "lot_id VARCHAR(10) REFERENCES lot (lot_id), diameter DECIMAL(6, 2)",
    "lot_id VARCHAR(10), diameter DECIMAL(6, 2), FOREIGN KEY (lot_id) REFERENCES lot (lot_id)",
) + (
    "CREATE TABLE kinds (t BIT(1), w TEXT, b BLOB, n BIGINT);"
    "INSERT INTO kinds VALUES (1, '글', x'00', 9223372036854775807);"
    "CREATE SEQUENCE s; CREATE FUNCTION own() RETURNS INT DETERMINISTIC RETURN 1;"
    "CREATE FUNCTION strpos(a TEXT, b TEXT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION signum(a INT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION iif(a INT, b INT, c INT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION bga.now() RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION bga.left(a INT, b INT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION any_value(a INT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "CREATE FUNCTION regexp_like(a TEXT, b TEXT) RETURNS INT DETERMINISTIC RETURN SLEEP(0.1);"
    "GRANT EXECUTE ON bga.* TO PUBLIC;"
)  # fmt: skip


def sqlite_file(folder: Path) -> str:
    """Write the SQLite file, and give its URL."""
    with sqlite3.connect(folder / "bga.db") as connection:
        connection.executescript(SQLITE)
    connection.close()
    return f"sqlite:///{folder / 'bga.db'}"


def duckdb_file(folder: Path) -> str:
    """Write the DuckDB file, and give its URL."""
    import duckdb

    with duckdb.connect(str(folder / "bga.duckdb")) as connection:
        connection.execute(DUCKDB)
    return f"duckdb:///{folder / 'bga.duckdb'}"
