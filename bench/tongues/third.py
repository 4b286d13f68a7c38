"""A third set: two things at once, a second call for what the first gave, and follow-ups about another thing by name.

Rows as in `questions`; of each language every second one is `held`. `pair` needs its tool once for each of two things.
Servers of this package and of `bench/unseen`.
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "jobs": """
pair :: en :: Is it warmer in Lisbon or in Madrid today? :: Lisbon :: weather, weather
""",
    "museum": """
pair :: en :: Which is older, A-1021 or A-1077? :: A-1021|Bronze Heron :: exhibit, exhibit
2 :: en :: In which room is A-1077, and who guards that room? :: R7; Carmen :: exhibit, room
""",
    "bikes": """
2 :: en :: At which station is BK-207, and how many docks are free there? :: market; 11 :: bike, station
pair :: de :: Was kosten 30 Minuten auf einem city und auf einem cargo Rad? :: 1.5|1,5; 4.2|4,2 :: fare, fare
""",
    "quay": """
pair :: en :: Compare the lengths of Aurelia and Kaito Star. :: 212; 148 :: ship, ship
pair :: de :: Welches Schiff ist kürzer, Aurelia oder Kaito Star? :: Kaito Star :: ship, ship
""",
    "energy": """
2 :: en :: Which tariff has customer K20418, and what does a kWh cost on it? :: Green12; 31.4 :: customer, tariff
2 :: ko :: K20977 고객은 2026년 11월에 전기를 몇 kWh 썼어? :: 120.8 :: customer, consumption
""",
    "cinema": """
2 :: en :: Who made booking B7731, and when does the screening start? :: Petra Olsson; 21:00|9 PM|9:00 :: booking, screening
pair :: ko :: S-401하고 S-402 중에 남은 자리가 더 많은 건 뭐야? :: S-402 :: screening, screening
pair :: ko :: 입장권은 어른하고 어린이가 각각 얼마야? :: 11.5; 6 :: ticket_price, ticket_price
""",
    "farm": """
pair :: en :: Which field is drier, riverside or old mill? :: riverside :: field_report, field_report
2 :: es :: ¿Cuánto pesa Pico y cuándo le toca el veterinario? :: 47; 2027-01-08|8 de enero :: animals_named, animal
""",
    "weather": """
pair :: ko :: 서울이랑 파리 중에 어디가 더 따뜻해? :: 파리|Paris :: current_weather, current_weather
pair :: ko :: 부산하고 카이로의 습도는 각각 얼마야? :: 48; 31 :: current_weather, current_weather
""",
    "zoo": """
2 :: ko :: 보리를 돌보는 사육사 연락처가 뭐야? :: 0103 :: animal_info, keeper_info
""",
    "campus": """
2 :: ko :: CS101을 가르치는 교수는 누구고 연구실은 어디야? :: 윤서연; 512 :: course_info, professor_info
""",
    "depot": """
2 :: de :: Wer liefert SKU-4402, und in welcher Stadt sitzt der Lieferant? :: Baltic Metals; Gdansk|Danzig :: get_item, get_supplier
2 :: de :: Wie viele Tage braucht der Lieferant von SKU-4404? :: 6|sechs :: get_item, get_supplier
""",
    "clinic": """
pair :: es :: ¿Quién pesa más, el paciente 3107 o el 3220? :: Bruno|3220 :: patient, patient
pair :: es :: ¿Qué es más barato, pelodrin o samivet? :: samivet :: medicine, medicine
""",
    "ferry": """
2 :: es :: ¿Sale a su hora la travesía de la reserva BK7781? :: 40|retras|tarde :: booking, sailing_status
""",
    "gym": """
pair :: ko :: 회원 4471하고 4502 중에 누가 이번 달에 더 자주 왔어? :: 4502|박서준 :: membership, membership
""",
}
TALKS = """
clinic :: en :: What does samivet cost?=>6.2 | And pelodrin?=>17.9 | And what is its dose?=>2 drops|two drops
quay :: en :: Under which flag does Aurelia sail?=>Malta | And Kaito Star?=>Japan | Who is its captain?=>Aya Mori
weather :: ko :: 서울 날씨 어때?=>눈|snow | 부산은?=>맑|clear | 고마워!=>(none)
quay :: ko :: 오늘 만조는 몇 시야?=>4:52 | 내일은?=>5:41 | 고마워!=>(none)
bikes :: es :: ¿Cuántas bicicletas libres hay en la estación harbour?=>7 | ¿Y en market?=>19 | ¿Y en castle?=>0|ningun|no hay
jobs :: de :: Wie ist das Wetter in Oslo?=>Regen|rain | Und in Lisbon?=>16 | Danke!=>(none)
quay :: fr :: Qui est le capitaine de l'Aurelia ?=>Sven Dahl | Et celui du Kaito Star ?=>Aya Mori | Quelle est sa longueur ?=>148
farm :: ja :: 牛乳はあとどれくらいありますか？=>86 | 卵は？=>410 | ありがとう！=>(none)
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
