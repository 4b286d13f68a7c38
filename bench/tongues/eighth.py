"""An eighth set, written before its measurer had read `agent/small`: three servers of its own, seven languages.

Rows as in `questions`; of each language every second one is `held` and was asked once, at the end.
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "laundry": """
1 :: en :: Which shelf is LT-3301 on? :: B4 :: get_ticket
1 :: en :: How much do you charge for a suit? :: 22 :: price_list
2 :: ko :: LT-3308 맡은 직원은 무슨 요일에 일해? :: Wed|수요일|수 :: get_ticket, colleague
1 :: ko :: 3번 기계는 언제 끝나? :: 13:50|1시 50 :: machine
1 :: de :: Wie lange habt ihr samstags auf? :: 15:30|15.30|15 Uhr 30 :: opening_times
missing :: de :: Wem gehört der Abholschein LT-3390? :: :: get_ticket
1 :: es :: ¿Ya está listo el LT-3308? :: no está|todav|aún|limpi|12-03|3 de diciembre :: get_ticket
write :: es :: Tráeme a casa la ropa del LT-3301 el 2 de diciembre. :: LT-3301|entreg|casa :: deliver_home
""",
    "campsite": """
1 :: en :: Are there any pedal boats left? :: 2|two|yes :: boatHire
2 :: en :: Does Bruno Tavares have electricity on his pitch? :: yes|has|does :: searchGuests, lookupStay, lookupPitch
pair :: ko :: P-07하고 P-23 중에 어디가 더 넓어? :: P-07 :: lookupPitch, lookupPitch
1 :: ko :: 오늘 호수에서 수영해도 돼? :: 안전|guard|감시|구조|요원|가드|노란|yellow :: lakeReport
1 :: fr :: Combien paie un chien par nuit ? :: 2.5|2,5 :: nightlyFees
2 :: fr :: Jusqu'à quand reste Yuna Lim ? :: 12-15|15 décembre :: searchGuests, lookupStay
pair :: ja :: LakesideとMeadowのシャワーはいくつずつありますか？ :: 12; 6 :: fieldInfo, fieldInfo
0 :: ja :: おはようございます！ ::
""",
    "kennel": """
2 :: en :: What does Moritz get to eat? :: diet :: find_dog, boarding
0 :: en :: Good night, sleep well! ::
missing :: ko :: K9-9999 강아지는 언제 데려가? :: :: boarding
write :: ko :: K9-5520을 주인에게 돌려보내 줘. :: K9-5520|돌려|인계|넘 :: hand_over
1 :: pt :: Quem passeia com a Pepper hoje? :: Hye-jin :: walks
1 :: pt :: Até quando vale a vacina contra a raiva do K9-5512? :: 2027-08-01|1 de agosto|01/08/2027 :: vaccinations
1 :: de :: Was kostet ein Tag für einen großen Hund? :: 31 :: rates
pair :: de :: Wer ist älter, Biscuit oder Moritz? :: Moritz :: find_dog, find_dog
""",
}
TALKS = """
kennel :: en :: How old is Pepper? => 2|two | And Moritz? => 11|eleven | What breed is he? => dachshund
laundry :: en :: Who is taking care of LT-3308? => Adaeze | What is her extension? => 34 | When will the dress be ready? => 12-03|December 3|3 December
campsite :: ko :: 4410번은 누가 예약했어? => Ingrid|잉그리드 | 언제 떠나? => 12-09|12월 9 | 그 자리에 그늘 있어? => 없|none|아니
kennel :: ko :: 오늘 오후에 산책은 누가 시켜? => Hye-jin|혜진 | 내일은 몇 시야? => 9:05|9시 5 | 고마워! => (none)
laundry :: de :: Was kostet es, einen Mantel zu reinigen? => 18.5|18,5 | Und ein Hemd? => 3.2|3,2 | Wie viele Tage dauert das? => 1 Tag|ein Tag|einen Tag
campsite :: es :: ¿Cuánto cuesta una canoa por hora? => 9|nueve | ¿Y un bote de remos? => 12|doce | ¿Queda alguno libre? => no|0|ning
kennel :: fr :: Quel est le numéro de puce de Biscuit ? => K9-5512 | Dans quel box dort-il ? => 3|trois | À qui appartient-il ? => Marsh
campsite :: ja :: P-19はどのエリアにありますか？ => Meadow|メドウ|草 | そこの担当者は誰ですか？ => Flora|フローラ | P-07の広さは？ => 90
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
