"""Rounds for models too small to manage by themselves, in every language (decision 0160).

Every call that runs was written by the model in that turn, freely or under a grammar. `planner` puts it together behind
the loop's seam; `moves` is the table of what it asks for next. `offering` chooses what is shown, `shown` limits what a
model can write, `grounding` mends or refuses it, `another` finds the second thing of a question, `checking` judges the
answer. Nothing here knows a word of a human language: meaning comes from the embedded encoder and the model, form from
Unicode (`sources`) and the schemas (`parameters`).
"""
