"""A sixth set, written before what it measures was changed: eight servers of its own, pairs, parts of names, second calls.

Rows as in `questions`; of each language every second one is `held` and was asked once, at the end.
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_questions, read_talks

ROWS = {
    "vineyard": """
1 :: en :: How many bottles of Black Terrace are left? :: 7|seven :: wine
pair :: en :: which costs more, silberhang or monte ruvo? :: monte ruvo :: wine, wine
2 :: ko :: 통 BR-14가 있는 저장고는 지금 몇 도야? :: 13.2 :: barrel, cellar
1 :: ko :: 올해 강가 밭에서 포도를 몇 킬로 땄어? :: 6350|6,350 :: harvest
pair :: de :: Wo war die Ernte größer, auf north oder auf chapel? :: north :: harvest, harvest
1 :: de :: Wer empfängt die Gäste bei der Weinprobe 42? :: Oriol Puig :: tasting
2 :: fr :: Qui s'occupe de la cave où se trouve le tonneau BR-22 ? :: Oriol Puig :: barrel, cellar
0 :: it :: Buonanotte, a domani! ::
""",
    "court": """
2 :: en :: What is the phone number of the judge in C-2026-118? :: 0441 :: getCase, judgeInfo
1 :: en :: I parked where I shouldn't have. What will that cost me? :: 35 :: fineFor
missing :: en :: Who is the defendant in C-2026-777? :: :: getCase
1 :: ko :: C-2026-131 사건은 무엇에 관한 거야? :: hedge|울타리|산울타리|이웃 :: getCase
2 :: es :: ¿En qué piso es la audiencia del caso C-2026-118? :: piso 2|segund|planta 2|2º :: getCase, courtroom
1 :: zh :: 8号法庭有多少个座位？ :: 22|二十二 :: courtroom
pair :: zh :: 超速和噪音的罚款各是多少？ :: 120; 80 :: fineFor, fineFor
1 :: pt :: A que horas é a audiência no dia 2026-12-14? :: 9:20|09:20|9h20 :: hearingsOn
""",
    "spaceport": """
2 :: en :: Who supervises the pad that L-302 lifts off from? :: Ines Falk :: get_launch, get_pad
1 :: en :: Can L-302 fly as planned or did something come up? :: on hold|not |not,|cannot|can.t :: get_launch
2 :: ko :: AquaSat은 언제 발사돼? :: 12-18|12월 18|06:40|6:40 :: search_payloads, get_launch
pair :: ko :: Heron 5하고 Tern 중에 어느 로켓이 더 높아? :: Heron :: get_rocket, get_rocket
1 :: ru :: Сколько весит спутник Lund University? :: 9|девять :: search_payloads
2 :: ru :: Сколько метров в высоту ракета запуска L-301? :: 61 :: get_launch, get_rocket
missing :: de :: Wann hebt L-399 ab? :: :: get_launch
1 :: ja :: 発射台P3の燃料は何ですか？ :: kerosene|ケロシン|灯油 :: get_pad
""",
    "auction": """
2 :: en :: Who made the highest bid on lot 17? :: Yusuf Demir :: get_lot, get_bidder
1 :: en :: Whose was the teapot in lot 23? :: Lorenz :: seller_of
write :: en :: Bid 500 on lot 23 for me. :: 500 :: place_bid
2 :: ko :: 어부 초상화(fisherman)의 예상 가격이 얼마야? :: 5200|5,200 :: find_lots, get_lot
1 :: ko :: 토요일에는 몇 시까지 구경할 수 있어? :: 18|6시|여섯 :: viewing_hours
pair :: es :: ¿Qué lote tiene la estimación más alta, el 17 o el 23? :: 17 :: get_lot, get_lot
0 :: es :: ¡Muchísimas gracias, qué amable! ::
1 :: it :: Dove abita chi ha la paletta 231? :: Malm :: get_bidder
""",
    "apiary": """
1 :: en :: What's growing around the hives at old quarry? :: heather :: site
2 :: en :: What does the scale under H-12 show? :: 29.9 :: list_scales, scale_reading
2 :: ko :: H-07 벌통이 있는 땅의 주인은 누구야? :: Paula|파울라 :: hive, site
pair :: ko :: 아카시아 꿀이랑 보리수 꿀은 각각 몇 병 남았어? :: 62; 140 :: honey, honey
1 :: fr :: Combien coûte un pot de miel de forêt ? :: 11.4|11,4 :: honey
pair :: fr :: Quelle ruche a la reine la plus jeune, H-07 ou H-12 ? :: H-07 :: hive, hive
1 :: ja :: H-12は最後にいつダニの治療をしましたか？ :: 2026-09-15|9月15日 :: last_treatment
0 :: ko :: 심심한데 벌에 대한 짧은 농담 하나 해 줘. ::
""",
    "driving": """
