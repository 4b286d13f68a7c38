"""DuckDB, read-only: `database` opens, judges and runs; `files` makes views of CSV, JSON and Parquet files.

`values` asks whole for what the engine's driver makes less of. The library of the same name is `duckdb`, at the top.
"""
