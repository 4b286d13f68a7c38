"""동물원 안내: 동물, 사육사, 먹이 시간, 입장료. 설명은 한국어, 인자 이름은 영어."""

from __future__ import annotations

from typing import Literal

from mcp.server import MCPServer

mcp = MCPServer("zoo")

ANIMALS = {"보리": {"이름": "보리", "종": "호랑이", "나이": 7, "구역": "B구역", "사육사": "K-03"}, "하늘이": {"이름": "하늘이", "종": "기린", "나이": 4, "구역": "A구역", "사육사": "K-01"}}  # fmt: skip
KEEPERS = {"K-01": {"사번": "K-01", "이름": "유하린", "연락처": "010-0000-0101"}, "K-03": {"사번": "K-03", "이름": "Ben Adler", "연락처": "010-0000-0103"}}  # fmt: skip
FEEDING = {"호랑이": "11:00, 16:30", "기린": "10:00", "펭귄": "14:00"}


@mcp.tool()
def animal_info(name: str) -> dict | str:
    """동물의 이름으로 종, 나이, 구역, 담당 사육사 사번을 조회합니다."""
    return ANIMALS.get(name, f"'{name}'이라는 동물은 없습니다.")


@mcp.tool()
def keeper_info(keeper_id: str) -> dict | str:
    """사육사 사번으로 이름과 연락처를 조회합니다."""
    return KEEPERS.get(keeper_id, f"사육사 {keeper_id}는 없습니다.")


@mcp.tool()
def feeding_time(species: str) -> str:
    """종별 먹이 주는 시간을 안내합니다."""
    return FEEDING.get(species, f"{species}의 먹이 시간 정보가 없습니다.")


@mcp.tool()
def ticket_price(age_group: Literal["adult", "teen", "child"]) -> str:
    """입장료를 안내합니다. adult: 어른, teen: 청소년, child: 어린이."""
    return {"adult": "12000원", "teen": "9000원", "child": "6000원"}[age_group]


if __name__ == "__main__":
    mcp.run()
