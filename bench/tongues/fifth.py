"""A fifth set, written before `agent/small` was read for it: six servers of its own, and asked once before its mends.

Rows as in `questions`; all of them are `held`.
"""

from __future__ import annotations

from dataclasses import replace

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "observatory": """
1 :: en :: How wide is the mirror of T2? :: 60 :: telescope_status
2 :: ko :: 2026-12-06 밤에 관측하는 사람 전화번호가 뭐야? :: 5564 :: night_plan, observer
pair :: de :: Welcher Stern ist weiter weg, Vega oder Rigel? :: Rigel :: star, star
1 :: tr :: Öğrenci bileti ne kadar? :: 5 :: visitor_ticket
1 :: ja :: 2026年12月5日の夜、雲量はどのくらいですか？ :: 15 :: night_plan
0 :: ko :: 요즘 너무 피곤해. 힘 나는 말 한마디만 해 줘. ::
""",
    "bakery": """
1 :: en :: What's in the almond croissant that somebody could be allergic to? :: wheat; milk; nut :: list_products
2 :: fr :: Combien de points a la cliente Marta Klein ? :: 240 :: search_customers, get_customer
1 :: ko :: 5102번 주문은 언제 찾으러 오기로 되어 있어? :: 12-05|12월 5일|12월 05일; 16|4시 :: get_order
missing :: en :: What did they order under 5199? :: :: get_order
1 :: pl :: Ile sztuk seed roll zostało na dzisiaj? :: 54 :: list_products
""",
    "airfield": """
1 :: ko :: 오늘 가장 오래 난 비행은 몇 분이었어? :: 187 :: flightsToday
1 :: de :: Bis wann muss die D-7725 zur Prüfung? :: 2026-12-20|20. Dezember|20.12.2026 :: gliderInfo
2 :: en :: Is Deniz Acar allowed to teach? :: no,|no.|not allowed|is not|isn't :: findPilot, pilotLicence
1 :: zh :: 现在机场的风速是多少节？ :: 13|十三 :: windNow
0 :: fr :: Souhaite-moi une bonne nuit, s'il te plaît. ::
""",
    "printshop": """
1 :: en :: I need 500 flyers. What's the damage? :: 60 :: price_quote
2 :: ko :: JOB-884를 찍는 기계 담당자가 누구야? :: Greta|그레타 :: job, machine
1 :: fr :: Sur quelle étagère est le papier matte A3 ? :: 1A :: paper_stock
missing :: ko :: JOB-999는 몇 부 찍어? :: :: job
""",
    "ski": """
1 :: en :: Is it worth queuing for the Eagle lift right now? How long is the wait? :: 18 :: lift_status
pair :: ko :: 정상하고 계곡의 눈은 각각 몇 센티야? :: 165; 25 :: snow_report, snow_report
1 :: ja :: コース12の難易度は何ですか？ :: black|ブラック|黒|上級|最上級 :: slope
1 :: tr :: SP-60140 numaralı kayak kartı ne zamana kadar geçerli? :: 2027-04-11|11 Nisan 2027 :: ski_pass
missing :: zh :: SP-99999 这张滑雪卡是谁的？ :: :: ski_pass
0 :: en :: I'm bored. Tell me a riddle! ::
""",
    "insurance": """
1 :: en :: What do I have to pay myself on KV-20077? :: 500 :: get_policy
2 :: pl :: W jakim mieście pracuje osoba, która prowadzi szkodę 744? :: Brno :: get_claim, get_adjuster
1 :: ko :: 보험 KV-20031은 1년에 얼마야? :: 184 :: get_policy
""",
}
TALKS = """
bakery :: en :: When will order 5101 be picked up? => 07:30|7:30 | Is it paid for already? => yes|paid | And 5102? => no|not|n't|unpaid
ski :: ko :: Marmot 리프트 지금 운행해? => 아니|않|중단|storm|폭풍|닫 | 왜? => storm|폭풍|눈보라 | Eagle은 마지막이 몇 시야? => 16:15|4시 15분
insurance :: de :: Worum geht es bei Schaden 731? => Hagel|hail | Wie hoch ist er? => 2350|2.350 | Welche Werkstätten gibt es in Brno? => Dilna
printshop :: ja :: heron の担当者は誰ですか？ => Babak|バーバク | トナーは何パーセント残っていますか？ => 8 | ありがとうございます！ => (none)
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions; of `dev` there are none."""
    return [replace(one, part="held") for one in read_questions(ROWS, "") if part in ("", "held")]


def talks(part: str = "") -> list[Talk]:
    """Return the conversations; of `dev` there are none."""
    return [replace(one, part="held") for one in read_talks(TALKS, "") if part in ("", "held")]
