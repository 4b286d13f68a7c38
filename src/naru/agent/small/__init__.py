"""Rounds for models too small to manage by themselves, in every language (decision 0160).

Every call that runs was written by the model in that turn, freely or under a grammar. `planner` leads from one way of
asking to the next. `offering` chooses what is shown, `shown` limits what a model can write, `grounding` mends or
refuses, `rows` finds what of a result is meant, `another` the second thing of a question, `checking` judges the answer.
Nothing knows a word of a human language: meaning is the encoder's and the model's, form that of Unicode and of schemas.
"""
