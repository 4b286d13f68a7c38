"""From a question to its rows with a model of any size.

`scope` finds tables, joins and values, `grammar` lets the model write nothing but a SELECT of them, `mend` (with
`tables` and `stored`) puts in what the catalogue knows better, `ask` runs it, has it repaired, and tells the rows.
"""
