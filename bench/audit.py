"""What the audit costs a tool call: `python bench/audit.py`. The call itself does nothing but yield to the loop once.

For one caller at a time and 32 side by side: no supervision, calls off, queued, written before the answer.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from naru.config import Settings
from naru.messages import ToolDefinition
from naru.telemetry.audit import open_audit
from naru.telemetry.audit_file import verify
from naru.tools.supervision.calls import Call, Came, Supervision

CALLS = 4000
ROUNDS = 5
CALL = Call("hr", "get_employee_info", {"employee_id": "EMP002", "year": 2025}, "key_1", ToolDefinition("get"))


async def work() -> int:
    await asyncio.sleep(0)
    return 40


def came(size: int) -> Came:
    return Came(False, size)


async def measure(mode: str, width: int) -> tuple[float, float]:
    """Return microseconds of wall and of CPU per call."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate(
            {"hub": {"data_dir": folder}, "audit": {"calls": mode if mode != "none" else "off"}}
        )
        audit = open_audit(settings)
        supervision = Supervision(None if mode == "none" else audit)

        async def caller() -> None:
            for _ in range(CALLS // width):
                await supervision.run(CALL, work, came)

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(caller() for _ in range(width)))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        await audit.close()
        if mode in ("queued", "written"):
            assert verify(Path(folder) / "audit.jsonl").entries == CALLS
        return wall / CALLS * 1e6, cpu / CALLS * 1e6


def main() -> None:
    """Print medians."""
    import uvloop

    print(f"{'calls':10}{'side by side':>14}{'wall µs':>10}{'CPU µs':>10}   (median of {ROUNDS} × {CALLS})")
    for width in (1, 32):
        for mode in ("none", "off", "queued", "written"):
            rounds = [uvloop.run(measure(mode, width)) for _ in range(ROUNDS)]
            wall, cpu = (statistics.median(column) for column in zip(*rounds, strict=True))
            print(f"{mode:10}{width:>14}{wall:>10.1f}{cpu:>10.1f}")


if __name__ == "__main__":
    main()
