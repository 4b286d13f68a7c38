"""What is indexed: files and folders of any form as documents, each with its id, its text and where it stood.

`files` reads a path, `rows` makes documents of tables and nested dumps, `headings` says what a table's headings mean,
`sections` cuts prose at its headings. Rows in = documents out + rows refused by name (issue line 1).
Imports nothing: the programs in here and a database's own process load only what they need.
"""