2 :: en :: How many hours has Amara driven so far? :: 18 :: find_students, student
missing :: ko :: 학생 5999의 시험은 언제야? :: :: exam_day
2 :: ko :: 학생 5027을 가르치는 강사 전화번호가 뭐야? :: 7742 :: student, instructor
1 :: pt :: Quanto custa uma aula à noite? :: 74 :: lesson_price
2 :: pt :: Quando é o exame prático do Minseo? :: 12-10|10 de dezembro|10:15 :: find_students, exam_day
1 :: de :: Hat das Auto DS-231 eine Kupplung, oder schaltet es selbst? :: automat :: car
2 :: it :: Che macchina guida Nadia Roth, di che modello? :: Zoe :: instructor, car
pair :: en :: Who has driven more, 5012 or 5033? :: 5033|Minseo :: student, student
""",
    "railway": """
1 :: en :: Do I have to run for R518 or is it late? :: on time|not late|no delay|0|not delayed|isn't :: train
2 :: en :: From which platform does Bruna Reis leave with TK-70311? :: 6|six :: ticket, train
pair :: ko :: R512랑 N77 중에 더 많이 늦는 기차는 뭐야? :: N77 :: train, train
1 :: ko :: 자전거를 가지고 타려면 얼마를 더 내야 해? :: 6 :: surcharge
missing :: ru :: Кто едет по билету TK-11111? :: :: ticket
1 :: zh :: 有人捡到绿色雨伞(green umbrella)吗？现在在哪里？ :: Solbruk :: lost_property
pair :: ja :: VarnとKarstのホームはそれぞれいくつありますか？ :: 8; 2 :: station, station
write :: es :: Devuélveme el dinero del billete TK-70350, por favor. :: 70350|reembols|devuel :: refund_ticket
""",
    "radio": """
1 :: en :: Which song stayed longest in the chart? :: Kilometre :: chart
2 :: en :: How do I write to whoever presents Vinyl Hour? :: seun@tidal.example :: show, host
0 :: en :: I had a rotten day. Say something nice. ::
1 :: ko :: 지금 나오는 노래 뭐야? :: Kilometre|킬로미터 :: on_air
pair :: it :: Quale canzone è più lunga, salt o kilometre zero? :: salt :: song_length, song_length
1 :: fr :: On vous capte sur quelle fréquence à Karst ? :: 101.7|101,7 :: frequency
1 :: de :: Kommt Early Ferry auch am Sonntag? :: nein|nicht|kein|Mon-Fri|Montag :: show
0 :: zh :: 你好！今天过得怎么样？ ::
""",
}
TALKS = """
railway :: en :: How late is N77? => 35 | And R512? => 12 | From which platform does that one leave? => 6|six
driving :: en :: Who is student 5027? => Leo Fontana | And who teaches them? => Nadia Roth | Which phone number does she have? => 7742
vineyard :: ko :: Silberhang은 얼마야? => 14.5 | Monte Ruvo는? => 31 | 고마워, 잘 가! => (none)
auction :: ko :: 17번 물건의 최고 입찰가가 얼마야? => 1150|1,150 | 누가 불렀어? => Yusuf|유수프|Demir | 그럼 23번은 얼마야? => 380
apiary :: es :: ¿En qué lugar está la colmena H-12? => Old Quarry | ¿De quién es ese terreno? => Jonas Meer | ¿Y el de Lindenhof? => Paula Brandt
court :: de :: Wer ist der Richter in C-2026-131? => Quiroga | Welche Telefonnummer hat er? => 0418 | Danke schön! => (none)
spaceport :: fr :: Quelle fusée part avec L-301 ? => Heron | Et avec L-302 ? => Tern | Elle fait combien d'étages ? => 3|trois
radio :: ja :: Saltは何秒の曲ですか？ => 249 | Paper Moonlightは？ => 214 | Vinyl Hourの司会者は誰ですか？ => Seun
"""


def questions(part: str = "") -> list[Question]:
    """Return the questions of `dev` or `held`, or all."""
    return read_questions(ROWS, part)


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
