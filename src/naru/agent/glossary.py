"""Korean words for what tools do and hold, in the English that tool descriptions are written in.

Most tools describe themselves in English alone, so a Korean question shares no word with them. This is for ranking
tools only; nothing here reaches a model.
"""

from __future__ import annotations

import re

_ROWS = """
직원 employee staff | 사원 employee staff | 사람 person people user | 부서 department | 팀 team department
입사 hire join | 근속 service year | 이름 name | 휴가 vacation leave | 연차 vacation leave day | 남은 remaining left
잔여 remaining left | 문서 document file doc | 규정 rule policy document | 규칙 rule policy | 정책 policy
지침 guide guideline | 안내 guide information | 출장 travel trip | 경비 expense cost | 비용 cost expense price
예산 budget | 급여 salary pay | 급료 salary | 목록 list all | 모든 all list | 전체 all list | 전부 all list
모두 all list | 몇 count number | 개수 count number | 수량 quantity count | 찾 find search | 검색 search find
조회 get query look search | 정보 information detail info | 상세 detail
읽 read get | 내용 content text read | 파일 file | 폴더 directory folder | 디렉터리 directory | 디렉토리 directory
만들 create make | 생성 create generate | 작성 write create | 저장 save store write | 추가 add insert
등록 register add create | 수정 edit update modify | 변경 change update diff | 바꾸 change update rename convert
삭제 delete remove | 지우 delete remove | 옮기 move | 이동 move | 복사 copy | 보내 send | 전송 send
예약 book reserve reservation appointment schedule | 취소 cancel | 일정 schedule calendar event | 회의 meeting event
약속 appointment | 날짜 date | 시간 time hour | 시각 time | 오늘 today date | 내일 tomorrow date
지금 now current time | 현재 current now | 날씨 weather forecast | 기온 temperature weather | 온도 temperature
주문 order | 상품 product item | 제품 product item | 재고 stock inventory | 가격 price cost | 결제 payment pay
환불 refund | 배송 shipping delivery track | 고객 customer client | 회원 member user | 사용자 user | 계정 account
잔액 balance | 송금 transfer | 환율 exchange rate currency | 계산 calculate compute | 더하 add sum | 곱하 multiply
나누 divide | 빼 subtract | 합계 sum total | 평균 average mean | 최대 maximum max | 최소 minimum min | 변환 convert
단위 unit | 번역 translate translation | 요약 summarize summary | 메일 mail email | 이메일 email mail
메시지 message | 전화 phone call | 주소 address | 위치 location place | 지도 map | 경로 path route | 거리 distance
도서 book library | 책 book | 대출 loan borrow | 저자 author | 노래 song music | 영화 movie film | 뉴스 news article
주식 stock share price | 병원 hospital clinic | 환자 patient | 의사 doctor | 학생 student | 수업 class course
과목 course subject | 성적 grade score | 호텔 hotel | 항공 flight | 비행 flight | 차량 vehicle car | 버스 bus
기차 train | 식당 restaurant | 메뉴 menu | 프로젝트 project | 작업 task job work | 할일 task todo | 이슈 issue
버그 bug issue | 코드 code | 저장소 repository repo | 커밋 commit | 로그 log | 상태 status state
설정 setting configuration | 서버 server | 데이터 data | 테이블 table | 질의 query | 통계 statistics
생일 birthday birth | 나이 age | 관리자 manager admin | 담당 manager owner assign | 대표 representative head
장비 equipment device asset | 자산 asset | 불량 defect fault | 공정 process | 검사 inspection test lab | 수율 yield
로트 lot | 시험 test exam | 크기 size | 무게 weight mass | 태그 tag | 댓글 comment | 게시 post
사진 photo image picture | 이미지 image picture | 그림 image picture | 영상 video | 기억 memory remember
지식 knowledge | 관계 relation | 개체 entity | 노드 node | 그래프 graph | 티켓 ticket | 담당자 assignee owner agent
배정 assign | 빌린 loan borrow | 빌려 loan borrow | 반납 return due | 연체 overdue late | 후기 review
운영 opening operating hours | 영업 business opening hours | 쿠폰 coupon | 할인 discount | 원화 currency krw
달러 currency usd dollar | 유로 currency eur euro | 엔화 currency jpy yen | 바꿔 convert change
환전 convert exchange currency | 덥 temperature weather | 더운 temperature weather | 춥 temperature weather
추워 temperature weather | 추운 temperature weather | 습도 humidity | 예보 forecast | 비가 rain weather
눈이 snow weather | 공휴일 holiday | 휴일 holiday | 휴무 closed hours holiday | 참석 attend attendee
참가 attend participant | 비어 free empty available | 빈 free empty available | 병동 ward | 진료 visit treatment
혈액 blood | 약 drug medicine | 청구 bill invoice | 공급 supply supplier vendor | 전문 specialty
분야 field specialty | 에코 echo | 메모 note memo | 기록 record log history | 브랜치 branch | 월요일 monday weekday
화요일 tuesday weekday | 수요일 wednesday weekday | 목요일 thursday weekday | 금요일 friday weekday
토요일 saturday | 일요일 sunday | 평일 weekday | 주말 weekend | 질량 mass | 길이 length | 부피 volume | 넓이 area
속도 speed velocity | 마감 due deadline closing | 높은 high | 낮은 low | 긴급 urgent | 우선순위 priority | 신규 new
완료 done complete solved | 진행 progress | 해결 solve resolve | 반품 return refund | 장바구니 cart
구매 buy purchase | 판매 sell sale | 포인트 point | 적립 point reward | 색 colour color
소속 team department member | 팀원 team member | 부원 team member | 제목 title subject | 작가 author writer
노선 line route | 역 station | 정류장 stop station | 도착 arrive arrival | 출발 depart departure
요금 fare price fee | 주차 parking | 숙소 hotel lodging | 체크인 checkin | 좌석 seat | 공연 show concert performance
경기 game match | 점수 score | 순위 ranking rank | 뜻 meaning definition | 단어 word | 사전 dictionary | 세금 tax
이자 interest | 대출금 loan | 계좌 account | 거래 transaction | 내역 history list detail | 카드 card | 잔돈 change
농담 joke | 수수께끼 riddle | 속담 proverb | 동화 story tale | 이야기 story | 문장 sentence
창고 warehouse depot | 지점 branch store | 매장 store shop branch | 입고 inbound receive arrival restock
출고 outbound ship release | 납기 delivery lead due | 납품 delivery supply | 견적 quote estimate | 계약 contract
만료 expire expiry end | 유효 valid expiry | 보증 warranty guarantee | 수리 repair fix | 고장 failure fault broken
점검 maintenance inspection check | 강수 rain precipitation weather | 바람 wind weather | 풍속 wind speed weather
미세먼지 air quality dust pollution | 대기질 air quality | 회사 company | 곡 song track music
재생목록 playlist | 일출 sunrise | 일몰 sunset | 조리법 recipe | 레시피 recipe
재료 ingredient material | 열량 calorie nutrition | 칼로리 calorie nutrition | 영양 nutrition | 운동 exercise workout
강의 lecture course class | 강의실 room classroom | 교수 professor instructor teacher | 선생 teacher
강사 instructor teacher | 학과 department major | 학점 credit | 과제 assignment homework task | 출석 attendance
구독 subscription subscribe | 요금제 plan subscription | 사용량 usage use | 청구서 bill invoice | 송장 invoice
미납 unpaid overdue | 납부 pay payment | 알레르기 allergy | 처방 prescription | 복용 dose | 증상 symptom
선수 player athlete | 감독 coach director manager | 배우 actor cast | 출연 cast actor | 평점 rating score
리뷰 review rating | 예매 booking ticket reservation | 상영 showing screening | 공항 airport | 탑승 boarding gate
지연 delay late | 수하물 baggage luggage | 객실 room | 조식 breakfast | 우편 postal zip mail | 인구 population
수도 capital | 통화 currency | 언어 language | 섭씨 celsius temperature unit convert
화씨 fahrenheit temperature unit convert
몸무게 weight | 높이 height | 너비 width | 깊이 depth | 용량 capacity volume | 버전 version | 배포 deploy release
장애 incident outage failure | 알림 alert notification | 경보 alert alarm | 원인 cause reason | 조치 action
승인 approve approval | 반려 reject | 결재 approval | 근무 work shift | 교대 shift | 출근 attendance
야근 overtime | 연봉 salary | 직급 position rank title grade | 직책 position title role | 상사 manager supervisor
연락처 contact phone email | 사번 employee id | 보험 insurance | 대여 rent rental loan borrow | 빌릴 loan borrow rent
빌리 loan borrow rent | 빌려간 loan borrow | 소장 holding own copy catalog | 출판 publish publisher | 저술 author write
지은 author write | 동물 animal | 식물 plant | 방문 visit | 손님 guest customer | 투숙 guest stay
이용 use usage | 신청 request apply application | 접수 register submit receive | 문의 inquiry ticket question
답변 answer reply response | 상담 support consultation agent | 상담원 agent support | 기사 driver article
운전 driver drive | 화물 cargo freight shipment | 택배 parcel delivery shipping | 품목 item product | 물품 item goods
부품 part component | 단가 unit price | 총액 total amount | 금액 amount price total | 매출 sales revenue
수입 income import | 지출 expense spending | 이익 profit | 손실 loss | 목표 goal target | 기간 period duration
시작 start begin | 종료 end finish close | 끝나 end finish | 열리 held place location open event
열려 held place location open event | 어디 place location where | 장소 place location venue
건물 building | 회의실 room meeting | 온라인 online | 참가자 participant attendee
참여 participant attend join | 주최 host organizer | 위원 member committee | 회장 president chair
생산 production manufacture | 제조 manufacture maker | 공장 factory plant | 설비 equipment machine | 기계 machine
소비 consumption use | 전력 power electricity | 에너지 energy | 수심 depth | 조류 tide current | 파도 wave
항구 port harbor harbour | 선박 ship vessel | 배편 ferry ship | 여객선 ferry passenger | 승객 passenger
"""
_ALIKE = """
warm temperature weather | warmer temperature weather | hot temperature weather | hotter temperature weather
cold temperature weather | colder temperature weather | rain weather | raining weather | snow weather
sunny weather | calendar event schedule | agenda event schedule | appointment event schedule
planned event schedule | busy event schedule | attend attendee participant | attends attendee participant
takes_part attendee participant | take_place place location | held place location | borrowed loan | borrow loan
lent loan | bring_back loan due return | remember memory knowledge search | recall memory knowledge
worth value convert price | dollar currency | dollars currency | euro currency | euros currency | yen currency
pounds currency lb unit | money currency amount | supplies supplier supply | supplied supplier supply
works department team | boss manager | hired hire date | born birth date | cost price | costs price
expensive price | cheap price | cheapest price | phone contact | email contact | folder directory
directories directory | contents content | big size | bytes size | large size
heavy weight | tall height | long length | modified metadata time
shipped shipping delivery | arrive arrival delivery | arrives arrival delivery | parcel delivery shipping track
package delivery shipping track | happening event | staff employee | worker employee | colleague employee
buy order purchase | bought order purchase | ordered order | paid payment paid | owe bill balance | doctor physician
physician doctor | medicine drug medication | medication drug medicine | film movie | movie film | song track music
car vehicle | flat apartment | assigned assignee assign | responsible owner assignee | in_charge owner assignee
complaint ticket issue | bug issue | problem issue ticket | written note content | kilometres km kilometer unit
kilometers km unit | miles mile unit | feet ft foot unit | now current | currently current
commits commit log history | history log | gap free slot | available free stock | left remaining stock
remaining left | plus sum add calculate | minus subtract calculate | times multiply calculate
divided divide calculate | square_root calculate | percent calculate percentage | closed opening hours
opens opening hours | open opening hours | where place location | venue place location | wrote author
written_by author | who_wrote author | left_over remaining | meeting event meeting | talk event session
rent rental loan | deliver delivery lead | deliver_to delivery | cheaper price | costliest price | bigger size
teaches teacher instructor | taught teacher instructor | plays player | lives address city | born_in birth place
due deadline date | expires expiry | manages manager | leads lead manager | reports_to manager
weigh weight | weighs weight | tall height | old age | worth price value | rating score review
"""

