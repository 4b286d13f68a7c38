"""MySQL and MariaDB, read-only: `database` connects and runs, `statement` judges what is asked.

`rights` tells what the user may do, `url` what a URL asks of the connection.
"""
