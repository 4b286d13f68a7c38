"""A person's sign-in to the console at the issuer of `server.oauth` (OpenID Connect; imported where one is set up).

`question` is what one browser asks, `sign_in` judges the answer, `refusals` says in the reader's language why nobody
was signed in, and `rows` are the two addresses.
"""
