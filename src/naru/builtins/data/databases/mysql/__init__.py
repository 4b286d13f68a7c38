"""MySQL and MariaDB, read-only: `database` connects and runs, `statement` judges what is asked.

`stored` keeps the database's own functions out, `rights` tells what the user may do, `url` what a URL asks of the
connection.
"""
