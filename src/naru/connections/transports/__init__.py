"""How frames travel: stdio child, Streamable HTTP and legacy HTTP+SSE (`http/`).

A transport (`base.Transport`) carries one request at a time to its own answer and hands everything else to an `Inbox`.
It knows no protocol beyond what its carrier needs: session ids and headers for HTTP, lines for stdio.
"""
