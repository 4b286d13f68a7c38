"""A fourth set, asked once and never tuned for: servers that the other sets hardly use, and two of its own.

Rows as in `questions`; all of them are `held`. Where two or three things are compared (the lockers, the devices, the
last of the league) a wrong answer can name the right one too: those are read by a person.
"""

from __future__ import annotations

from dataclasses import replace

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "post": """
1 :: en :: My package PX-4410 still hasn't turned up. Where is it stuck? :: Leipzig|customs :: track
2 :: en :: I'm Dana Levy. When will my parcel get here? :: 2026-12-03|December 3|3 December|Dec 3|3 Dec|3rd of December|12/03 :: find_parcels, track
1 :: ko :: 프랑스로 300그램짜리 편지를 부치면 얼마야? :: 4.8 :: postage
pair :: fr :: Où y a-t-il le plus de place, au casier L-12 ou au L-30 ? :: L-30 :: locker, locker
1 :: de :: Bis wann hat die Filiale am Bahnhof samstags offen? :: 15:30|15.30|15 Uhr 30|halb vier :: branch_hours
1 :: ja :: 荷物 PX-4471 の重さはどのくらいですか？ :: 7.8 :: track
missing :: en :: Who brings the mail on round R-99? :: :: delivery_round
0 :: en :: Ha, you made my day, thanks a lot! ::
""",
    "orchestra": """
2 :: en :: What does Ingrid Moe play? :: bassoon :: find_musician, musician
1 :: en :: I'd like to borrow a trumpet for a month. What would that set me back? :: 29 :: hire_fee
1 :: ko :: C-71 공연 지휘자가 누구야? :: Nadia Orlov|나디아|오를로프 :: concert
pair :: ko :: 바이올린하고 첼로를 한 달 빌리면 각각 얼마야? :: 24; 37.5 :: hire_fee, hire_fee
1 :: es :: ¿Cuánto dura la obra Aurora? :: 46|cuarenta y seis :: piece
1 :: ru :: Во сколько репетиция в четверг? :: 17:45|17.45|17 часов 45|без пятнадцати шесть :: rehearsal
missing :: ko :: C-99 공연은 어느 홀에서 해? :: :: concert
0 :: fr :: Raconte-moi une petite blague. ::
""",
    "hotel": """
pair :: en :: What's one night in a single, and what's one in a double? :: 90; 130 :: room_rate, room_rate
1 :: ko :: 2026년 12월 24일에 스위트룸 남은 거 있어? :: 0|없|아니|no :: availability
2 :: pt :: De que país vem o hóspede da reserva RSV-2202? :: Coreia|Coréia|Korea :: get_reservation, get_guest
""",
    "library": """
1 :: en :: Where do I find Pride and Prejudice? :: A3 :: search_catalog
2 :: ko :: 박지훈 씨가 지금 빌려 간 책 제목이 뭐야? :: 작별하지 않는다 :: find_member, member_loans
""",
    "pharmacy": """
1 :: en :: Can I pop by the south pharmacy on a Saturday? :: no,|no.|not |n't|closed|Mon-Fri|Friday :: branch_hours
1 :: ko :: RX5001은 누구 처방전이야? :: Ola Svensson|올라 :: prescription
2 :: es :: ¿Cuánto cuesta el medicamento de la receta RX5001? :: 11.9|11,9 :: prescription, medicine
missing :: de :: Was kostet Zaldorin? :: :: medicine_lookup
0 :: zh :: 晚安，明天见！ ::
""",
    "podcast": """
2 :: ko :: Deep Currents 42화 제목이 뭐야? :: Kelp|켈프 :: search_shows, list_episodes
1 :: ja :: 番組 s1 の「Eels」は何分ですか？ :: 38 :: list_episodes
2 :: it :: Di quale città è chi conduce il programma s1? :: Cork :: get_show, get_host
""",
    "sensors": """
1 :: en :: Which gadget is about to run out of juice? :: dev-b2|Cold store :: activeAlarms
1 :: ko :: dev-c3의 VOC 수치가 지금 얼마야? :: 340 :: readSensor
pair :: zh :: dev-a1 和 dev-c3，哪个温度更高？ :: dev-a1 :: readSensor, readSensor
0 :: ko :: 오늘 점심으로 뭐 먹을까? 하나만 추천해 줘. ::
""",
    "helpdesk": """
2 :: en :: Who is dealing with ticket 420, and in which team are they? :: Dana; network :: read_ticket, who_is
1 :: ko :: 이번 달에 yuki한테 열려 있는 티켓이 몇 개야? :: 5|다섯 :: workload
1 :: fr :: De quelle entreprise vient le ticket 412 ? :: ACME :: read_ticket
""",
    "league": """
1 :: en :: How did M101 end, and on what day was it played? :: 2-1|2:1|2–1|2 - 1|2 to 1; 2026-11-07|November 7|7 November|Nov 7|7 Nov|7th of November :: match
1 :: ko :: 지금 리그 꼴찌가 누구야? :: 한강 :: standings
1 :: ru :: На какой позиции играет Ivo Lind? :: goalkeeper|вратар :: player
missing :: es :: ¿Quién entrena al Westhaven? :: :: team
""",
    "ferry": """
1 :: en :: There are four of us. What do we pay in economy? :: 130000|130,000|130.000|130 000 :: fare
1 :: ko :: Santa Lucia호에는 차를 몇 대까지 실을 수 있어? :: 350 :: ship_info
2 :: de :: Fährt das Schiff von Buchung BK7790 heute? :: cancel|abgesagt|fällt|gestrichen|storniert|annul|nicht|nein :: booking, sailing_status
1 :: pt :: A que horas sai o barco de Busan para Fukuoka? :: 22:30|22h30|22h 30|22 h 30|10:30 :: list_sailings
""",
}
TALKS = """
hotel :: en :: In which room is RSV-2202? => 112 | And who is the guest? => 정유진|Yujin|Yoo-jin|Yu-jin|Jeong|Jung | Where does she come from? => Korea
orchestra :: en :: Who conducts C-71? => Nadia Orlov | In which hall is it? => Amber | And C-74? => Olaf|Hugo Prins
post :: ko :: PX-4471 지금 어디에 있어? => Turin|토리노|튜린 | 언제 도착해? => 2026-12-03|12월 3일|12월 03일 | 고마워! => (none)
league :: ko :: Marco Sala는 몇 골 넣었어? => 14 | 손지우는? => 6|여섯 | 그 선수는 어느 팀이야? => 한강
ferry :: es :: ¿Sale a tiempo la travesía F312? => 40|retras|demor|tarde | ¿Y la F520? => cancel|viento|wind | Muchas gracias. => (none)
sensors :: de :: Wie warm ist es bei dev-a1? => 71.4|71,4 | Und bei dev-b2? => 18.6|18,6 | Wie voll ist dessen Batterie? => 14
pharmacy :: fr :: Combien coûte MED-11 ? => 6.4|6,4 | Et MED-27 ? => 11.9|11,9 | Il faut une ordonnance pour celui-là ? => oui|nécess|requis|besoin|il faut|obligat
helpdesk :: ja :: チケット413はどの会社からですか？ => Hanul|ハヌル | では418は？ => ACME | 担当者は誰ですか？ => yuki|ユキ
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions; of `dev` there are none."""
    return [replace(one, part="held") for one in read_questions(ROWS, "") if part in ("", "held")]


def talks(part: str = "") -> list[Talk]:
    """Return the conversations; of `dev` there are none."""
    return [replace(one, part="held") for one in read_talks(TALKS, "") if part in ("", "held")]
