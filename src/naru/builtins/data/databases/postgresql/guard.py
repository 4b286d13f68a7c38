"""The server's catalog judges what a statement calls: by its labels and rights, not by lists of bad names.

One prepared query settles the transaction's limits and fails with the first name it refuses; sent in the same
pipeline before the statement, it costs no round trip of its own, and the server skips the statement when it fails.
New functions of a new PostgreSQL are judged without a change here (S-45).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from naru.builtins.data.databases.errors import RefusedStatementError
from naru.builtins.data.databases.postgresql.statement import Statement

HARMLESS = (
    "age",
    "array_sample",
    "array_shuffle",
    "clock_timestamp",
    "current_schema",
    "current_schemas",
    "gen_random_uuid",
    "pg_database_size",
    "pg_get_viewdef",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_partition_ancestors",
    "pg_partition_tree",
    "pg_relation_size",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "timeofday",
    "uuidv4",
    "uuidv7",
)
"""PostgreSQL's own functions that tell of the data, or anew with each call, though they are labelled otherwise.

Its others that are VOLATILE have effects; those that are not PARALLEL SAFE tell of the process and of what the server
counts, take a transaction id, or run a query of their own (`table_to_xml`).
"""

REFUSED_STABLE = "^(crosstab.*|connectby|xpath_table)$"
"""Extensions' functions that are not VOLATILE, yet run a query that is given as text or by a table's name."""

READS_ANY_TYPE = "^(pg_input_.*|.*populate_record.*)$"
"""Functions that make values of a type which a text or a whole row names, and so run the check of any domain."""

IMPLICIT_OPERATORS = ("=", "<>", "<", ">", "<=", ">=")
"""What IN, BETWEEN, CASE, DISTINCT, GROUP BY, USING and ORDER BY may call without naming it; so they may what a type's
own order (an operator class) is made of, which no name tells of."""

_CATALOGUES = ("", "pg_catalog", "information_schema")
"""Where PostgreSQL's own views are; one whose rows come from a function that is refused is refused as well."""

_MARK = "naru refuses: "

# Every text below is put together from constants of this file; what varies is bound (hence the S608 marks).
_NOT_ALLOWED = """p.proname <> ALL ($2) AND p.pronamespace::regnamespace::text || '.' || p.proname <> ALL ($2)"""

_UNSAFE = rf"""(
  CASE WHEN p.oid < 16384
    THEN (p.provolatile = 'v' OR p.proparallel <> 's') AND p.proname <> ALL ('{{{",".join(HARMLESS)}}}'::name[])
    ELSE p.provolatile = 'v' OR p.prosecdef OR p.proname ~ '{REFUSED_STABLE}'
  END AND {_NOT_ALLOWED}
)"""  # noqa: S608

_UNSAFE_USERS = f"((p.provolatile = 'v' OR p.prosecdef) AND {_NOT_ALLOWED})"
"""For functions that only users' own objects reach."""

_UNSAFE_AGGREGATE = f"""(
  p.prokind = 'a' AND p.oid >= 16384 AND 0 < (
    SELECT count(*) FROM pg_catalog.pg_aggregate g JOIN pg_catalog.pg_proc part ON part.oid = ANY (ARRAY[
      g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn,
      g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn]::oid[])
    WHERE g.aggfnoid = p.oid AND {_UNSAFE_USERS.replace("p.", "part.")})
)"""  # noqa: S608
"""An aggregate is labelled IMMUTABLE whatever its parts do."""

_ORDERS = "403, 405"
"""PostgreSQL's numbers of `btree` and `hash`, which sort and group rows; other kinds of index only search."""

_NAMED = "$4 || $5 || $6"
"""What is called, also as an attribute."""
_CALLED = r":(?:op)?funcid (\d+)"
"""In an expression as the catalogue keeps it; its table of dependencies leaves out PostgreSQL's own functions."""

_SETTINGS = (
    ("statement_timeout", "$1"),
    ("lock_timeout", "'1s'"),
    ("idle_in_transaction_session_timeout", "'10s'"),
    ("standard_conforming_strings", "'on'"),
    ("IntervalStyle", "'iso_8601'"),
    ("DateStyle", "'ISO'"),
    ("bytea_output", "'hex'"),
    ("extra_float_digits", "'1'"),
    ("jit", "'off'"),
    ("plan_cache_mode", "'auto'"),
)