ENGLISH: dict[str, tuple[str, ...]] = {
    korean: tuple(english)
    for row in _ROWS.replace("\n", "|").split("|")
    if row.strip()
    for korean, *english in [row.split()]
}
"""Korean stem → English words."""


ALIKE: dict[str, tuple[str, ...]] = {
    said.replace("_", " "): tuple(meant)
    for row in _ALIKE.replace("\n", "|").split("|")
    if row.strip()
    for said, *meant in [row.split()]
}
"""What people say in English → the words that tools say of themselves."""


def alike(question: str) -> dict[str, str]:
    """Return the words that an English question means without saying them, each with the word that means it."""
    found: dict[str, str] = {}
    lowered = f" {' '.join(re.findall(r'[a-z]+', question.lower()))} "
    for said, meant in ALIKE.items():
        if f" {said} " in lowered:
            for word in meant:
                found.setdefault(word, said)
    return found


_FIRST, _VOWELS, _TAILS = 0xAC00, 21, 28
_TAILS_OF_ENDINGS = frozenset({4, 8, 16, 17, 20})
"""ㄴ, ㄹ, ㅁ, ㅂ, ㅆ: what endings leave under a verb's last syllable."""
_CONTRACTED = {6: 20, 9: 8, 14: 13, 10: 11}
"""Vowels that a verb's own has run together with: ㅕ from ㅣ, ㅘ from ㅗ, ㅝ from ㅜ, ㅙ from ㅚ."""


