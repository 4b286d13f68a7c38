"""The questions, by server: every second one of a language is `held` and was asked once, at the end; the others were looked at.

A row: kind :: language :: question :: facts :: tools. Kinds: how many calls it needs (`0` is talk: no tool may run),
`missing` (what is asked for is not there, and that must be said), `write` (a change is ordered and must be made).
Facts must all stand in the answer, `a|b` is either; tools are those that a right run calls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

ROWS = {
    "cinema": """
1 :: en :: How many seats are still free for S-402? :: 63 :: screening
1 :: ko :: 상영 S-401은 몇 시에 시작해? :: 18:30|6시 30분|6:30 :: screening
1 :: es :: ¿Cuánto cuesta una entrada para estudiantes? :: 8.5|8,5 :: ticket_price
1 :: de :: Auf welchen Namen läuft die Buchung B7731? :: Petra Olsson :: booking
1 :: fr :: Combien de minutes dure le film Night Orchard ? :: 131 :: find_film
1 :: ja :: 子ども1人のチケットはいくらですか？ :: 6 :: ticket_price
2 :: en :: When does Paper Whales start? :: 15:15|3:15 :: find_film, screenings_of_film
1 :: ko :: 고요한 항구 말고 Night Orchard 감독이 누구야? :: Brandt :: find_film
1 :: zh :: S-410 这场还剩几个座位？ :: 5 :: screening
1 :: pt :: Qual é a idade mínima para ver The Quiet Harbour? :: 12 :: find_film
missing :: en :: Who booked under the code B9999? :: :: booking
missing :: ko :: 예약 코드 B1234로 예약한 사람이 누구야? :: :: booking
1 :: ru :: В каком зале идёт сеанс S-401? :: 2 :: screening
2 :: it :: A che ora comincia Night Orchard? :: 21:00|21 :: find_film, screenings_of_film
0 :: en :: Thanks, that was very helpful! ::
0 :: ko :: 안녕! 오늘 기분 어때? ::
write :: en :: Please cancel booking B7731. :: B7731|cancel :: cancel_booking
0 :: es :: ¿Qué es un documental? Explícamelo en una frase. ::
1 :: en :: I'm 70 years old. What do I pay to get in? :: 9 :: ticket_price
1 :: fr :: La réservation B7731, c'est pour quelles places ? :: C4;C5 :: booking
""",
    "gym": """
1 :: en :: Until when has member 4490 paid? :: 2026-11-30|November 30|30 November|Nov 30 :: membership
1 :: ko :: 회원 4471의 사물함은 몇 번이야? :: 38 :: locker
2 :: en :: Which plan does Hanna Virtanen have? :: gold :: find_member, membership
2 :: ko :: 박서준 회원의 이번 달 방문 횟수는? :: 14 :: find_member, membership
1 :: es :: ¿Hasta qué hora está abierto el gimnasio el domingo? :: 18 :: opening_hours
1 :: de :: Wer leitet am Donnerstag den Kurs? :: Dragan :: courses
1 :: fr :: Combien de places reste-t-il au cours de natation ? :: 11 :: courses
1 :: ja :: 会員4502のプランは何ですか？ :: silver|シルバー :: membership
1 :: zh :: 星期二的瑜伽课几点开始？ :: 7:30|七点半|七点三十 :: courses
2 :: pt :: Qual é o número do armário de Hanna Virtanen? :: 38 :: find_member, locker
1 :: ru :: Сколько раз в этом месяце приходил участник 4490? :: 2|два|дважды :: membership
1 :: it :: Chi insegna boxe? :: Dragan :: courses
missing :: en :: Which locker does member 4490 rent? :: :: locker
missing :: de :: Welchen Tarif hat das Mitglied 9999? :: :: membership
0 :: en :: Write one sentence about why sleep is good for you. ::
0 :: fr :: Bonjour ! Comment vas-tu ? ::
1 :: en :: Can I still get a spot in Thursday's class? :: 0|no |not|full :: courses
1 :: ko :: 토요일에는 몇 시부터 운동할 수 있어? :: 8|여덟 :: opening_hours
0 :: ja :: ありがとう、助かりました！ ::
write :: ko :: 회원 4490의 회원권을 해지해 줘. :: 4490|해지 :: cancel_membership
""",
    "farm": """
