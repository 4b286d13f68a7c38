"""Questions to columns and to handbooks, in Korean, English and across: `python bench/retrieval.py [NAME ...]`.

Each file in `to_find/` holds questions, each with the id of the column or the heading of the section that answers it,
and what they are asked of: columns of its own (`cols`), a schema of defog's (`schema`) or a file beside it (`file`).
Those whose `half` is "held" were asked once, when all was done. Prints the share found first, and among the first
three, and what was found instead.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naru.builtins.data.documents.document import Document
from naru.builtins.data.documents.files import read_documents
from naru.builtins.data.sources import DataSources
from naru.config import DataSettings

TO_FIND = Path(__file__).parent / "to_find"
DEFOG = Path(__file__).parent.parent / "tests" / "cases" / "defog"


def documents_of(asked: dict[str, Any], folder: Path) -> Sequence[Document]:
    """Read what a file's questions are asked of, as it would be indexed."""
    if "schema" in asked:
        return read_documents(DEFOG / f"{asked['schema']}.json").documents
    if "file" in asked:
        return read_documents(TO_FIND / asked["file"]).documents
    path = folder / "columns.json"
    path.write_text(json.dumps(asked["cols"], ensure_ascii=False), encoding="utf-8")
    return read_documents(path).documents


async def found_of(asked: dict[str, Any]) -> tuple[int, int]:
    """Index, ask, and return how many were right at once and among three."""
    with tempfile.TemporaryDirectory() as folder:
        none: dict[str, Any] = dict.fromkeys(
            ("text_embedding_model_url", "chromadb_host", "postgresql_db_host", "postgresql_db_name"), ""
        )
        sources = DataSources(DataSettings(**none, naru_data_dir=Path(folder), _env_file=None))
        async for _ in sources.index(documents_of(asked, Path(folder))):
            pass
        first = three = 0
        for query in asked["queries"]:
            found = [
                one.id if query["answer"] == one.id else one.text.partition("\n")[0].rpartition(" > ")[2]
                for one in (await sources.find([query["q"]], 3))[0]
            ]
            first += found[0] == query["answer"]
            three += query["answer"] in found
            if found[0] != query["answer"]:
                print(f"  {query['q']}: {', '.join(found)} instead of {query['answer']}")
        await sources.close()
    return first, three


async def measure(names: Sequence[str]) -> None:
    """Ask the questions of each file, or of those named."""
    sums: dict[str, list[int]] = {}
    for path in sorted(TO_FIND.glob("*.json")):
        if names and path.stem not in names:
            continue
        asked = json.loads(path.read_text(encoding="utf-8"))
        first, three = await found_of(asked)
        count = len(asked["queries"])
        print(f"{path.stem}: @1 {first}/{count}, @3 {three}/{count}", flush=True)
        half = sums.setdefault(asked.get("half", "looked at"), [0, 0, 0])
        half[:] = half[0] + first, half[1] + three, half[2] + count
    for half, (first, three, count) in sums.items():
        print(f"{half}: @1 {first / count:.2f}, @3 {three / count:.2f} of {count}")


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1:]))
