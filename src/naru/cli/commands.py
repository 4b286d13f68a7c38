"""The table of commands: names, modules and lines of help; loads none of them."""

from __future__ import annotations

SECTIONS = {
    "Start": {
        "demo": ("naru.cli.demo", "Answer three questions from real tools with a real small model."),
        "serve": ("naru.cli.serve.command", "Serve the model with its tools on http://127.0.0.1:20006."),
        "chat": ("naru.cli.chat", "Talk to the model with its tools in this terminal."),
        "connect": ("naru.cli.connect", "Show or write the settings that a client needs to use Naru."),
    },
    "Servers and tools": {
        "import": ("naru.cli.servers.import_servers", "Take over the MCP servers of other products on this machine."),
        "servers": ("naru.cli.servers.command", "List, add, remove, connect and explain MCP servers."),
        "tools": ("naru.cli.tools", "List and search the tools of all servers."),
        "tool": ("naru.cli.tool.command", "Run and describe a tool: a function, a built-in server's, a hub server's."),
        "data": ("naru.cli.data.command", "Index and search documents; check the database of the data search server."),
    },
    "Look into it": {
        "doctor": ("naru.cli.doctor", "Try the model and every server; say what is wrong and what to do."),
        "validate": ("naru.cli.validate", "Check settings and mcp.json files: every problem, its place, what to do."),
        "runs": ("naru.cli.runs", "List, show and replay what the model did."),
        "parse": ("naru.cli.parse", "Show what the reader makes of a model's text: calls, dialect, repairs."),
        "probe": ("naru.cli.probe", "Measure what a model can do on its endpoint, and remember it."),
        "approvals": ("naru.cli.approvals", "See and answer tool calls that wait for a person's yes."),
        "keys": ("naru.cli.keys", "Make, show, rotate and revoke API keys."),
        "audit": ("naru.cli.audit", "Read the audit log, and prove that nobody changed it."),
        "backup": ("naru.cli.backup", "Copy all that is kept here into one file; a hub may run meanwhile."),
        "restore": ("naru.cli.restore", "Put a backup back; what was there is moved aside."),
    },
}
"""Section of `naru --help` → name → module with a typer function `command` or group `app`, and the line of help."""
COMMANDS = {name: row for rows in SECTIONS.values() for name, row in rows.items()}