GUARD = rf"""SELECT {", ".join(f"pg_catalog.set_config('{name}', {value}, true)" for name, value in _SETTINGS)},
  ('{_MARK}' || refused.reason)::int
FROM (VALUES (1)) one LEFT JOIN LATERAL (
  SELECT 'function ' || p.proname AS reason
    FROM unnest($3, $4) u(nsp, fn) JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    WHERE ({_UNSAFE} OR {_UNSAFE_AGGREGATE})
      AND CASE u.nsp WHEN '' THEN pg_catalog.pg_function_is_visible(p.oid)
        ELSE p.pronamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = u.nsp) END
  UNION ALL
  SELECT 'function ' || p.proname || ' (written as an attribute)'
    FROM unnest($5) u(fn) JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    WHERE p.pronargs > 0 AND p.pronargs - p.pronargdefaults <= 1 AND {_UNSAFE}
  UNION ALL
  SELECT 'function ' || p.proname || ' (written as an attribute)'
    FROM unnest($6) u(fn) JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    WHERE p.pronargs - p.pronargdefaults <= 1 AND t.typtype IN ('c', 'p', 'd') AND {_UNSAFE}
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attname = p.proname AND NOT a.attisdropped)
  UNION ALL
  SELECT 'operator ' || o.oprname || ' (function ' || p.proname || ')'
    FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
    WHERE o.oid >= 16384 AND o.oprname = ANY ($7) AND {_UNSAFE_USERS}
  UNION ALL
  SELECT 'an order (function ' || p.proname || ')'
    FROM (SELECT m.amprocfamily, m.amproc FROM pg_catalog.pg_amproc m WHERE m.oid >= 16384
      UNION SELECT m.amopfamily, o.oprcode FROM pg_catalog.pg_amop m
        JOIN pg_catalog.pg_operator o ON o.oid = m.amopopr WHERE m.oid >= 16384) ordering(family, fn)
    JOIN pg_catalog.pg_opfamily f ON f.oid = ordering.family AND f.opfmethod IN ({_ORDERS})
    JOIN pg_catalog.pg_proc p ON p.oid = ordering.fn
    WHERE {_UNSAFE_USERS}
  UNION ALL
  SELECT 'the cast from ' || s.typname || ' to ' || t.typname || ' (function ' || p.proname || ')'
    FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid = c.castfunc
    JOIN pg_catalog.pg_type s ON s.oid = c.castsource JOIN pg_catalog.pg_type t ON t.oid = c.casttarget
    WHERE c.oid >= 16384 AND {_UNSAFE_USERS} AND (c.castcontext = 'i' OR t.typname IN ('json', 'jsonb')
      OR s.typname = ANY ($8) OR t.typname = ANY ($8))
  UNION ALL
  SELECT 'the check of domain ' || d.typname || ' (function ' || p.proname || ')'
    FROM (
      WITH RECURSIVE used AS (
        SELECT t.oid FROM pg_catalog.pg_type t WHERE t.oid >= 16384 AND (t.typname = ANY ($8)
          OR EXISTS (SELECT 1 FROM unnest($4) called(fn) WHERE called.fn ~ '{READS_ANY_TYPE}')
          OR t.oid IN (SELECT unnest(f.proargtypes || f.prorettype || coalesce(f.proallargtypes, '{{}}'))
            FROM pg_catalog.pg_proc f WHERE f.oid >= 16384 AND f.proname = ANY ({_NAMED})))
        UNION
        SELECT inner_type.oid FROM used JOIN pg_catalog.pg_type t USING (oid)
          LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0
          LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, r.rngmultitypid)
          JOIN pg_catalog.pg_type inner_type
            ON inner_type.oid IN (t.typbasetype, t.typelem, a.atttypid, r.rngsubtype) AND inner_type.oid >= 16384
      ) SELECT t.oid, t.typname FROM used JOIN pg_catalog.pg_type t USING (oid) WHERE t.typtype = 'd'
    ) d
    JOIN pg_catalog.pg_constraint k ON k.contypid = d.oid
    CROSS JOIN LATERAL pg_catalog.regexp_matches(k.conbin::text, '{_CALLED}', 'g') f(id)
    JOIN pg_catalog.pg_proc p ON p.oid = f.id[1]::oid
    WHERE {_UNSAFE}
  UNION ALL
  SELECT 'the default of an argument of ' || g.proname || ' (function ' || p.proname || ')'
    FROM pg_catalog.pg_proc g
    CROSS JOIN LATERAL pg_catalog.regexp_matches(g.proargdefaults::text, '{_CALLED}', 'g') f(id)
    JOIN pg_catalog.pg_proc p ON p.oid = f.id[1]::oid
    WHERE g.oid >= 16384 AND g.proname = ANY ({_NAMED}) AND {_UNSAFE} AND {_NOT_ALLOWED.replace("p.", "g.")}
  UNION ALL
  SELECT 'view ' || c.relname || ' (function ' || p.proname || ')'
    FROM unnest($9) u(rel) JOIN pg_catalog.pg_class c ON c.relname = u.rel AND c.relkind = 'v' AND c.oid < 16384
    JOIN pg_catalog.pg_rewrite w ON w.ev_class = c.oid
    CROSS JOIN LATERAL pg_catalog.regexp_matches(w.ev_action::text, '{_CALLED}', 'g') f(id)
    JOIN pg_catalog.pg_proc p ON p.oid = f.id[1]::oid
    WHERE (p.proretset OR p.prorettype = 'pg_catalog.record'::regtype) AND {_UNSAFE}
  LIMIT 1
) refused ON true
"""  # noqa: S608

