"""The HR server's demo data: 20 employees, 12 documents, vacations of 2024 to 2026, in Korean and English."""

from __future__ import annotations

EMPLOYEES = (
    ("EMP001", "Kim Minjun", "Engineering", "2015-03-02"),
    ("EMP002", "이서연", "인사팀", "2017-07-10"),
    ("EMP003", "James Carter", "Sales", "2019-01-14"),
    ("EMP004", "박지훈", "영업팀", "2018-05-21"),
    ("EMP005", "최수아", "개발팀", "2020-09-01"),
    ("EMP006", "Emily Stone", "Marketing", "2021-02-15"),
    ("EMP007", "정도윤", "재무팀", "2016-11-07"),
    ("EMP008", "Daniel Park", "Engineering", "2022-04-04"),
    ("EMP009", "Grace Miller", "Finance", "2014-08-25"),
    ("EMP010", "강하은", "마케팅팀", "2023-01-09"),
    ("EMP011", "Oliver Brown", "Legal", "2018-10-01"),
    ("EMP012", "조민서", "개발팀", "2019-06-17"),
    ("EMP013", "Sofia Rossi", "Design", "2020-03-23"),
    ("EMP014", "윤지우", "디자인팀", "2021-12-06"),
    ("EMP015", "Henry Walker", "Support", "2017-02-13"),
    ("EMP016", "임예준", "고객지원팀", "2022-08-29"),
    ("EMP017", "Chloe Martin", "Engineering", "2016-04-18"),
    ("EMP018", "한지민", "법무팀", "2023-10-16"),
    ("EMP019", "Lucas Wagner", "Sales", "2024-02-05"),
    ("EMP020", "오세훈", "경영지원팀", "2013-06-03"),
)
"""id, name, department, hire date."""

DOCUMENTS = (
    (
        "Travel expense rules",
        "Book economy class. Hotels up to 150 USD a night and meals up to 60 USD a day are paid back. "
        "Send receipts within 14 days.",
        "finance",
    ),
    (
        "출장비 규정",
        "항공권은 일반석으로 예약합니다. 숙박비는 1박 15만 원, 식비는 1일 5만 원까지 지급합니다. "
        "영수증은 14일 안에 제출합니다.",
        "재무",
    ),
    (
        "Vacation policy",
        "New staff have 15 days a year and one more for every two years of service, at most 25. "
        "Ask your manager 7 days ahead. Up to 5 unused days move to the next year.",
        "hr",
    ),
    (
        "휴가 규정",
        "연차는 1년 근속 시 15일이며, 2년마다 1일씩 늘어 최대 25일입니다. 7일 전에 팀장에게 신청합니다. "
        "남은 연차는 5일까지 다음 해로 이월됩니다.",
        "인사",
    ),
    (
        "Remote work guide",
        "Up to 2 days a week at home, agreed with the team. Core hours are 10:00 to 16:00. Use the company VPN.",
        "hr",
    ),
    (
        "재택근무 안내",
        "주 2일까지 재택근무를 할 수 있습니다. 공통 근무 시간은 10시부터 16시까지이며 회사 VPN을 사용합니다.",
        "인사",
    ),
    (
        "Security handbook",
        "Lock your screen, use a password manager and two-factor login. Report a lost laptop within 1 hour.",
        "it",
    ),
    (
        "정보보안 지침",
        "자리를 비울 때 화면을 잠그고 2단계 인증을 사용합니다. 노트북을 잃어버리면 1시간 안에 신고합니다.",
        "전산",
    ),
    (
        "Onboarding checklist",
        "Day 1: badge and laptop. Week 1: meet your mentor and finish security training. Month 1: first review.",
        "hr",
    ),
    (
        "경조사 지원 규정",
        "본인 결혼은 5일 휴가와 50만 원, 부모상은 5일 휴가와 100만 원을 지원합니다.",
        "인사",
    ),
    (
        "Equipment purchase procedure",
        "Up to 500 USD your manager approves; above that the finance team. Order through the purchasing portal.",
        "finance",
    ),
    (
        "교육비 지원 제도",
        "직무 교육비는 1년에 120만 원까지 지원합니다. 수료증과 영수증을 인사팀에 제출합니다.",
        "인사",
    ),
)
"""title, content, category; the id is the place in the list."""

VACATION_YEARS = (2024, 2025, 2026)


def vacations() -> list[tuple[str, int, int, float]]:
    """Return employee id, year, total and used days: made by rule, the same on every machine."""
    rows: list[tuple[str, int, int, float]] = []
    for number, (employee_id, _, _, hired) in enumerate(EMPLOYEES, start=1):
        for year in VACATION_YEARS:
            total = min(15 + max(0, year - int(hired[:4])) // 2, 25)
            used = (number * 2 + year - 2024) % 13 + (0.5 if number % 4 == 0 else 0)
            rows.append((employee_id, year, total, used))
    return rows