1 :: en :: How much does cow-031 weigh? :: 612 :: animal
1 :: ko :: 염소 goat-008은 언제 태어났어? :: 2023-02-02|2023년 2월 2일 :: animal
1 :: es :: ¿Cuántos huevos hay en el granero? :: 410 :: stock
1 :: de :: Wie feucht ist der Boden auf dem Feld Riverside? :: 23 :: field_report
1 :: fr :: Quelle machine est en panne ? :: baler|botteleuse|presse :: machines
1 :: ja :: ジャガイモは何キロありますか？ :: 1250|1,250 :: stock
2 :: en :: In which stall is Pico? :: hill :: animals_named, animal
2 :: ko :: 베르타(Berta)의 다음 수의사 방문은 언제야? :: 2026-12-19|12월 19일 :: animals_named, animal
1 :: zh :: 还有多少牛奶？ :: 86 :: stock
1 :: pt :: O que está plantado no campo old mill? :: clover|trevo :: field_report
1 :: ru :: Когда следующее обслуживание трактора? :: 2027-02-11|11 февраля|11.02.2027 :: machines
1 :: it :: Quanti ettari ha il campo riverside? :: 6.4|6,4 :: field_report
missing :: en :: How heavy is the animal with tag sheep-777? :: :: animal
missing :: zh :: 编号 pig-001 的动物叫什么名字？ :: :: animal
0 :: en :: What is the difference between a cow and a bull? ::
0 :: de :: Danke schön, du hast mir sehr geholfen! ::
1 :: en :: Do we have enough to feed the herd? I mean the bales. :: 340 :: stock
1 :: ko :: 지금 쓸 수 있는 기계는 뭐야? :: tractor|트랙터 :: machines
1 :: es :: ¿Qué cultivos tenemos y en qué campos? :: barley|cebada;clover|trébol :: list_fields
0 :: ko :: 농담 하나 해 줘. ::
""",
    "energy": """
1 :: en :: What is the meter number of customer K20418? :: MZ-5580 :: customer
1 :: ko :: 고객 K20977의 주소가 어디야? :: Dock Street 18 :: customer
1 :: es :: ¿Cuántos kWh consumió el contador MZ-6127 en noviembre de 2026? :: 120.8|120,8 :: consumption
1 :: de :: Wie hoch ist die Grundgebühr im Tarif Basic? :: 8.5|8,5 :: tariff
1 :: fr :: Quand le courant revient-il à Riverside ? :: 17:40|17h40|17 h 40 :: outage
1 :: ja :: 2026年10月のメーター MZ-5580 の使用量は？ :: 214.5 :: consumption
2 :: en :: Which tariff is Luca Ferri on? :: Basic :: search_customers, customer
2 :: ko :: Marta Kowalska 고객의 계량기 번호는? :: MZ-5580 :: search_customers, customer
1 :: zh :: Green12 套餐每度电多少分？ :: 31.4 :: tariff
2 :: pt :: Qual é a morada de Marta Kowalska? :: Mill Lane 3 :: search_customers, customer
1 :: ru :: Почему в Riverside нет света? :: cable|кабел :: outage
1 :: it :: Quante case sono senza corrente a Riverside? :: 212 :: outage
missing :: en :: How much power did meter MZ-5580 use in January 2020? :: :: consumption
missing :: ko :: 고객 K99999의 이름이 뭐야? :: :: customer
0 :: en :: Why is the sky blue? One sentence, please. ::
0 :: pt :: Olá! Tudo bem? ::
write :: en :: Put customer K20977 on the Green12 tariff. :: Green12 :: change_tariff
1 :: en :: My lights went off, I live in Riverside. What happened? :: cable :: outage
1 :: ko :: Green12는 몇 개월 약정이야? :: 12 :: tariff
0 :: ru :: Спасибо большое! ::
""",
    "museum": """
