-- SQLite keeps any length in varchar; the number is kept in step with PostgreSQL's.
select 1;
