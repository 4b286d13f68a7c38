"""A ninth set, written before it was looked at where anything is lost: two servers of its own, six languages.

Rows as in `questions`; of each language every second one is `held` and was asked once.
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "luthier": """
1 :: en :: Can Haruki's 7052 be picked up? :: finished|yes|ready :: repair_status
1 :: en :: What do I pay for new strings for my viola? :: 71 :: strings
2 :: ko :: 수리 7041을 맡은 사람은 무슨 요일에 일해? :: Mon-Thu|월 :: repair_status, bench_worker
write :: ko :: Noor Haddad의 대여를 3개월 더 늘려 줘. :: Noor|3|연장|늘 :: extend_rental
1 :: de :: Wie alt ist das Cello C-031? :: 1902|124 :: instrument
1 :: es :: ¿Cuánto le cobramos al mes a Jaewon Kim? :: 27 :: rentals
pair :: fr :: Lequel est le plus cher, V-118 ou C-031 ? :: C-031 :: instrument, instrument
missing :: ja :: 修理7099はいつ終わりますか？ :: :: repair_status
""",
    "garage": """
2 :: en :: Whose permit is MR-9025 parked under? :: Ottoline Graves :: where_is, permit
1 :: en :: My van is 2 metres high; does it fit on level 4? :: no|not|1.9|n't :: level_status
1 :: ko :: 지금 전기차를 꽂을 수 있는 데가 몇 군데야? :: 2|두 :: charging_points
missing :: ko :: PM-99는 누구 거야? :: :: permit
1 :: es :: ¿Por qué no se abría la puerta norte ayer? :: lift|levant|brazo|subi|abr :: barrier_log
1 :: fr :: Combien coûte une moto pour toute la journée ? :: 7 :: tariff
0 :: de :: Du bist mir heute eine große Hilfe gewesen, tschüss! ::
1 :: ja :: KX-4471はもう支払い済みですか？ :: いいえ|ません|ない|未|false|まだ :: where_is
""",
}
TALKS = """
garage :: en :: Where is KX-4471? => 2-18 | And MR-9025? => 4-03 | Is there room left on that level? => 51|yes
luthier :: en :: Who made V-124? => Paula Reinh | Is it still for sale? => sold|no | And V-118? => not sold|yes|available|still|18500|18,500
garage :: es :: ¿Hasta cuándo vale el PM-74? => 2026-12-31|31 de diciembre | ¿De quién es? => Baek Jiwoo | ¿Y el PM-61? => Ottoline
luthier :: ja :: 修理7063は何が問題ですか？ => neck|ネック|首 | 誰の楽器ですか？ => Luc|ルシア | どうもありがとう！ => (none)
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