1 :: en :: In which year was A-1077 made? :: 1911 :: exhibit
1 :: ko :: 전시품 A-1021의 작가는 누구야? :: Sofia Lindqvist|소피아 :: exhibit
1 :: es :: ¿En qué planta está la sala R7? :: 2|segund|dos :: room
1 :: de :: Wann beginnt die deutsche Führung? :: 13:30|13.30 :: guided_tours
1 :: fr :: Combien de places libres pour la visite en français ? :: 9|neuf :: guided_tours
1 :: ja :: 2026年11月22日の来館者数は？ :: 2215|2,215 :: visitor_count
2 :: en :: In which room hangs the Blue Staircase? :: R3 :: search_exhibits, exhibit
2 :: ko :: Woman with a Lamp는 몇 년도 작품이야? :: 1911 :: search_exhibits, exhibit
1 :: zh :: R3 展厅的警卫叫什么？ :: Idris|伊德里斯 :: room
1 :: pt :: Que obras de Karel Novak vocês têm? :: Woman with a Lamp|1077 :: search_exhibits
1 :: ru :: Сколько посетителей было 21 ноября 2026 года? :: 1840|1 840|1,840 :: visitor_count
2 :: it :: In che anno è stato fatto il Bronze Heron? :: 1894 :: search_exhibits, exhibit
missing :: en :: Who made exhibit A-5555? :: :: exhibit
missing :: fr :: À quel étage est la salle R99 ? :: :: room
0 :: en :: Good morning! ::
0 :: it :: Grazie mille, a presto! ::
1 :: en :: Is A-1077 here at the moment, or did another house borrow it? :: loan|borrow|another :: exhibit
1 :: ko :: R7 전시실의 주제가 뭐야? :: portrait|초상 :: room
0 :: zh :: 你好！你是谁？ ::
1 :: de :: Welche Kunstwerke habt ihr von Sofia Lindqvist? :: Heron|1021;Staircase|1200 :: search_exhibits
""",
    "jobs": """
