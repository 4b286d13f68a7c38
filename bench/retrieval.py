"""Questions in one language to columns in the other: `python bench/retrieval.py SHARED_DATA`.

Twelve Korean questions to the English columns of defog's `derm_treatment`, twelve English ones to the Korean columns of
`columns.json`; prints the share whose column is found first, and among the first three, and what was found instead.
SHARED_DATA is the folder that holds `columns.json` and `defog/`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from naru.builtins.data.documents import read_documents
from naru.builtins.data.sources import DataSources
from naru.config import DataSettings

KOREAN_TO_ENGLISH = {
    "의사가 면허를 딴 해는 언제인가요?": "doctors.year_reg",
    "전문의 자격증 번호": "doctors.bd_cert_num",
    "어느 의과대학을 나왔는지": "doctors.med_school_name",
    "환자의 생년월일": "patients.date_of_birth",
    "환자가 든 보험의 종류": "patients.ins_type",
    "몸무게": "patients.weight_kg",
    "약을 만든 제약회사": "drugs.manufacturer",
    "약이 허가받은 날짜": "drugs.fda_appr_dt",
    "약이 몸에서 작용하는 원리": "drugs.moa",
    "몇 시간마다 약을 먹어야 하나요?": "drugs.dos_freq_hrs",
    "가짜 약을 썼는지": "treatments.is_placebo",
    "부작용이 보고된 날": "adverse_events.reported_dt",
}
ENGLISH_TO_KOREAN = {
    "when did the lot enter the line": "bga_lot.start_dt",
    "how many good units were shipped": "bga_lot.qty_out",
    "day or night shift": "bga_lot.shift_cd",
    "share of air bubbles inside the solder balls": "bga_xray.void_pct",
    "are neighbouring balls shorted": "bga_xray.bridge_yn",
    "how much does the package bend": "bga_pkg.warpage_um",
    "how much oxygen is in the oven": "bga_reflow.o2_ppm",
    "when was the machine last serviced": "bga_equip.last_pm_date",
    "how often was it repaired again": "bga_defect.rework_cnt",
    "price of one piece": "bga_cost.unit_price_krw",
    "how many days off remain": "vacations.days_left",
    "how confidential is the document": "documents.sec_level",
}


async def found_of(columns: object, questions: dict[str, str]) -> tuple[int, int]:
    """Index columns, ask, and return how many were right at once and among three."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "columns.json"
        path.write_text(json.dumps(columns, ensure_ascii=False), encoding="utf-8")
        none: dict[str, Any] = dict.fromkeys(
            ("text_embedding_model_url", "chromadb_host", "postgresql_db_host", "postgresql_db_name"), ""
        )
        sources = DataSources(DataSettings(**none, naru_data_dir=Path(folder), _env_file=None))
        async for _ in sources.index(read_documents(path).documents):
            pass
        first = three = 0
        for question, right in questions.items():
            found = [one.id for one in (await sources.find([question], 3))[0]]
            first += found[0] == right
            three += right in found
            if found[0] != right:
                print(f"  {question}: {', '.join(found)} instead of {right}")
        print(f"  by {sources.embedder.status}")
        await sources.close()
    return first, three


async def measure(shared: Path) -> None:
    """Ask both halves."""
    derm = json.loads((shared / "defog/derm_treatment.json").read_text(encoding="utf-8"))
    bga = json.loads((shared / "columns.json").read_text(encoding="utf-8"))["cols"]
    halves = (("Korean to English", derm, KOREAN_TO_ENGLISH), ("English to Korean", bga, ENGLISH_TO_KOREAN))
    for name, columns, questions in halves:
        first, three = await found_of(columns, questions)
        print(f"{name}: @1 {first}/{len(questions)}, @3 {three}/{len(questions)}")


if __name__ == "__main__":
    asyncio.run(measure(Path(sys.argv[1])))
