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
    ("recipes", "b"): """
        1 :: en :: Which recipes can I cook with eggs and onion? :: Shakshuka :: recipes_by_ingredients
        1 :: ko :: 비건 레시피를 알려줘 :: Lentil :: recipes_by_diet
        1 :: en :: How many calories does beef have? :: 250 :: calories
        1 :: en :: What do we have in the pantry? :: rice; onion :: pantry
        1 :: en :: How long does r-bulgogi take to cook? :: 35 :: recipe_details
        2 :: en :: Which ingredients do I need for the lentil soup? :: carrot; onion :: find_recipe, recipe_details
        2 :: ko :: Shakshuka는 몇 인분이야? :: 2 :: find_recipe, recipe_details
        1 :: en :: Which onion recipes take at most 30 minutes? :: Shakshuka :: recipes_by_ingredients
        write :: en :: Put milk and flour on the shopping list. :: milk; flour :: add_to_shopping_list
        missing :: en :: How many calories are in durian? :: durian :: calories
        0 :: en :: What colour do you get when you mix blue and yellow? :: green
    """,
    ("sensors", "b"): """
        1 :: en :: What is the temperature of dev-b2? :: 18.6 :: readSensor
        1 :: ko :: dev-a1의 현재 습도는? :: 22 :: readSensor
        1 :: en :: Are there any critical alarms? :: VOC :: activeAlarms
        1 :: ko :: dev-c3의 배터리는 몇 퍼센트 남았어? :: 63 :: getDevice
        1 :: en :: Where is each device installed? :: Boiler; Cold; Paint :: listDevices
        2 :: en :: What is the temperature in the boiler room? :: 71.4 :: listDevices, readSensor
        2 :: en :: Which model is the device in the paint shop? :: VOC-9 :: listDevices, getDevice
        1 :: en :: What was the maximum temperature of dev-a1 over the last 10 hours? :: 72.4 :: history
        write :: en :: Acknowledge alarm 501. :: 501 :: acknowledgeAlarm
        missing :: en :: What is the humidity at dev-x9? :: dev-x9 :: readSensor
        0 :: ko :: 재미있는 이야기 하나 해줘
    """,
    ("orders", "b"): """
        1 :: en :: What is the status of order 88001? :: pending :: order
        1 :: en :: Which orders have been shipped? :: 88002 :: query_orders
        1 :: en :: Show all orders of customer CU-31. :: 88001; 88003 :: query_orders
        1 :: ko :: 상품 HX-10의 재고는 몇 개야? :: 9400|9,400 :: product
        2 :: en :: Who is the contact person for order 88002? :: 정하늘 :: order, customer
        2 :: ko :: 주문 88001의 상품 이름은 뭐야? :: Wood screw :: order, product
        2 :: en :: In which city is Baltic Timber? :: Gdansk :: lookup_customer, customer
        2 :: en :: Which orders has Baltic Timber placed? :: 88001; 88003 :: lookup_customer, query_orders
        write :: en :: Set order 88001 to shipped. :: 88001; shipped :: update_order_status
        missing :: ko :: 주문 99999의 상태는? :: 99999 :: order
        0 :: en :: Good evening!
    """,
    ("townhall", "b"): """
        1 :: en :: Until when is permit P-301 valid? :: 2027-03-31|March 31 :: permit_get
        1 :: en :: How many pupils does the Lindenhof School have? :: 412 :: school_find
        1 :: ko :: 다리 R-3은 몇 년에 지어졌어? :: 1887 :: bridge_get
        1 :: en :: Who is the owner of the dog Bruno? :: Karl Pohl :: dog_licence_find
        1 :: en :: On which day is the Clock Museum closed? :: Monday :: museum_find
        1 :: ko :: 가로등 S-77은 어느 거리에 있어? :: Harbour Road :: street_lamp_get
        1 :: en :: What is the hourly fee in parking zone Z-1? :: 2.2 :: parking_zone_get
        1 :: en :: How many bus stops are there? :: 1 :: bus_stop_count
        1 :: ko :: 분실물 중에 umbrella가 있는지 찾아줘 :: red umbrella :: lost_item_find
        1 :: en :: When is the council meeting about the tram line? :: 2026-12-14|December 14 :: meeting_find
        missing :: en :: Who holds library card K-99? :: K-99 :: library_card_get
        0 :: en :: Name three primary colours. :: red
    """,
    ("hotel", "c"): """
        1 :: en :: When does the guest of RSV-2201 arrive? :: 2026-12-20|December 20 :: get_reservation
        1 :: en :: How much is a suite for 2 nights? :: 640 :: room_rate
        1 :: ko :: 2026-12-24에 더블룸이 몇 개 비어 있어? :: 4 :: availability
        1 :: en :: Are there single rooms free on December 25, 2026? :: 7 :: availability
        1 :: ko :: 예약 RSV-2202는 몇 호실이야? :: 112 :: get_reservation
        2 :: en :: What is the name of the guest of reservation RSV-2202? :: 정유진 :: get_reservation, get_guest
        2 :: en :: Which loyalty level does Amara Obi have? :: gold :: search_guests, get_guest
        2 :: ko :: 예약 RSV-2201의 손님은 어느 나라 사람이야? :: Nigeria|나이지리아 :: get_reservation, get_guest
        missing :: en :: In which room is reservation RSV-9000? :: RSV-9000 :: get_reservation
        write :: en :: Make a reservation of a double room for Kofi Mensah on 2026-12-24. :: Kofi Mensah; double :: create_reservation
        0 :: en :: What is the plural of "mouse"? :: mice
    """,
    ("league", "c"): """
        1 :: en :: Show me the league table. :: Northport; 31; Eastvale :: standings
        1 :: en :: Who coaches Eastvale? :: Tom Hale :: team
        1 :: en :: How many goals has Marco Sala scored? :: 14 :: player
        1 :: ko :: 경기 M102 결과가 어떻게 됐어? :: 0-0 :: match
        1 :: ko :: 한강FC의 감독은 누구야? :: 박동혁 :: team
        1 :: en :: Who are the top scorers? :: Marco Sala :: top_scorers
        2 :: en :: In which stadium does the team of Ivo Lind play at home? :: Dock Stadium :: player, team
        2 :: en :: Which team has more points, Northport or Eastvale? :: Northport :: team
        missing :: en :: For which team does Zed Quill play? :: Zed Quill :: player
        0 :: ko :: 축하해요!
    """,
    ("garage", "c"): """
        1 :: en :: What is the state of job J-540? :: waiting :: job-get
        1 :: en :: How many kilometers has VH-9 been driven? :: 84200|84,200 :: vehicle-get
        1 :: ko :: 차량 VH-12의 소유자는 누구야? :: 오세훈 :: vehicle-get
        1 :: en :: How many brake pads are in stock? :: 3 :: part-stock
        1 :: en :: Which repair jobs does vehicle VH-12 have? :: oil change :: jobs-of-vehicle
        2 :: en :: What is the phone number of the mechanic of job J-541? :: 555-0141 :: job-get, mechanic-get
        2 :: ko :: 작업 J-540을 맡은 정비사 이름은? :: Piet Boer :: job-get, mechanic-get
        2 :: en :: In which year was the Kia Ray built? :: 2022 :: vehicle-search, vehicle-get
        3 :: en :: Who repairs the Fiat Panda? :: Piet Boer :: vehicle-search, jobs-of-vehicle, job-get, mechanic-get
        missing :: en :: What does job J-999 cost? :: J-999 :: job-get
        0 :: en :: Tell me a fun fact about octopuses.
    """,
    ("zoo", "c"): """
        1 :: ko :: 보리는 무슨 동물이야? :: 호랑이 :: animal_info
        1 :: ko :: 기린 먹이 시간은 언제야? :: 10:00|10시 :: feeding_time
        1 :: ko :: 어린이 입장료는 얼마야? :: 6000|6,000 :: ticket_price
        1 :: ko :: 사육사 K-01의 연락처를 알려줘 :: 0101 :: keeper_info
        1 :: en :: How old is 하늘이? :: 4 :: animal_info
        2 :: ko :: 보리를 담당하는 사육사의 이름은? :: Ben Adler :: animal_info, keeper_info
        missing :: ko :: 코끼리 먹이 시간을 알려줘 :: 없|코끼리 :: feeding_time
        0 :: ko :: 고양이에 대한 짧은 시를 써줘
    """,
    ("pharmacy", "d"): """
        1 :: en :: How many refills are left on prescription RX5001? :: 2 :: prescription
        1 :: ko :: 처방전 RX5002를 쓴 의사는 누구야? :: Adeyemi :: prescription
        1 :: en :: When is the north branch open? :: 8:00; 20:00 :: branch_hours
        1 :: ko :: MED-11은 얼마예요? :: 6.4 :: medicine
        1 :: en :: How many packages of MED-27 does the north branch have? :: 12 :: stock
        2 :: en :: Do I need a prescription for Amoxicillin? :: yes|needed|need|required :: medicine_lookup, medicine
        2 :: en :: What is the name of the medicine on prescription RX5001? :: Amoxicillin :: prescription, medicine
        2 :: ko :: 이부프로펜(Ibuprofen)의 가격은 얼마인가요? :: 6.4 :: medicine_lookup, medicine
        2 :: en :: How many packages of Ibuprofen are there at the north branch? :: 40 :: medicine_lookup, stock
        missing :: en :: Which doctor wrote prescription RX9999? :: RX9999 :: prescription
        write :: en :: Refill prescription RX5001, please. :: RX5001 :: refill
        0 :: en :: What is 7 times 6? :: 42
    """,
    ("podcast", "d"): """
        1 :: en :: Which shows am I subscribed to? :: Deep Currents; 밤의 서재 :: my_subscriptions
        1 :: ko :: 진행자 h8의 이름은 뭐야? :: 서민재 :: get_host
        2 :: en :: In which language is the show Deep Currents? :: English :: search_shows, get_show
        2 :: en :: How long is the episode "Kelp" of show s1? :: 51 :: list_episodes
        2 :: ko :: 밤의 서재의 에피소드를 보여줘 :: 편지 :: search_shows, list_episodes
        3 :: en :: Who hosts Deep Currents? :: Mara Quinn :: search_shows, get_show, get_host
        2 :: en :: What is the name of the host of show s2? :: 서민재 :: get_show, get_host
        missing :: en :: Show me the details of show s99. :: s99 :: get_show
        write :: en :: Subscribe to the show s2. :: s2 :: subscribe
        0 :: ko :: 오늘 하루도 힘내세요!
    """,
}
