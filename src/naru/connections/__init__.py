"""One supervised link per MCP server.

`lifecycle` decides (states, back-off; no clock, no I/O), `connection` acts (one owner task per server), `session` speaks
JSON-RPC in both protocol eras over a transport of `transports/`, `manager` keeps them all and converges them to the
store, `toolset` shows one server's tools as a Toolset. Frames stay decoded JSON dicts: nothing here builds typed models.
"""
