"""Countries and currencies by the names that people give them, in the codes that tools take (ISO 3166 and 4217)."""

from __future__ import annotations

import re

_COUNTRIES = """
KR South Korea, Korea, 한국, 대한민국 | KP North Korea, 북한 | JP Japan, 일본 | CN China, 중국
TW Taiwan, 대만 | HK Hong Kong, 홍콩 | US United States, USA, America, 미국 | CA Canada, 캐나다
MX Mexico, 멕시코 | BR Brazil, 브라질 | AR Argentina, 아르헨티나 | CL Chile, 칠레 | PE Peru, 페루
CO Colombia, 콜롬비아 | GB United Kingdom, UK, Britain, England, 영국 | IE Ireland, 아일랜드
FR France, 프랑스 | DE Germany, 독일 | AT Austria, 오스트리아 | CH Switzerland, 스위스 | IT Italy, 이탈리아
ES Spain, 스페인 | PT Portugal, 포르투갈 | NL Netherlands, Holland, 네덜란드 | BE Belgium, 벨기에
DK Denmark, 덴마크 | SE Sweden, 스웨덴 | NO Norway, 노르웨이 | FI Finland, 핀란드 | IS Iceland, 아이슬란드
PL Poland, 폴란드 | CZ Czechia, Czech Republic, 체코 | HU Hungary, 헝가리 | GR Greece, 그리스
TR Turkey, Türkiye, 튀르키예, 터키 | RU Russia, 러시아 | UA Ukraine, 우크라이나 | IN India, 인도
PK Pakistan, 파키스탄 | TH Thailand, 태국 | VN Vietnam, 베트남 | ID Indonesia, 인도네시아
MY Malaysia, 말레이시아 | SG Singapore, 싱가포르 | PH Philippines, 필리핀 | AU Australia, 호주
NZ New Zealand, 뉴질랜드 | EG Egypt, 이집트 | ZA South Africa, 남아프리카 | NG Nigeria, 나이지리아
KE Kenya, 케냐 | MA Morocco, 모로코 | IL Israel, 이스라엘 | SA Saudi Arabia, 사우디
AE United Arab Emirates, UAE, 아랍에미리트 | MN Mongolia, 몽골
"""
_CURRENCIES = """
USD US dollars, US dollar, dollars, dollar, 미국 달러, 달러 | EUR euros, euro, 유로
KRW Korean won, won, 한국 원, 원화, 원
JPY yen, 엔화, 엔 | CNY yuan, renminbi, 위안화, 위안 | GBP pounds sterling, British pounds, pounds, pound, 파운드
CHF Swiss francs, francs, franc, 프랑 | CAD Canadian dollars, Canadian dollar, 캐나다 달러
AUD Australian dollars, Australian dollar, 호주 달러 | SGD Singapore dollars, 싱가포르 달러
HKD Hong Kong dollars, 홍콩 달러
INR rupees, rupee, 루피 | THB baht, 바트 | VND dong, 동화 | TWD Taiwan dollars, 대만 달러
"""


def _read(rows: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows.replace("\n", "|").split("|"):
        code, _, names = row.strip().partition(" ")
        found |= {name.strip(): code for name in names.split(",") if name.strip()}
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


_PARTICLES = "은|는|이|가|을|를|의|에|로|으로|와|과|도|에서|인데|이야|입니까|인가|일까|짜리|어치|에는|보다"
_AFTER_KOREAN = rf"(?=$|[^가-힣]|(?:{_PARTICLES})(?:$|[^가-힣]))"
_COUNTED = re.compile(r"\d\s*$")
COUNTRIES, CURRENCIES = _read(_COUNTRIES), _read(_CURRENCIES)
"""Name → code, longest names first."""


def named(question: str, table: dict[str, str]) -> list[str]:
    """Return the codes of a table that a question names, by code or name: what has a number first, then in order."""
    rest, found = question, []
    for name, code in [*((code, code) for code in dict.fromkeys(table.values())), *table.items()]:
        is_name = name != code
        before, after = ("A-Za-z", "A-Za-z") if name.isascii() else ("가-힣", "")
        pattern = rf"(?<![{before}]){re.escape(name)}" + (rf"(?![{after}])" if after else _AFTER_KOREAN)
        for match in re.finditer(pattern, rest, re.IGNORECASE if is_name and name.isascii() and name.islower() else 0):
            found.append((_COUNTED.search(question[: match.start()]) is None, match.start(), code))
            rest = rest[: match.start()] + " " * len(match.group(0)) + rest[match.end() :]
    return list(dict.fromkeys(code for *_, code in sorted(found)))


def english_country(code: str) -> str:
    """Return an English name of a country."""
    return next((name for name, one in COUNTRIES.items() if one == code and name.isascii()), code)