1 :: en :: What is the salary for vacancy 301? :: 3900|3,900 :: vacancy
1 :: ko :: 오슬로(Oslo)에 우산 가져가야 해? :: 비|rain|네|예|가져 :: weather
1 :: es :: ¿Qué tiempo hace en Madrid? :: 12 :: weather
1 :: de :: Wann und wo ist das Gespräch mit APP-88? :: 14:00|14 Uhr;Oslo :: interview
1 :: fr :: Quels postes sont ouverts à Lisbon ? :: analyst|analyste;nurse|infirmi :: search_vacancies
1 :: ja :: 応募者 APP-91 の点数は？ :: 42 :: applicant
2 :: en :: When is Noor Haddad's interview? :: 14:00|2 PM|2:00;12-03|December 3|3 December|Dec 3 :: find_applicant, interview
2 :: ko :: Felix Braun 지원자는 지금 어느 단계야? :: rejected|거절|탈락|불합격 :: find_applicant, applicant
1 :: zh :: Gdansk 今天多少度？ :: -2|零下2|零下 2|零下二 :: weather
1 :: pt :: Até que dia está aberta a vaga 309? :: 2026-12-05|5 de dezembro|05/12 :: vacancy
1 :: ru :: Какие вакансии можно делать из дома? :: analyst|аналитик :: search_vacancies
2 :: it :: Con chi parla Noor Haddad al colloquio? :: Greta :: find_applicant, interview
missing :: en :: Which stage is applicant APP-777 in? :: :: applicant
missing :: es :: ¿Cuál es el salario de la vacante 999? :: :: vacancy
0 :: en :: What's the capital of France? :: Paris
0 :: ko :: 고마워, 수고했어! ::
1 :: en :: Do I need an umbrella in Oslo today? :: rain|yes|Yes :: weather
1 :: ko :: 공석 305번은 재택근무가 가능해? :: 네|예|가능|yes|true|재택 :: vacancy
write :: de :: Bitte lehne die Bewerbung APP-91 ab. :: APP-91|abgelehnt :: reject_applicant
0 :: ja :: おはようございます。 ::
""",
}

TALKS = """
farm :: en :: How heavy is Berta's tag cow-031? => 612 | And in which stall is she? => north 4 | When is the vet due? => 2026-12-19|December 19|19 December
gym :: en :: Which locker does member 4471 rent? => 38 | Until when? => 2027-02-28|February 28|28 February | And until when did that member pay? => 2027-03-31|March 31|31 March
energy :: en :: Who is customer K20418? => Marta Kowalska | What tariff is she on? => Green12 | And what does a kWh cost there? => 31.4
jobs :: en :: What's the weather in Lisbon? => 16 | And in Gdansk? => -2 | Thanks! => (none)
museum :: en :: Who made A-1021? => Sofia Lindqvist | In which room is it? => R3 | Who guards that room? => Idris
cinema :: en :: Tell me about screening S-410. => 5 | Which film is that? => Paper Whales|F-21 | And how many are free for S-401? => 17
gym :: ko :: 회원 4502의 플랜이 뭐야? => silver|실버 | 언제까지 결제했어? => 2027-01-15|1월 15일 | 사물함 번호는? => 112
farm :: ko :: 우유가 얼마나 있어? => 86 | 그럼 달걀은? => 410 | 고마워! => (none)
jobs :: ko :: 공석 301번은 어느 도시야? => Gdansk|그단스크 | 월급은 얼마야? => 3900|3,900 | 거기 지금 날씨는? => -2|눈|snow
energy :: ko :: 고객 K20977은 누구야? => Luca Ferri|루카 | 그 사람 요금제는? => Basic|베이직 | 기본요금은 얼마야? => 8.5
museum :: ko :: 안녕! => (none) | R3 전시실은 몇 층이야? => 1 | 경비원은 누구야? => Idris|이드리스
cinema :: es :: ¿Cuánto cuesta la entrada de adulto? => 11.5|11,5 | ¿Y la de niño? => 6 | Gracias. => (none)
farm :: de :: Was wächst auf dem Feld riverside? => barley|Gerste | Und wie groß ist es? => 6.4|6,4 | Wann wurde gesät? => 2026-10-03|3. Oktober|03.10.2026
gym :: fr :: Qui donne le cours de yoga ? => Mei Lin | À quelle heure ? => 7:30|07:30|7h30|7 h 30 | Et la boxe, c'est quel jour ? => thursday|jeudi
museum :: ja :: A-1200 は何年の作品ですか？ => 1902 | どの部屋にありますか？ => R3 | 作者は誰ですか？ => Sofia|ソフィア
energy :: zh :: 电表 MZ-6127 在2026年10月用了多少度？ => 97.2 | 那11月呢？ => 120.8 | 谢谢！ => (none)
jobs :: pt :: Qual é a pontuação de APP-88? => 87 | Quando é a entrevista dele? => 14:00|14h|12-03|3 de dezembro | Em que sala? => Oslo
cinema :: ru :: Сколько мест свободно на S-402? => 63 | В каком зале? => 1|перв | А когда начало? => 21:00
farm :: it :: Quante patate ci sono? => 1250|1.250 | E quanto fieno? => 340 | Quale macchina è rotta? => baler|pressa|imballatrice
jobs :: en :: Is Felix Braun still in the race? => reject | What was his score? => 42 | And Noor Haddad's? => 87
"""


@dataclass(frozen=True)
class Question:
    """One question with what a right answer holds."""

    server: str
    part: str
    kind: str
    language: str
    text: str
    facts: tuple[str, ...]
    calls: tuple[str, ...]


@dataclass(frozen=True)
class Talk:
    """Three turns: what is said, and what must stand in the answer; `(none)` is talk, for which no tool may run."""

    server: str
    part: str
    language: str
    turns: tuple[tuple[str, str], ...]


def _parts(cell: str, between: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in cell.split(between) if one.strip())


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)


def read_questions(rows_of: dict[str, str], part: str) -> list[Question]:
    """Read the rows of each server, as this module's head tells."""
    found = []
    seen: Counter[str] = Counter()
    for server, rows in rows_of.items():
        for line in rows.strip().splitlines():
            kind, language, text, facts, calls = [cell.strip() for cell in (line + "::::").split("::")[:5]]
            half = "held" if seen[language] % 2 else "dev"
            seen[language] += 1
            found.append(Question(server, half, kind, language, text, _parts(facts, ";"), _parts(calls, ",")))
    return [one for one in found if part in ("", one.part)]


def read_talks(lines: str, part: str) -> list[Talk]:
    """Read conversations of three turns, one a line."""
    found = []
    seen: Counter[str] = Counter()
    for line in lines.strip().splitlines():
        server, language, said = [cell.strip() for cell in line.split("::")]
        turns = tuple((one.partition("=>")[0].strip(), one.partition("=>")[2].strip()) for one in said.split(" | "))
        group = language if language in ("en", "ko") else "others"
        found.append(Talk(server, "held" if seen[group] % 2 else "dev", language, turns))
        seen[group] += 1
    return [one for one in found if part in ("", one.part)]
