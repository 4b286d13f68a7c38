"""Questions on servers that were written in rounds: each round after the rules were changed, and asked once before more.

`a` and what follows: the first figure of each round is the one to expect of servers that nobody has seen.
"""

from __future__ import annotations

LATER: dict[tuple[str, str], str] = {
    ("notes", "a"): """
        2 :: en :: What is the password of the guest wifi? :: blue-lamp-88 :: search_notes, read_note
        1 :: en :: What does note 2 say? :: teapot :: read_note
        1 :: en :: Which high priority tasks are still open? :: passport; plumber :: list_todos
        1 :: ko :: 아직 안 끝난 할 일 목록을 보여줘 :: passport|여권; plumber|배관; dentist|치과 :: list_todos
        2 :: ko :: 오슬로 여행 메모에 적힌 배 시간은 몇 시야? Oslo로 검색해줘 :: 7:40 :: search_notes, read_note
        write :: en :: Mark to-do 13 as done. :: plumber|13 :: complete_todo
        write :: ko :: 할 일에 "Buy stamps"를 추가해줘 :: Buy stamps :: add_todo
        missing :: en :: What is in note 99? :: 99 :: read_note
        0 :: en :: What is the opposite of "hot"? :: cold
    """,
    ("flights", "a"): """
        1 :: en :: Is flight OZ102 on time? :: 55 :: flight_status
        1 :: en :: Which airport code does Lisbon have? :: LIS :: find_airport
        1 :: ko :: 예약번호 R2D9KA의 좌석은 어디야? :: 3A :: get_booking
        1 :: en :: How much luggage may I check in when flying business? :: 32 :: baggage_allowance
        1 :: ko :: ICN에서 NRT로 가는 항공편을 알려줘 :: KE705; OZ102 :: search_flights
        1 :: en :: When does the flight from CDG to LIS leave? :: 18:20 :: search_flights
        2 :: en :: From which gate does the flight of booking R2D9KA leave? :: 12 :: get_booking, flight_status
        2 :: ko :: 예약 QX7PLM의 항공편은 지금 어떤 상태야? :: 55|지연|delayed :: get_booking, flight_status
        3 :: en :: How much is a direct flight from Paris to Lisbon? :: 140 :: find_airport, find_airport, search_flights
        missing :: en :: What is the status of flight ZZ999? :: ZZ999 :: flight_status
        0 :: ko :: 오늘 기분이 좋네요!
    """,
    ("bank", "a"): """
        1 :: en :: What is the balance of account ACC-70011? :: 842 :: get_balance
        1 :: ko :: 고객 C-1001의 계좌 목록을 보여줘 :: ACC-70010 :: list_accounts
        1 :: en :: How much was the rent paid from ACC-70010? :: 1200|1,200 :: list_transactions
        1 :: en :: Which transactions has ACC-70010 had since 2026-11-20? :: 3900|3,900 :: list_transactions
        1 :: ko :: Helena Moreau의 고객번호가 뭐야? :: C-1001 :: find_customer
        2 :: en :: Which kind of account does Helena Moreau have? :: savings :: find_customer, list_accounts
        3 :: en :: How much money does Helena Moreau have in her account? :: 15230|15,230 :: find_customer, list_accounts, get_balance
        3 :: ko :: 박서준 고객의 계좌 잔액은 얼마인가요? :: 842 :: find_customer, list_accounts, get_balance
        missing :: ko :: 계좌 ACC-99999의 잔액은? :: ACC-99999 :: get_balance
        write :: en :: Transfer 50 EUR from ACC-70010 to ACC-70011. :: 50; ACC-70011 :: transfer
        0 :: en :: Why is the sky blue? Answer in one sentence. :: scatter|light|blue
    """,
    ("music", "a"): """
        1 :: en :: Which playlists do I have? :: Morning; Running :: get_playlists
        1 :: en :: What is on my Running playlist? :: Revelator Eyes :: playlist_tracks
        1 :: ko :: Morning 재생목록에 있는 곡을 알려줘 :: Electric Indigo; 긴 꿈 :: playlist_tracks
        1 :: en :: How long is the song Electric Indigo in seconds? :: 253 :: search_tracks
        2 :: en :: In which year was the album with "Revelator Eyes" released? :: 2015 :: search_tracks, get_album
        2 :: ko :: 노래 "긴 꿈"이 실린 앨범 이름은? :: 여름깃 :: search_tracks, get_album
        3 :: en :: Which artist made the track Electric Indigo? :: Paper Kites :: search_tracks, get_album, get_artist
        1 :: en :: Which label released album 21? :: Wonderlick :: get_album
        missing :: en :: What is in the playlist "Garden"? :: Garden :: playlist_tracks
        0 :: en :: Thank you, that was helpful!
    """,
    ("calc", "a"): """
        1 :: en :: What is 12.5 times 8? :: 100 :: multiply
        1 :: en :: Add 1234 and 4321. :: 5555 :: add
        1 :: ko :: 1000에서 357을 빼면 얼마야? :: 643 :: subtract
        1 :: en :: What is the square root of 1764? :: 42 :: square_root
        1 :: en :: What's the average of 4, 8, 15, 16, 23 and 42? :: 18 :: average
        1 :: ko :: 144 나누기 12는? :: 12 :: divide
        1 :: en :: How many feet are 100 meters? :: 328 :: convert_length
        1 :: ko :: 3마일은 몇 킬로미터야? :: 4.828|4.83 :: convert_length
        error :: en :: Divide 5 by 0. :: zero|undefined|not|cannot :: divide
        0 :: en :: Hi there, how are you today?
    """,
    ("forge", "a"): """
        1 :: en :: In which language is the repository atlas written? :: Rust :: getRepository
        1 :: en :: How many stars does beacon have? :: 87 :: getRepository
        1 :: ko :: atlas 저장소의 열린 이슈를 보여줘 :: flicker :: listIssues
        1 :: en :: Who wrote issue 42 in atlas? :: lucia-m|Lucía :: getIssue
        1 :: ko :: 커밋 9f3c2ab의 메시지는 뭐야? :: Cache decoded tiles|캐시 :: getCommit
        2 :: en :: What is the full name of the author of commit b77e01d? :: Lucía Márquez :: getCommit, getUser
        2 :: ko :: atlas의 41번 이슈를 쓴 사람의 회사는 어디야? :: Northwind :: getIssue, getUser
        1 :: en :: List all closed issues of atlas. :: dark theme :: listIssues
        missing :: en :: Is there a repository called zephyr? :: zephyr :: getRepository
        0 :: en :: Write a haiku about the sea.
    """,
    ("apartment", "a"): """
        1 :: ko :: 101-1203 세대주가 누구인가요? :: 최영희 :: household
        1 :: ko :: 101-1203의 2026-11 관리비 얼마야? :: 201500|201,500 :: maintenance_fee
        1 :: ko :: 2026년 10월 101-1203 관리비를 알려줘 :: 184300|184,300 :: maintenance_fee
        1 :: en :: When did the household in unit 102-0504 move in? :: 2024-08-01|August 1 :: household
        1 :: ko :: 차량번호 34나7890은 어느 세대 차야? :: 102-0504 :: find_car
        1 :: ko :: 민원 M-27 처리 상태가 어떻게 돼? :: 처리중|처리 중 :: complaint
        1 :: ko :: 수영장은 몇 시부터 몇 시까지 해? :: 07:00|7시|오전 7; 20:00|8시|20시 :: facility_hours
        2 :: ko :: 차량번호 12가3456의 세대주 이름을 알려줘 :: 최영희 :: find_car, household
        missing :: ko :: 민원 M-99는 어떻게 됐나요? :: M-99|없 :: complaint
        0 :: ko :: 좋은 아침이에요
    """,
}