def _uninflected(text: str) -> str:
    """Return a text whose syllables are without the tails and contractions of endings: 끝난, 바꿔 → 끝나, 바꾸."""
    plain = []
    for letter in text:
        if not "가" <= letter <= "힣":
            plain.append(letter)
            continue
        rest, tail = divmod(ord(letter) - _FIRST, _TAILS)
        lead, vowel = divmod(rest, _VOWELS)
        if tail and tail not in _TAILS_OF_ENDINGS:
            plain.append(letter)
            continue
        plain.append(chr(_FIRST + (lead * _VOWELS + _CONTRACTED.get(vowel, vowel)) * _TAILS))
    return "".join(plain)


def _is_verb(korean: str) -> bool:
    """Tell whether a row may be a verb's stem: two or more syllables that end in a vowel."""
    return len(korean) > 1 and (ord(korean[-1]) - _FIRST) % _TAILS == 0


def in_english(question: str) -> dict[str, str]:
    """Return the English words for the Korean stems in a question, each with the stem that it stands for."""
    found: dict[str, str] = {}
    compact, plain = question.replace(" ", ""), _uninflected(question)
    for korean, english in ENGLISH.items():
        is_apart = len(korean) == 2 and re.search(rf"(?<![가-힣]){korean[0]} {korean[1]}", question) is not None
        is_inflected = _is_verb(korean) and korean in plain
        if is_apart or is_inflected or korean in (compact if len(korean) > 2 else question):
            for word in english:
                found.setdefault(word, korean)
    return found
