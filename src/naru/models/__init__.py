"""How to talk to models: raw text in, events out. Wire, endpoint and profile are kept apart."""
