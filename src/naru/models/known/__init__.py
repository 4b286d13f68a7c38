"""Facts about models: rows of families, what endpoints say, what refusals teach, and how each is found out."""
