"""One supervised link per MCP server.

`lifecycle` decides (states, back-off; no clock, no I/O) and `supervisor` acts: one owner task each. `session` speaks
JSON-RPC in both protocol eras over a transport of `transports/`. `connection` is what others use, `manager` keeps them
all and follows the store, `toolset` shows one server's tools as a Toolset. Frames stay decoded JSON: no typed models.
"""
