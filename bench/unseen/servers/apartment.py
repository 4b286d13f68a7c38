"""아파트 관리사무소: 세대, 관리비, 주차, 민원. 이름은 영어이고 설명은 한국어이다."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

mcp = MCPServer("apartment")

HOUSES = {"101-1203": {"세대주": "최영희", "입주일": "2021-03-15", "차량": "12가3456"}, "102-0504": {"세대주": "Mark Olsen", "입주일": "2024-08-01", "차량": "34나7890"}}  # fmt: skip
FEES = {("101-1203", "2026-10"): 184300, ("101-1203", "2026-11"): 201500, ("102-0504", "2026-11"): 156700}
COMPLAINTS = {
    "M-27": {"번호": "M-27", "세대": "102-0504", "내용": "엘리베이터 소음", "상태": "처리중", "담당": "김반장"},
    "M-28": {"번호": "M-28", "세대": "101-1203", "내용": "지하주차장 누수", "상태": "완료", "담당": "오기사"},
}
Unit = Annotated[str, Field(description="동-호, 예: 101-0101")]


@mcp.tool()
def household(unit: Unit) -> dict | str:
    """세대 정보(세대주, 입주일, 등록 차량)를 조회합니다."""
    return HOUSES.get(unit, f"{unit} 세대를 찾을 수 없습니다.")


@mcp.tool()
def maintenance_fee(unit: Unit, month: Annotated[str, Field(description="YYYY-MM")]) -> str:
    """월별 관리비를 조회합니다."""
    fee = FEES.get((unit, month))
    return f"{unit} {month} 관리비: {fee}원" if fee else f"{unit}의 {month} 관리비 내역이 없습니다."


@mcp.tool()
def find_car(plate: Annotated[str, Field(description="차량번호")]) -> str:
    """차량번호로 어느 세대의 차인지 찾습니다."""
    return next((unit for unit, one in HOUSES.items() if one["차량"] == plate), f"{plate}: 등록되지 않은 차량입니다.")


@mcp.tool()
def complaint(complaint_no: Annotated[str, Field(description="민원번호, M-으로 시작")]) -> dict | str:
    """민원의 내용과 처리 상태, 담당자를 조회합니다."""
    return COMPLAINTS.get(complaint_no, f"민원 {complaint_no}이(가) 없습니다.")


@mcp.tool()
def facility_hours(facility: Annotated[str, Field(description="헬스장, 독서실, 수영장 중 하나")]) -> str:
    """편의시설의 운영시간을 안내합니다."""
    hours = {"헬스장": "06:00-23:00", "독서실": "08:00-24:00", "수영장": "07:00-20:00"}
    return hours.get(facility, f"{facility} 시설은 없습니다.")


if __name__ == "__main__":
    mcp.run()
