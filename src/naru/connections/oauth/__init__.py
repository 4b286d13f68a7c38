"""Signing in at an upstream server's authorization server, as a person (OAuth 2.1, MCP's authorization).

`fetch` is the only way out: where a server leads us, and no further. `discovery` finds who gives tokens for a server,
`clients` what we are there, `flow` goes to a code and from it to tokens, `signed` renews them, and `signins` keeps
them for each (person, server) in the vault. The grants that need no person are in `transports/http/tokens`.
"""
