"""A seventh set: conversations alone, on four servers of its own and five of the sixth set; written before any change.

Half of them are `held` and were asked once, at the end.
"""

from __future__ import annotations

from bench.tongues.questions import Question, Talk, read_talks

ROWS = dict.fromkeys(
    ("pool", "nursery", "costumes", "chess", "apiary", "auction", "railway", "vineyard", "driving"), ""
)
TALKS = """
pool :: en :: How warm is the water in the diving basin? => 26.5 | And in the one for toddlers? => 31 | Is that one open today? => not|closed|no,|isn't
costumes :: en :: Who has borrowed CO-18? => Lena Voss | What's her phone number? => 0660-14 | And when does she bring it back? => 12-05|December 5|5 December|5th
nursery :: en :: What does a fern cost? => 7.2 | How many of them are left? => 45 | And olive trees? => 6|six
chess :: en :: Who won MT-41, and who had the black pieces? => Diego | What's his rating? => 2041 | And hers? => 1874
railway :: en :: Is R512 late? => yes|12 min|by 12|is late | From which platform? => 6|six | Thanks, that's all. => (none)
costumes :: en :: Is CO-12 free? => available|free|yes | Then lend it to Minho Seo, please. => Minho|CO-12|lent | In which city does he live? => Busan
driving :: en :: Hi there! => (none) | Which instructor does student 5012 have? => Viktor Sand | And 5027? => Nadia Roth
auction :: en :: What is lot 23? => teapot | Whose was it? => Lorenz | How much do you have to bid for it at the moment? => 380
vineyard :: en :: In which cellars are barrels BR-14 and BR-22? => K2 | How warm is it in K2? => 13.2 | And in the other one? => 11.5
driving :: en :: Who teaches student 5027? => Nadia Roth | Which car does she use? => DS-231 | Does it have a clutch? => automat|no clutch|doesn't|does not
pool :: ko :: SW-10 강좌는 누가 가르쳐? => Jana|야나 | 그분 전화번호는? => 0177-31 | 그럼 SW-14는 자리 있어? => 없|만석|0개|0명|0석|0자리|: 0|자리는 0
nursery :: ko :: 6601번 주문은 누가 했어? => Sirius|시리우스 | 몇 개 주문했는데? => 12|열두 | 언제 배달돼? => 12-08|12월 8
chess :: ko :: 박서윤 선수 레이팅이 얼마야? => 1650 | 어느 팀이야? => Rooks|룩스 | 그 팀 주장은 누구야? => Irina|이리나
vineyard :: ko :: BR-14는 어느 저장고에 있어? => K2|K-2 | 그럼 BR-22는? => K1|K-1 | 고마워요! => (none)
costumes :: ko :: CO-31은 왜 못 빌려? => 수선|수리|repair|장갑|glove|찢 | 언제 다 돼? => 12-11|12월 11 | 누가 고치고 있어? => Chiara|키아라|치아라
apiary :: ko :: H-07 벌통은 어디에 있어? => Linden | 거기 주인은 누구야? => Paula|파울라 | 아카시아 꿀은 몇 병 남았어? => 62
nursery :: ko :: G2 온실은 누가 맡고 있어? => Wanda|완다 | G5는? => Piet|피트|핏 | 마지막으로 물 준 건 언제야? => 11-28|11월 28
chess :: ko :: MT-41은 어느 방에서 했어? => Blue|블루 | 거기 보드가 몇 개야? => 12|열두 | 그럼 Attic은? => 6개|여섯|6
nursery :: de :: Wie warm ist es im Gewächshaus G5? => 17 | Und wie feucht? => 83 | Wer kümmert sich darum? => Piet Mulder
pool :: de :: Was kostet der Eintritt für Erwachsene? => 7.5|7,5 | Und für Kinder? => 4 | Alles klar, danke! => (none)
chess :: es :: ¿Quién es el capitán de los Rooks? => Irina Volk | ¿Y cuántos puntos tienen? => 11|once | ¿Y los Bishops? => 14|catorce
costumes :: es :: ¿Cuánto cuesta alquilar el CO-12? => 35 | ¿Y el CO-31? => 80 | ¿De qué talla es? => L
pool :: fr :: Qui donne le cours SW-21 ? => Jana Kos | Quel jour ? => Sunday|dimanche | Et le cours SW-14 ? => Friday|vendredi|Tom Aalto
nursery :: fr :: Quelle plante a commandée Aya Nomura, commande 6607 ? => olivier|Olive | Elle coûte combien ? => 129 | Merci beaucoup ! => (none)
chess :: ja :: 月曜日は何時から開いていますか？ => 18 | 木曜日は？ => 19 | 鍵を持っているのは誰ですか？ => Diego
auction :: ja :: ロット17の今の最高入札額はいくらですか？ => 1150|1,150 | ロット23は？ => 380 | ありがとうございます。 => (none)
driving :: zh :: 学员5033开了多少小时？ => 31 | 他的教练是谁？ => Viktor | 那5027呢？ => 6|Nadia
nursery :: zh :: 薰衣草(lavender)多少钱？ => 4.9 | 还有多少？ => 310 | 它放在哪个温室？ => G2
chess :: pt :: Em que sala foi a partida MT-46? => Attic | Quantos tabuleiros há lá? => 6|seis | E na Cellar? => 20|vinte
vineyard :: it :: Quanto costa il Silberhang? => 14.5|14,5 | E il Monte Ruvo? => 31 | Quante bottiglie ne restano? => 48
"""


def questions(part: str = "") -> list[Question]:
    """Return no single questions: this set has none."""
    return []


def talks(part: str = "") -> list[Talk]:
    """Return the conversations of `dev` or `held`, or all."""
    return read_talks(TALKS, part)
