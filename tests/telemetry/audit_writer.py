"""Appends entries until it is killed; prints each number once the log has it. Run by test_audit_file."""

from __future__ import annotations

import sys
from pathlib import Path

from naru.telemetry.audit_file import AuditFile


def main() -> None:
    """Write for ever."""
    file = AuditFile(Path(sys.argv[1]), max_bytes=20_000, keep_files=10_000)
    for number in range(1, 1_000_000):
        file.append([{"what": "call", "number": number, "pad": "x" * (number % 900)}], durable=False)
        print(number, flush=True)


main()
