"""Korean words for what tools do and hold, in the English that tool descriptions are written in.

Most tools describe themselves in English alone, so a Korean question shares no word with them. This is for ranking
tools only; nothing here reaches a model.
"""

from __future__ import annotations

_ROWS = """
직원 employee staff | 사원 employee staff | 사람 person people user | 부서 department | 팀 team department
입사 hire join | 근속 service year | 이름 name | 휴가 vacation leave | 연차 vacation leave day
남은 remaining left | 잔여 remaining left | 문서 document file doc | 규정 rule policy document
규칙 rule policy | 정책 policy | 지침 guide guideline | 안내 guide information | 출장 travel trip
경비 expense cost | 비용 cost expense price | 예산 budget | 급여 salary pay | 급료 salary | 목록 list all
모든 all list | 전체 all list | 전부 all list | 모두 all list | 몇 count number | 개수 count number
수량 quantity count | 찾 find search | 검색 search find | 조회 get query look search | 알려 get information
정보 information detail info | 상세 detail | 보여 show list get | 읽 read get | 내용 content text read
파일 file | 폴더 directory folder | 디렉터리 directory | 디렉토리 directory | 만들 create make
생성 create generate | 작성 write create | 저장 save store write | 추가 add insert | 등록 register add create
수정 edit update modify | 변경 change update | 바꾸 change update rename | 삭제 delete remove
지우 delete remove | 옮기 move | 이동 move | 복사 copy | 보내 send | 전송 send
예약 book reserve reservation appointment schedule | 취소 cancel | 일정 schedule calendar event | 회의 meeting
약속 appointment | 날짜 date | 시간 time hour | 시각 time | 오늘 today date | 내일 tomorrow date
지금 now current time | 현재 current now | 날씨 weather forecast | 기온 temperature weather | 온도 temperature
주문 order | 상품 product item | 제품 product item | 재고 stock inventory | 가격 price cost | 결제 payment pay
환불 refund | 배송 shipping delivery | 고객 customer client | 회원 member user | 사용자 user | 계정 account
잔액 balance | 송금 transfer | 환율 exchange rate currency | 계산 calculate compute | 더하 add sum
곱하 multiply | 나누 divide | 빼 subtract | 합계 sum total | 평균 average mean | 최대 maximum max
최소 minimum min | 변환 convert | 단위 unit | 번역 translate translation | 요약 summarize summary
메일 mail email | 이메일 email mail | 메시지 message | 전화 phone call | 주소 address | 위치 location place
지도 map | 경로 path route | 거리 distance | 도서 book library | 책 book | 대출 loan borrow | 저자 author
노래 song music | 영화 movie film | 뉴스 news article | 주식 stock share price | 병원 hospital clinic
환자 patient | 의사 doctor | 학생 student | 수업 class course | 과목 course subject | 성적 grade score
호텔 hotel | 항공 flight | 비행 flight | 차량 vehicle car | 버스 bus | 기차 train | 식당 restaurant | 메뉴 menu
프로젝트 project | 작업 task job work | 할일 task todo | 이슈 issue | 버그 bug issue | 코드 code
저장소 repository repo | 커밋 commit | 로그 log | 상태 status state | 설정 setting configuration | 서버 server
데이터 data | 테이블 table | 질의 query | 통계 statistics | 생일 birthday birth | 나이 age
관리자 manager admin | 담당 manager owner assign | 대표 representative head | 장비 equipment device asset
자산 asset | 불량 defect fault | 공정 process | 검사 inspection test | 수율 yield | 로트 lot | 시험 test exam
크기 size | 무게 weight | 태그 tag | 댓글 comment | 게시 post | 사진 photo image picture | 이미지 image picture
그림 image picture | 영상 video | 기억 memory remember | 지식 knowledge | 관계 relation | 개체 entity
노드 node | 그래프 graph
"""

ENGLISH: dict[str, tuple[str, ...]] = {
    korean: tuple(english)
    for row in _ROWS.replace("\n", "|").split("|")
    if row.strip()
    for korean, *english in [row.split()]
}
"""Korean stem → English words."""


def in_english(question: str) -> dict[str, str]:
    """Return the English words for the Korean stems in a question, each with the stem that it stands for."""
    found: dict[str, str] = {}
    compact = question.replace(" ", "")
    for korean, english in ENGLISH.items():
        if korean in (compact if len(korean) > 2 else question):
            for word in english:
                found.setdefault(word, korean)
    return found
