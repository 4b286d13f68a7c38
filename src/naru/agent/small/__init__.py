"""Rounds for models too small to manage by themselves, in every language (decision 0160).

Every call that runs was written by the model in that turn, freely or under a grammar. What is here chooses what is
shown (`offering`), limits what can be written (`shown`), repairs or refuses what was written (`grounding`), says when
to stop, and checks the answer (`checking`); `planner` puts it together behind the loop's seam. Nothing here knows a
word of a human language: meaning comes from the embedded encoder and the model, form from Unicode and the schemas
(`sources`, `parameters`).
"""
