"""`naru audit`: read the audit log, and prove that nobody changed it (S-61)."""

from __future__ import annotations

import json
import sys
from collections import deque
from pathlib import Path
from typing import Annotated

import typer

from naru.cli.options import Config, settings_from
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, group, plain, print_json, print_note
from naru.errors import NotFoundError, UserError
from naru.messages import JsonObject
from naru.telemetry.audit_file import Head, read_entries, verify

app = group("Read and verify the audit log.")

File = Annotated[Path | None, typer.Option("--file", help="Another log than this installation's audit.jsonl.")]


@app.command("verify")
def verify_log(
    file: File = None,
    expect: Annotated[str, typer.Option(help="A head NUMBER:HASH noted earlier; it must be in the chain.")] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Walk the hash chain. Exits with 0 when it holds, 1 when a line was changed, taken out or put in.

    Note the head that it prints somewhere else: with --expect it then also tells when the end was cut off.
    """
    found = verify(_path(file, config), expect=_head(expect) if expect else None)
    if as_json:
        told = {"holds": found.holds, "entries": found.entries, "first": found.first_seq, "head": str(found.head)}
        print_json({**told, "tornBytes": found.torn_bytes, "problems": found.problems})
    else:
        for problem in found.problems:
            print(problem)
        if found.torn_bytes:
            print(f"The last line is unfinished ({found.torn_bytes} bytes), as a crash leaves it.")
        print(f"{'The chain holds' if found.holds else 'THE CHAIN IS BROKEN'}: {found.entries} entries,")
        print(f"head {found.head}")
    if not found.holds:
        raise typer.Exit(Exit.NOT_WELL)


@app.command()
def show(
    last: Annotated[int, typer.Option("--last", "-n", min=1, help="How many entries, from the end.")] = 20,
    what: Annotated[str, typer.Option(help="Only entries whose kind begins so: call, admin, refused …")] = "",
    file: File = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest entries, oldest first."""
    entries = (one for one in read_entries(_path(file, config)) if str(one.get("what", "")).startswith(what))
    newest = deque(entries, maxlen=last)
    if as_json:
        print_json(list(newest))
        return
    if not newest:
        print_note("There are no such entries." if what else "Nothing is logged yet.")
    for entry in newest:
        sys.stdout.write(plain(_line(entry)) + "\n")


def _path(file: Path | None, config: Path | None) -> Path:
    if file is None:
        return (settings_from(config).hub.data_dir / "audit.jsonl").expanduser()
    if not file.expanduser().is_file():
        raise NotFoundError(f"There is no audit log {file}.", remedy="Name its file, audit.jsonl in the data folder.")
    return file.expanduser()


def _head(text: str) -> Head:
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or len(digest) != 64:
        raise UserError(f"{text[:80]!r} is no head.", remedy="Give NUMBER:HASH as `naru audit verify` prints it.")
    return Head(int(seq), digest)


def _line(entry: JsonObject) -> str:
    left_out = {"seq", "at", "what", "who", "prev", "hash", "definition"}
    facts = " ".join(f"{name}={_fact(fact)}" for name, fact in entry.items() if name not in left_out)
    return f"{entry['seq']}\t{entry.get('at', '')}\t{entry.get('what', '')}\t{entry.get('who') or '-'}\t{facts}"


def _fact(fact: object) -> str:
    shown = json.dumps(fact if isinstance(fact, dict | list) else str(fact), ensure_ascii=False)
    return shown if isinstance(fact, dict | list) else shown[1:-1]
