"""A second set, on servers that none of the rules of decision 0160 were made for; rows as in `questions`.

Of each group of languages every second one is `held`: asked once, at the end (figures in that decision).
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "bikes": """
1 :: en :: How many bikes can I take at the harbour station? :: 7 :: station
1 :: ko :: BK-207 배터리는 몇 퍼센트 남았어? :: 64 :: bike
2 :: en :: What is Tom Peters' phone number? :: 555-0199 :: find_rider, rider
1 :: ko :: 전기 자전거를 30분 타면 얼마야? :: 2.8 :: fare
1 :: es :: ¿Cuántas bicicletas libres hay en la estación market? :: 19 :: station
1 :: de :: Wer hat BK-207 zuletzt repariert? :: Oskar :: last_repair
1 :: fr :: Quel est le solde du client RD-61 ? :: 3.75|3,75 :: rider
1 :: ja :: 貨物自転車は30分でいくらですか？ :: 4.2 :: fare
missing :: en :: What is wrong with bike BK-999? :: :: bike
missing :: ru :: Какой телефон у клиента RD-77? :: :: rider
0 :: en :: You are great, see you tomorrow! ::
0 :: de :: Schreib mir einen kurzen Satz über den Herbst. ::
1 :: en :: Are there any bicycles left at the castle? :: 0|no |not :: station
2 :: ko :: 엘리프 말고 Tom Peters의 잔액은 얼마야? :: 3.75 :: find_rider, rider
""",
    "clinic": """
1 :: en :: Who owns the animal in file 3220? :: Ivan Petrov :: patient
1 :: ko :: 3107번 환자의 다음 방문은 언제야? :: 2026-12-07|12월 7일 :: next_visit
2 :: en :: When is Bruno's next visit? :: 2026-12-15|December 15|15 December|Dec 15 :: search_patients, next_visit
1 :: ko :: 치과는 어느 의사가 봐? :: Okafor|오카포 :: doctors
1 :: es :: ¿Cuánto cuesta pelodrin? :: 17.9|17,9 :: medicine
1 :: pt :: Em que sala trabalha o cirurgião? :: 4|quatro :: doctors
2 :: fr :: Combien pèse le chien Bruno ? :: 31 :: search_patients, patient
1 :: zh :: samivet 还有库存吗？ :: 0|没|无 :: medicine
1 :: it :: Con quale medico è la prossima visita del paziente 3107? :: Okafor :: next_visit
missing :: ko :: 9001번 환자의 이름은 뭐야? :: :: patient
missing :: en :: What does zanoprin cost? :: :: medicine
0 :: ko :: 고양이는 왜 그렇게 귀여울까? 한 문장으로 말해 줘. ::
1 :: en :: On which days can I see the surgeon? :: Monday;Thursday :: doctors
write :: en :: Please cancel the visit of patient 3107. :: 3107|cancel :: cancel_visit
1 :: ru :: Сколько лет животному из карты 3220? :: 11|одиннадцать :: patient
""",
    "quay": """
1 :: en :: What is inside container MSKU-77120? :: coffee :: container
1 :: ko :: 내일 만조는 몇 시야? :: 5:41|5시 41분 :: tides
2 :: en :: At which berth does the Aurelia lie? :: B6 :: ship, port_call
1 :: ko :: Kaito Star의 선장은 누구야? :: Aya Mori :: ship
1 :: de :: Wie schwer ist der Container TGHU-30418? :: 26.8|26,8 :: container
2 :: es :: ¿Cuándo sale el Kaito Star? :: 12-04|4 de diciembre|8:45 :: ship, port_call
1 :: zh :: Aurelia 号船长多少米？ :: 212 :: ship
1 :: ja :: 今日の干潮は何時ですか？ :: 11:08|11時8分|11時08分 :: tides
1 :: pt :: Quantas horas trabalharam os guindastes em outubro de 2026? :: 1374|1.374 :: crane_hours
missing :: en :: Where is container ABCU-11111? :: :: container
missing :: fr :: Qui est le capitaine du navire Belmonte ? :: :: ship
1 :: en :: Has TGHU-30418 passed customs? :: cleared|yes|passed :: container
0 :: fr :: Merci beaucoup, bonne soirée ! ::
""",
}
TALKS = """
bikes :: en :: Who is rider RD-55? => Elif Kaya | And her phone number? => 555-0142 | How much money has she left? => 12.4
bikes :: ko :: BK-207은 지금 어디에 있어? => market|마켓 | 충전은 얼마나 됐어? => 64 | 마지막 수리비는 얼마였어? => 38
clinic :: en :: Who owns patient 3107? => Greta Holm | What kind of animal is it? => cat | When is its next visit? => 2026-12-07|December 7|7 December
quay :: ko :: MSKU-77120에 뭐가 들어 있어? => coffee|커피 | 무게는? => 21.4 | 그럼 TGHU-30418은? => 26.8|tiles|타일
clinic :: de :: Was kostet pelodrin? => 17.9|17,9 | Und wie ist die Dosis? => 2 drops|2 Tropfen|zwei Tropfen | Danke! => (none)
quay :: fr :: Qui est le capitaine de l'Aurelia ? => Sven Dahl | Et sa longueur ? => 212 | Et sous quel pavillon navigue-t-il ? => Malt
quay :: en :: When is high water today? => 4:52 | And low water? => 11:08 | And tomorrow? => 11:57|5:41
bikes :: es :: ¿Cuánto cuesta media hora en una bici eléctrica? => 2.8|2,8 | ¿Y en una de carga? => 4.2|4,2 | ¿Cuántas hay en la estación harbour? => 7
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
