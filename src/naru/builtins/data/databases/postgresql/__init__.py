"""Read-only SQL, safe by layers (D3, N16, S-45).

A statement passes `blanks` (what a model pastes becomes plain spaces), `statement` (PostgreSQL's own grammar: one
SELECT and the names it uses), `guard` (the server's catalog judges those names inside the same transaction) and runs
in `transaction` (READ ONLY, wrapped, capped, rolled back). `database` owns the pool, `selftest` proves at start that
writes are refused, `values` turns rows into faithful JSON. The layers do not trust each other.
"""
