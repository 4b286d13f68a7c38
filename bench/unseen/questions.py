"""The questions: of eleven servers half are `tune` and half `held`; those of three more are `new`.

Rules were made by looking at the first part, then at the second too; `new` was written after that and asked once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench.unseen.later import LATER


@dataclass(frozen=True)
class Question:
    """A question with what a right answer holds.

    `facts`: all must stand in the answer; `a|b` is either. `forbidden`: must not. `calls`: tools that a right run
    calls, for looking at choices alone. Kind: number of calls, `missing` (the tool says it is not there), `error`,
    `write` (something is to be changed, and must be).
    """

    server: str
    part: str
    kind: str
    language: Literal["en", "ko"]
    text: str
    facts: tuple[str, ...]
    calls: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


def _rows(server: str, part: str, rows: str) -> list[Question]:
    """Read `kind :: language :: question :: facts; … :: tools, …` lines; the last two may be empty."""
    found = []
    for line in rows.strip().splitlines():
        kind, language, text, facts, calls = [cell.strip() for cell in (line + "::::").split("::")[:5]]
        found.append(
            Question(
                server, part, kind, "ko" if language == "ko" else "en", text,
                tuple(one.strip() for one in facts.split(";") if one.strip()),
                tuple(one.strip() for one in calls.split(",") if one.strip()),
            )
        )  # fmt: skip
    return found


QUESTIONS: list[Question] = [
    *_rows("library", "tune", """
        1 :: en :: Which books by George Orwell do you have? :: Nineteen Eighty-Four; Animal Farm :: search_catalog
        1 :: ko :: 한강 작가의 책을 찾아줘 :: 채식주의자; 작별하지 않는다 :: search_catalog
        1 :: en :: What has the member with card M-0012 borrowed? :: 작별하지 않는다 :: member_loans
        1 :: en :: When is the library open on Saturdays? :: 10:00; 16:00 :: opening_hours
        2 :: en :: When does Omar Diallo have to bring his books back? :: no |none|nothing|empty|not :: find_member, member_loans
        2 :: en :: Which books does Lena Hoffmann have on loan? :: Nineteen Eighty-Four; Mockingbird :: find_member, member_loans
        missing :: en :: Who wrote the book with ISBN 978-0-00-000000-2? :: No book|not found|not exist|no |not :: get_book
        write :: en :: Please renew loan L-503 for 3 weeks. :: L-503; 3 weeks :: renew
        0 :: en :: What is the capital of Norway? :: Oslo
        0 :: ko :: 고마워요!
    """),
    *_rows("library", "held", """
        1 :: en :: On which shelf is the book 978-0-06-112008-4? :: B4 :: get_book
        1 :: ko :: 회원 M-0007이 빌린 책은? :: Nineteen Eighty-Four; Mockingbird :: member_loans
        1 :: ko :: 도서관은 일요일에 몇 시에 열어요? :: closed|휴관|닫|휴무|열지 않|운영하지 않 :: opening_hours
        1 :: en :: Which loans are overdue as of 2026-12-15? :: L-501; L-502 :: overdue
        1 :: en :: What is Omar Diallo's card number? :: M-0031 :: find_member
        2 :: ko :: 박지훈 회원이 빌린 책의 반납일은 언제야? :: 2026-12-11|12월 11일 :: find_member, member_loans
        missing :: ko :: 카드 번호 M-9999 회원의 대출 목록을 보여줘 :: M-9999 :: member_loans
        missing :: en :: Do you have anything by Toni Morrison? :: no |not|none|n't|empty :: search_catalog
        0 :: en :: Write a short poem about autumn.
    """),
    *_rows("weather", "tune", """
        1 :: en :: What is the weather in Toronto now? :: -7; cloudy :: current_weather
        1 :: ko :: 서울 날씨 어때? :: -2; snow|눈 :: current_weather
        1 :: en :: How much is 50 USD in EUR? :: 40 :: convert_currency
        1 :: ko :: 100유로는 몇 원이야? EUR를 KRW로 바꿔줘. :: 156250|156,250|1.5625e+05|1.5625 :: convert_currency
        1 :: en :: Give me the 2 day forecast for Lima. :: 20; 21 :: forecast
        2 :: en :: Is it warmer in Cairo or in Paris? :: Cairo :: current_weather, current_weather
        missing :: en :: What's the temperature in Reykjavik? :: not covered|Reykjavik|not :: current_weather
        0 :: en :: What is 2 plus 2? :: 4
        0 :: ko :: 자기소개를 한 문장으로 해줘
    """),
    *_rows("weather", "held", """
        1 :: en :: What is the temperature in Paris in Fahrenheit? :: 48.2 :: current_weather
        1 :: ko :: 부산의 습도는 얼마야? :: 48 :: current_weather
        1 :: en :: Convert 2500 KRW to USD. :: 2 :: convert_currency
        1 :: en :: Which currencies can you convert? :: JPY; GBP :: supported_currencies
        1 :: ko :: 카이로의 내일부터 3일간 예보를 알려줘 :: 25; 27 :: forecast
        2 :: ko :: 서울과 부산 중 어디가 더 추워? :: 서울 :: current_weather, current_weather
        missing :: en :: Convert 10 USD to CHF. :: CHF :: convert_currency
        0 :: en :: Who wrote Hamlet? :: Shakespeare
    """),
    *_rows("shop_kr", "tune", """
        1 :: ko :: 상품 P1003 재고 몇 개 남았어? :: 4 :: stock_check
        1 :: ko :: 주문번호 20261101-33 배송 어디까지 왔어? :: 대전 :: track_delivery
        1 :: ko :: 키보드 상품을 검색해줘 :: 무선 키보드; 45 :: product_search
        1 :: en :: What is the status of order 20261103-07? :: 결제완료|paid|payment :: order_detail
        1 :: ko :: 지금 쓸 수 있는 쿠폰 보여줘 :: WELCOME10; FREESHIP :: coupon_list
        2 :: ko :: USB 허브 재고가 몇 개인지 알려줘 :: 57 :: product_search, stock_check
        missing :: ko :: 주문번호 20269999-01의 상태를 알려줘 :: 20269999-01|없 :: order_detail
        0 :: ko :: 안녕, 반가워
    """),
    *_rows("shop_kr", "held", """
        1 :: ko :: 고객센터는 언제 운영하나요? :: 10:00; 18:00 :: store_hours
        1 :: ko :: 김민지 고객의 주문 목록 :: 20261101-33; 20261105-91 :: orders_of_customer
        1 :: ko :: 60000원에 WELCOME10 쿠폰을 쓰면 얼마야? :: 54000|54,000 :: apply_coupon
        1 :: en :: Show the reviews of product P1001 :: 조용|quiet; 배송|delivery|shipping :: reviews
        1 :: ko :: 주문 20261105-91을 주문한 사람은 누구야? :: 김민지 :: order_detail
        2 :: ko :: 게이밍 마우스는 지금 재고가 있나요? :: 0|없 :: product_search, stock_check
        missing :: en :: How many of product P7777 are in stock? :: P7777|없 :: stock_check
        0 :: ko :: 바다에 대한 짧은 문장을 하나 써줘
    """),
    *_rows("agenda", "tune", """
        1 :: en :: What is on my calendar on 2026-12-01? :: Budget review; Dentist :: events_on
        1 :: en :: When is the next public holiday in Korea? :: 2026-12-25|December 25|25 :: next_holiday
        1 :: ko :: 2026년 12월 3일 일정 알려줘 :: Design workshop :: events_on
        1 :: en :: Which events does Ken attend? :: Budget review; Design workshop; Year-end :: find_events
        2 :: en :: Where does the year-end dinner take place? :: Harbour Grill :: find_events, event_details
        1 :: en :: When am I free for 60 minutes on 2026-12-03? :: 09:00; 13:00 :: free_slots
        missing :: en :: Who attends event evt_zz9? :: evt_zz9|not exist|no :: event_details
        0 :: en :: Say hello in French. :: Bonjour|Salut
    """),
    *_rows("agenda", "held", """
        1 :: en :: Who takes part in evt_b7? :: Ken; 민수 :: event_details
        1 :: ko :: 일본의 다음 공휴일은 언제야? :: 2027-01-01|1월 1일 :: next_holiday
        1 :: ko :: 민수가 참석하는 일정은? :: Design workshop; Year-end :: find_events
        1 :: en :: Is there a gap of 180 minutes on 2026-12-01? :: 10:00; 15:30 :: free_slots
        2 :: en :: At what time does the design workshop end? :: 17:00|5 PM|5:00 :: find_events, event_details
        2 :: ko :: 예산 회의(Budget review)는 어디에서 열려? :: Room 4 :: find_events, event_details
        1 :: en :: Anything planned on 2026-12-05? :: no |nothing|none|not|n't|empty :: events_on
        0 :: ko :: 하늘은 왜 파란가요?
    """),
    *_rows("units", "tune", """
        1 :: en :: How many kilometres are 26.2 miles? Convert mile to km. :: 42.1 :: convert
        1 :: en :: What is 17 * 23 + 4? :: 395 :: calculator
        1 :: ko :: 5 lb는 몇 kg이야? :: 2.26|2.27 :: convert
        1 :: en :: Which volume units do you know? :: gallon :: list_units
        error :: en :: Convert 3 km to kg. :: cannot|can't|not :: convert
        0 :: en :: Tell me a fun fact about cats.
    """),
    *_rows("units", "held", """
        1 :: en :: Convert 12 inch to cm. :: 30.48 :: convert
        1 :: ko :: 1024 / 8 을 계산해줘 :: 128 :: calculator
        1 :: ko :: 질량 단위 목록을 보여줘 (mass) :: lb; oz :: list_units
        1 :: en :: How many ml are in 2 gallon? :: 7571 :: convert
        error :: en :: Convert 4 parsec to km. :: parsec|unknown :: convert
        0 :: ko :: 좋은 아침이에요
    """),
    *_rows("helpdesk", "tune", """
        1 :: en :: What is ticket 413 about? :: print :: read_ticket
        1 :: en :: Which tickets are assigned to dana? :: 412; 420 :: search_tickets
        1 :: ko :: 412번 티켓에 적힌 내부 메모를 보여줘 :: Router; Wi-Fi :: ticket_notes
        1 :: en :: Who is in the printers team? :: pavel :: team_members
        2 :: en :: What is the full name of the agent who has ticket 418? :: Yuki Tan :: read_ticket, who_is
        missing :: en :: What's the priority of ticket 999? :: 999 :: read_ticket
        write :: en :: Close ticket 413, please. :: 413; closed :: close_ticket
        0 :: en :: Give me a synonym for happy.
    """),
    *_rows("helpdesk", "held", """
        1 :: en :: Which tickets are still new? :: 413; 420 :: search_tickets
        1 :: ko :: 420번 티켓의 담당자는 누구야? :: dana :: read_ticket
        1 :: en :: How many open tickets did each agent have this month? :: 9; 5; 3 :: workload
        1 :: en :: Which tickets came from the company ACME? :: 412; 418 :: search_tickets
        2 :: ko :: 412번 티켓 담당자의 소속 팀은 어디야? :: network|네트워크 :: read_ticket, who_is
        missing :: ko :: 로그인이 minsu인 상담원은 누구야? :: minsu :: who_is
        write :: ko :: 413번 티켓을 pavel에게 배정해줘 :: 413; pavel :: assign
        0 :: en :: What colour do you get from blue and yellow? :: green
    """),
    *_rows("clinic", "tune", """
        1 :: en :: What is the blood type of patient PT-2201? :: O+ :: patient_details
        1 :: ko :: 환자 PT-2202는 어느 병동에 있나요? :: West :: patient_details
        1 :: en :: How many beds are on file? :: 3 :: bed_count
        1 :: en :: Is bed B-05 free? :: free|yes :: bed_details
        1 :: en :: Has bill BL-880 been paid? :: no|not|false|unpaid :: bill_details
        2 :: en :: What is the pager of the doctor of patient PT-2203? :: 5-117 :: patient_details, doctor_details
        2 :: en :: Who supplies the drug RX-300? :: 한빛제약 :: drug_details, supplier_details
        missing :: en :: Which ward is patient PT-9999 in? :: PT-9999 :: patient_details
        0 :: en :: Tell me a joke.
    """),
    *_rows("clinic", "held", """
        1 :: en :: What was the reason for visit VS-72? :: rash :: visit_details
        1 :: ko :: 검사 LT-9의 결과는? :: 13.9 :: lab_test_details
        1 :: en :: List all suppliers. :: Medika; 한빛제약 :: supplier_list
        1 :: ko :: 의사는 모두 몇 명이야? :: 2|두 :: doctor_count
        1 :: en :: Find the drug called Lisinopril: how many are in stock? :: 0|no|none :: find_drug
        2 :: en :: How many days does the supplier of RX-301 take to deliver? :: 4 :: drug_details, supplier_details
        2 :: ko :: 환자 PT-2202의 담당 의사의 전문 분야는? :: dermatology|피부 :: patient_details, doctor_details
        3 :: en :: What is the name of the patient in bed B-04 and what is the specialty of that patient's doctor? :: Greta Olsen; cardiology :: bed_details, patient_details, doctor_details
        0 :: ko :: 농담 하나 해줘
    """),
    *_rows("everything", "tune", """
        1 :: en :: Echo the message "ferry at noon". :: ferry at noon :: echo
        1 :: en :: Add 19 and 23 with the sum tool. :: 42 :: get-sum
        0 :: en :: Name three primary colours. :: red; blue
    """),
    *_rows("everything", "held", """
        1 :: en :: What is the sum of 128 and 64? :: 192 :: get-sum
        1 :: ko :: "나루터에서 만나" 라는 메시지를 에코해줘 :: 나루터에서 만나 :: echo
        1 :: en :: Get the structured weather content for Chicago. :: Chicago|temperature|humidity|36|light :: get-structured-content
        0 :: en :: What is the opposite of cold? :: hot|warm
    """),
    *_rows("memory", "tune", """
        1 :: en :: What do you remember about Mina? :: violin :: search_nodes
        1 :: en :: Read the whole knowledge graph. :: Mina; Harbor :: read_graph
        0 :: en :: What language is spoken in Brazil? :: Portuguese
    """),
    *_rows("memory", "held", """
        1 :: en :: Open the node named Harbor Cafe. :: coffee|Busan :: open_nodes
        1 :: ko :: 기억에서 Jun에 대해 찾아줘 :: sailor|선원 :: search_nodes
        0 :: ko :: 오늘 기분이 어때?
    """),
    *_rows("time", "tune", """
        1 :: en :: What time is it now in Asia/Seoul? :: Seoul|+09:00|KST|: :: get_current_time
        1 :: en :: Convert 16:30 from Asia/Tokyo to Asia/Kolkata. :: 13:00|1:00 PM :: convert_time
        0 :: en :: What is H2O? :: water
    """),
    *_rows("time", "held", """
        1 :: en :: If it is 09:15 in Asia/Seoul, what time is it in Asia/Tokyo? :: 09:15 :: convert_time
        1 :: ko :: 지금 Asia/Dubai는 몇 시야? :: : |시|: :: get_current_time
        error :: en :: What time is it in Mars/Olympus? :: Mars|invalid|Invalid|not :: get_current_time
    """),
    *_rows("git", "tune", """
        1 :: en :: Show the last commits of the repository {folder}. :: Add the harbour timetable :: git_log
        1 :: en :: Which branches does the repository {folder} have? :: winter :: git_branch
        0 :: en :: What does the word "merge" mean in daily English?
    """),
    *_rows("git", "held", """
        1 :: en :: What is the status of the git repository {folder}? :: notes.txt :: git_status
        1 :: ko :: {folder} 저장소의 커밋 기록을 보여줘 :: Add the harbour timetable :: git_log
        1 :: en :: Show the unstaged changes in {folder}. :: Boat 8|-Boat|+Boat :: git_diff_unstaged
        0 :: ko :: 나무에 대해 한 문장 써줘
    """),
    *_rows("depot", "new", """
        1 :: en :: How many pieces of SKU-4404 do we have? :: 61 :: stock_level
        1 :: en :: Which items are running low? :: Copper pipe :: low_stock
        1 :: ko :: SKU-4401의 단가는 얼마예요? :: 0.35 :: get_item
        1 :: ko :: 공급업체 SUP-09의 전화번호를 알려줘 :: 0109 :: get_supplier
        2 :: en :: In which bin are the safety goggles? :: A-02 :: find_item, stock_level
        2 :: ko :: 절연 테이프 재고는 몇 개야? :: 240 :: find_item, stock_level
        2 :: en :: How many days does the supplier of SKU-4402 need for delivery? :: 12 :: get_item, get_supplier
        missing :: en :: What does SKU-9900 cost? :: SKU-9900 :: get_item
    """),
    *_rows("ferry", "new", """
        1 :: en :: Is sailing F312 on time? :: 40|delayed :: sailing_status
        1 :: ko :: 예약 BK7790의 승객 이름은? :: Nora Lind :: booking
        1 :: en :: When do ferries leave from Mokpo to Jeju? :: 09:00; 16:30 :: list_sailings
        1 :: en :: How many passengers can the Camellia carry? :: 522 :: ship_info
        1 :: ko :: suite 객실 2명 요금은 얼마야? :: 360000|360,000 :: fare
        2 :: en :: From which pier does the sailing of booking BK7781 leave? :: 1 :: booking, sailing_status
        0 :: en :: Tell me a riddle.
    """),
    *_rows("campus", "new", """
        1 :: ko :: CS205 강의는 어디에서 해요? :: 301 :: course_info
        1 :: ko :: 수요일 학생식당 점심 메뉴가 뭐야? :: 김치찌개 :: cafeteria_menu
        1 :: en :: How many seats are left in the library reading rooms? :: 42; 7 :: library_seats
        2 :: ko :: 한국사 강의는 몇 학점이야? :: 2 :: course_search, course_info
        2 :: en :: What is the email address of the professor who teaches CS101? :: yoon@campus.example :: course_info, professor_info
        3 :: ko :: 운영체제 과목 담당 교수의 연구실은 어디야? :: 514 :: course_search, course_info, professor_info
        0 :: ko :: 반가워요, 잘 지내죠?
    """),
    *(one for (server, part), rows in LATER.items() for one in _rows(server, part, rows)),
]  # fmt: skip