TYPES = ("text", "text[]", "name[]", "name[]", "name[]", "name[]", "name[]", "name[]", "name[]")
"""Of the guard's parameters, in the order of `guard_parameters`."""

PREPARE_GUARD = f"PREPARE naru_guard ({', '.join(TYPES)}) AS {GUARD}"
"""Run once per connection where nothing stands between: planning the guard takes ten times as long as running it.

It is prepared in SQL, since psycopg forgets its own prepared statements after every ROLLBACK.
"""
GENERIC_PLANS = "SET plan_cache_mode = force_generic_plan"
"""The guard's plan is made once, not five times; the guard itself puts the setting back for the statement."""


def guard_parameters(
    statement: Statement, allowed: Collection[str], *, statement_timeout_ms: int
) -> tuple[str | list[str], ...]:
    """Return the guard's parameters: time, allowed functions, and one statement's names."""
    calls = sorted(statement.calls)
    attributes = statement.row_attributes | statement.value_attributes
    return (
        str(statement_timeout_ms),
        sorted(allowed),
        [schema for schema, _ in calls],
        [name for _, name in calls],
        sorted(statement.value_attributes),
        sorted(statement.row_attributes),
        sorted({*IMPLICIT_OPERATORS, *(name for _, name in statement.operators)}),
        # name(value) and value.name are casts when a type has that name
        sorted({*statement.types, *attributes, *(name for _, name in calls)}),
        sorted(name for schema, name in statement.relations if schema in _CATALOGUES),
    )


def guard_call(parameters: Sequence[str | list[str]], *, is_prepared: bool) -> bytes:
    """Write the guard's call with its parameters as literals."""
    literals = [_literal(value) for value in parameters]
    if is_prepared:
        return f"EXECUTE naru_guard ({', '.join(literals)})".encode()
    typed = [f"{literal}::{type_}" for literal, type_ in zip(literals, TYPES, strict=True)]
    return re.sub(r"\$(\d)", lambda found: typed[int(found[1]) - 1], GUARD).encode()


def _literal(value: str | list[str]) -> str:
    """Quote a text or an array of texts; the setting standard_conforming_strings does not matter to E'…'."""
    if isinstance(value, list):
        value = "{" + ",".join('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in value) + "}"
    return "E'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def refusal_in(message: str) -> RefusedStatementError | None:
    """Read the guard's refusal out of the server's error text, or return None."""
    _, found, rest = message.partition(_MARK)
    if not found:
        return None
    return RefusedStatementError(
        f"This tool only reads, and {rest.rstrip(chr(34))} is not known to do only that: it is VOLATILE, runs as its "
        "owner, takes a query as text, or tells of the server.",
        remedy="Write the query without it. An administrator can list a harmless function in "
        "POSTGRESQL_DB_ALLOW_FUNCTIONS, or mark it STABLE.",
    )
