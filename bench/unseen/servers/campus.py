"""한 대학의 강의, 교수, 강의실과 학생식당: 설명이 한국어이다."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("campus")

COURSES = {
    "CS101": {"title": "자료구조", "professor_id": "T-31", "credits": 3, "room": "공학관 204호", "time": "월 10:00"},
    "CS205": {"title": "운영체제", "professor_id": "T-32", "credits": 3, "room": "공학관 301호", "time": "수 13:00"},
    "HS110": {"title": "한국사", "professor_id": "T-40", "credits": 2, "room": "인문관 105호", "time": "금 09:00"},
}
PROFESSORS = {
    "T-31": {"name": "윤서연", "office": "공학관 512호", "email": "yoon@campus.example"},
    "T-32": {"name": "장민호", "office": "공학관 514호", "email": "jang@campus.example"},
    "T-40": {"name": "Daniel Park", "office": "인문관 220호", "email": "park@campus.example"},
}
MENU = {"월": "비빔밥", "화": "돈가스", "수": "김치찌개", "목": "카레라이스", "금": "잔치국수"}


@mcp.tool()
def course_search(query: Annotated[str, Field(description="과목명에 들어 있는 말")]) -> list[dict]:
    """과목명으로 강의를 검색합니다. 과목 코드를 돌려줍니다."""
    return [{"course_code": code, "title": one["title"]} for code, one in COURSES.items() if query in one["title"]]


@mcp.tool()
def course_info(course_code: Annotated[str, Field(description="과목 코드, 영문 두 글자와 숫자 세 자리")]) -> dict:
    """강의의 담당 교수, 학점, 강의실, 시간을 알려줍니다."""
    if course_code not in COURSES:
        raise ToolError(f"{course_code} 과목은 없습니다")
    return {"course_code": course_code, **COURSES[course_code]}


@mcp.tool()
def professor_info(professor_id: str) -> dict:
    """교수의 이름, 연구실, 이메일을 알려줍니다."""
    if professor_id not in PROFESSORS:
        raise ToolError(f"{professor_id} 교수는 없습니다")
    return {"professor_id": professor_id, **PROFESSORS[professor_id]}


@mcp.tool()
def cafeteria_menu(weekday: Literal["월", "화", "수", "목", "금"]) -> dict:
    """학생식당의 요일별 점심 메뉴를 알려줍니다."""
    return {"weekday": weekday, "menu": MENU[weekday]}


@mcp.tool()
def library_seats() -> dict:
    """도서관 열람실의 남은 좌석 수를 알려줍니다."""
    return {"제1열람실": 42, "제2열람실": 7}


if __name__ == "__main__":
    mcp.run()
