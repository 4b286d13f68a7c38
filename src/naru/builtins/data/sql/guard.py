"""The server's catalog judges what a statement calls: by volatility and rights, not by lists of bad names.

One prepared query settles the transaction's limits and fails with the first name it refuses; sent in the same
pipeline before the statement, it costs no round trip of its own, and the server skips the statement when it fails.
New functions of a new PostgreSQL are judged without a change here. DATA.md 4.4, item 3; SECURITY S-45.
"""

from __future__ import annotations

from collections.abc import Collection

from naru.builtins.data.sql.statement import RefusedStatementError, Statement

HARMLESS_VOLATILE = (
    "array_sample",
    "array_shuffle",
    "clock_timestamp",
    "gen_random_uuid",
    "pg_database_size",
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
"""PostgreSQL's own functions that are VOLATILE only because each call answers anew."""

REFUSED_STABLE = (
    "^(txid_current|pg_current_xact_id|.*_to_xml(schema|_and_xmlschema)?|crosstab.*|connectby|xpath_table)$"
)
"""Not VOLATILE, yet they take a transaction id or run a query that is given as text or by a table's name."""

IMPLICIT_OPERATORS = ("=", "<>", "<", ">", "<=", ">=")
"""What IN, BETWEEN, CASE, DISTINCT, GROUP BY, USING and ORDER BY may call without naming it."""

_MARK = "naru refuses: "

# Every text below is put together from constants of this file; what varies is bound (hence the S608 marks).
_UNSAFE = rf"""(
  CASE WHEN p.oid < 16384
    THEN (p.provolatile = 'v' AND p.proname <> ALL ('{{{",".join(HARMLESS_VOLATILE)}}}'::name[]))
      OR p.proname ~ '{REFUSED_STABLE}'
    ELSE p.provolatile = 'v' OR p.prosecdef OR p.proname ~ '{REFUSED_STABLE}'
  END
  AND p.proname <> ALL (%(allowed)s::text[])
  AND (SELECT s.nspname FROM pg_catalog.pg_namespace s WHERE s.oid = p.pronamespace) || '.' || p.proname
    <> ALL (%(allowed)s::text[])
)"""  # noqa: S608

_UNSAFE_AGGREGATE = f"""(
  p.prokind = 'a' AND p.oid >= 16384 AND 0 < (
    SELECT count(*) FROM pg_catalog.pg_aggregate g JOIN pg_catalog.pg_proc part ON part.oid = ANY (ARRAY[
      g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn,
      g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn]::oid[])
    WHERE g.aggfnoid = p.oid AND {_UNSAFE.replace("p.", "part.")})
)"""  # noqa: S608
"""An aggregate is labelled IMMUTABLE whatever its parts do."""

_SETTINGS = (
    ("statement_timeout", "%(statement_timeout)s"),
    ("lock_timeout", "'1s'"),
    ("idle_in_transaction_session_timeout", "'10s'"),
    ("standard_conforming_strings", "'on'"),
    ("IntervalStyle", "'iso_8601'"),
    ("DateStyle", "'ISO'"),
    ("bytea_output", "'hex'"),
    ("extra_float_digits", "'1'"),
    ("jit", "'off'"),
)

GUARD = rf"""
SELECT {", ".join(f"pg_catalog.set_config('{name}', {value}, true)" for name, value in _SETTINGS)},
  ('{_MARK}' || refused.reason)::int
FROM (VALUES (1)) one LEFT JOIN LATERAL (
  SELECT 'function ' || p.proname AS reason
    FROM unnest(%(call_schemas)s::name[], %(call_names)s::name[]) u(nsp, fn)
    JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE ({_UNSAFE} OR {_UNSAFE_AGGREGATE})
      AND (u.nsp = n.nspname OR u.nsp = '' AND pg_catalog.pg_function_is_visible(p.oid))
  UNION ALL
  SELECT 'function ' || p.proname || ' (written as an attribute)'
    FROM unnest(%(values)s::name[]) u(fn) JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    WHERE p.pronargs > 0 AND p.pronargs - p.pronargdefaults <= 1 AND {_UNSAFE}
  UNION ALL
  SELECT 'function ' || p.proname || ' (written as an attribute)'
    FROM unnest(%(rows)s::name[]) u(fn) JOIN pg_catalog.pg_proc p ON p.proname = u.fn
    JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    WHERE p.pronargs - p.pronargdefaults <= 1 AND t.typtype IN ('c', 'p', 'd') AND {_UNSAFE}
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attname = p.proname AND NOT a.attisdropped)
  UNION ALL
  SELECT 'operator ' || o.oprname
    FROM unnest(%(operator_schemas)s::name[], %(operators)s::name[]) u(nsp, op)
    JOIN pg_catalog.pg_operator o ON o.oprname = u.op AND o.oid >= 16384
    JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
    WHERE {_UNSAFE} AND (u.nsp = n.nspname OR u.nsp = '' AND pg_catalog.pg_operator_is_visible(o.oid))
  UNION ALL
  SELECT 'the cast from ' || s.typname || ' to ' || t.typname
    FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid = c.castfunc
    JOIN pg_catalog.pg_type s ON s.oid = c.castsource JOIN pg_catalog.pg_type t ON t.oid = c.casttarget
    WHERE c.oid >= 16384 AND {_UNSAFE} AND (c.castcontext = 'i' OR t.typname IN ('json', 'jsonb')
      OR s.typname = ANY (%(types)s::name[]) OR t.typname = ANY (%(types)s::name[]))
  UNION ALL
  SELECT 'the check of domain ' || d.typname
    FROM (
      WITH RECURSIVE used AS (
        SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typname = ANY (%(types)s::name[]) AND t.oid >= 16384
        UNION
        SELECT inner_type.oid FROM used JOIN pg_catalog.pg_type t USING (oid)
          LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0
          LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, r.rngmultitypid)
          JOIN pg_catalog.pg_type inner_type
            ON inner_type.oid IN (t.typbasetype, t.typelem, a.atttypid, r.rngsubtype) AND inner_type.oid >= 16384
      ) SELECT t.oid, t.typname FROM used JOIN pg_catalog.pg_type t USING (oid) WHERE t.typtype = 'd'
    ) d
    JOIN pg_catalog.pg_constraint k ON k.contypid = d.oid
    JOIN pg_catalog.pg_depend e ON e.classid = 'pg_catalog.pg_constraint'::regclass AND e.objid = k.oid
      AND e.refclassid = 'pg_catalog.pg_proc'::regclass
    JOIN pg_catalog.pg_proc p ON p.oid = e.refobjid
    WHERE {_UNSAFE}
  LIMIT 1
) refused ON true
"""  # noqa: S608


def guard_parameters(
    statement: Statement, allowed: Collection[str], *, statement_timeout_ms: int
) -> dict[str, str | list[str]]:
    """Bind one statement's names to `GUARD`."""
    calls = sorted(statement.calls)
    operators = sorted({*statement.operators, *(("", name) for name in IMPLICIT_OPERATORS)})
    attributes = statement.row_attributes | statement.value_attributes
    return {
        "statement_timeout": str(statement_timeout_ms),
        "allowed": sorted(allowed),
        "call_schemas": [schema for schema, _ in calls],
        "call_names": [name for _, name in calls],
        "values": sorted(statement.value_attributes),
        "rows": sorted(statement.row_attributes),
        "operator_schemas": [schema for schema, _ in operators],
        "operators": [name for _, name in operators],
        # name(value) and value.name are casts when a type has that name
        "types": sorted({*statement.types, *attributes, *(name for _, name in calls)}),
    }


def refusal_in(message: str) -> RefusedStatementError | None:
    """Read the guard's refusal out of the server's error text, or return None."""
    _, found, rest = message.partition(_MARK)
    if not found:
        return None
    return RefusedStatementError(
        f"This tool only reads, and {rest.rstrip(chr(34))} is not known to do only that: it is VOLATILE, runs as its "
        "owner, or takes a query as text.",
        remedy="Write the query without it. An administrator can list a harmless function in "
        "POSTGRESQL_DB_ALLOW_FUNCTIONS, or mark it STABLE.",
    )
