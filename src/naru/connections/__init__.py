"""One supervised link per MCP server.

`state/lifecycle` decides (states, back-off; no clock, no I/O) and `link/supervisor` acts: one owner task each.
`session/` speaks JSON-RPC in both protocol eras over a transport of `transports/`. `link/connection` is what others
use, `manager` keeps them all and follows the store, `toolset` shows one server's tools as a Toolset; `rules/` says what
may be registered and shown. Frames stay decoded JSON: no typed models.
"""
