"""What a question is about: the words in it that no tool, glossary or grammar explains, such as `design workshop`.

They are what a person wants looked up by name: no tool can speak of them, since they are data.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from naru.agent.glossary import ALIKE, ENGLISH
from naru.agent.prompts import is_korean

_PIECE = re.compile(r"[A-Za-z][\w'’.&-]*[A-Za-z\d]|[A-Za-z]|[가-힣]+[\w가-힣-]*|[^\s\w]|\d[\w:.,-]*")
_HANGUL = re.compile(r"[가-힣]")
_PARTICLE = re.compile(
    r"(?<=[가-힣A-Za-z0-9)])(?:에서는|에서|에게서|에게|한테|에는|으로|이라는|라는|이란|이랑|하고|부터|까지|처럼|보다|께서|에|은|는|이|가|을|를|의"
    r"|와|과|도|로|랑)$"
)
_PREDICATE = re.compile(
    r"(?:[요까니냐나야줘봐다래지죠돼군네]|[았었했됐랐겼]어|해|어|아|여|려|워|와|겨|져|세요|니다|이야|이에요|예요|있는|없는|하는|되는|되어|어때|인지|는지|하면|으면|르면|려면|되면|면서|지만|는데|은데|니까|므로|도록|려고)$"
)
_KOREAN_GRAMMAR = re.compile(
    r"^(?:무엇|무슨|뭐|뭔|어느|어떤|어떻|어때|언제|누구|누가|어디|왜|몇|얼마|며칠|이번|지난|다음|지금|현재|오늘|내일|어제|모레|가장|제일|모두|모든"
    r"|전부|전체|각각|그리고|또는|하고|대해|대한|관한|관련|중에|중|때|것|거|수|좀|혹시|제발|나|저|내|제|우리|이|그|저기|여기|알려|보여|찾아"
    r"|말해|해|있|없|되|하|좋|같|새|더|덜|등|및|의해|따라|위한|위해|통해|대로|만약|안녕|고마|감사|반가|결과|따르|의하면|관하|때문|경우|동안|이후|이전|이상|이하|미만|정도|사이|가능|필요|얼마나|이름|번호|종류|사람|아직|이미|벌써|곧|자주|항상|매우|아주|정말|너무|다시|계속|함께|같이|먼저|바로|조금|많이"
    r"|거의|최근|여러|다른|있었|적힌|적혀).{0,3}$"
)
_SURNAME = re.compile(
    r"^[김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구민진지엄원천방공현함변염여추도석선설마길연표명][가-힣]{2}$"
)
_MODIFIES = frozenset("한된힌간온본쓴린친긴든난킨운뜬낸큰할될갈볼쓸올릴칠낼")
"""Last syllables of verbs before a noun, as in `빌린 책`."""
_ENGLISH_GRAMMAR = frozenset(
    "a an the this that these those my your his her its our their some any no every each all both either such same "
    "of in on at to for from by with without about into over under between after before during until since as than "
    "and or but if then so because while what which who whom whose when where why how is are was were be been being "
    "am do does did done doing have has had having can could will would shall should may might must i you he she it "
    "we they me him them us there here not only also too very much many more most less least few just please tell "
    "show give find list get look up search check let know want need like see say said make made go goes going come "
    "comes take takes took put use used using long far often soon ever yet still already currently now today tomorrow "
    "yesterday next last first latest current available possible exist exists happen happens mean means called named "
    "name names kind type sort thing things something anything one ones lot way does't hi hello hey thanks thank ok "
    "okay yes s t d ll re ve m o'clock am pm write read open close create add change set send start end begin begins "
    "starts ends finish stop old new big small high low good bad best worst cost costs price work works working back "
    "bring left right out off down again another wrote came paid whole days day time what's "
    "who's where's when's how's other else own information details detail info number id "
    "owner assignee manager author agent member person people".split()
)


def subjects_of(question: str, explained: Callable[[str, bool], bool]) -> list[str]:
    """Return what a question is about, the longest phrase first.

    `explained` tells whether a tool speaks of a word, by itself or, if asked to, by its sound too. In a Korean
    question Latin words are names: nobody writes its grammar in them.
    """
    in_korean = is_korean(question)
    phrases: list[list[str]] = [[]]
    for match in _PIECE.finditer(question):
        piece = match.group(0)
        if _HANGUL.match(piece) and re.match(r"[A-Za-z]", question[match.start() - 1 : match.start()]):
            phrases.append([])  # A particle on a Latin word.
            continue
        bare = without_particle(piece)
        if not in_korean and _HANGUL.search(piece):
            phrases[-1].append(piece)  # A name; it has no particle in an English sentence.
            continue
        if _is_subject(piece, bare, explained, in_korean=in_korean):
            phrases[-1].append(bare)
            if bare == piece and question[match.end() : match.end() + 1] in (" ", ""):
                continue
        phrases.append([])
    said = [" ".join(words) for words in phrases if words]
    return sorted(dict.fromkeys(said), key=lambda phrase: -len(phrase.split()))


def without_particle(word: str, *, shortest: int = 2) -> str:
    """Return a word without the Korean particle that sticks to it; shorter ones than `shortest` are left whole."""
    if len(word) < shortest:
        return word
    bare = _PARTICLE.sub("", word) if _HANGUL.search(word[-1:]) else word
    return re.sub(r"['’]s$", "", bare)


def is_grammar(word: str) -> bool:
    """Tell whether a word only joins or points: no thing and no doing."""
    return word.lower() in _ENGLISH_GRAMMAR or _KOREAN_GRAMMAR.match(word) is not None


def _is_subject(piece: str, bare: str, explained: Callable[[str, bool], bool], *, in_korean: bool) -> bool:
    if not re.match(r"[A-Za-z가-힣]", piece) or any(letter.isdigit() for letter in piece):
        return False
    if not _HANGUL.search(bare):
        if in_korean:
            return not bare.isupper() or len(bare) > 3 or not explained(bare, True)
        lowered = bare.lower()
        return len(bare) > 1 and lowered not in _ENGLISH_GRAMMAR and lowered not in ALIKE and not explained(bare, True)
    if len(bare) < 2 or _KOREAN_GRAMMAR.match(bare) or _in_glossary(bare):
        return False
    if _SURNAME.match(bare):
        return not explained(bare, False)
    if bare == piece and (_PREDICATE.search(bare) or bare[-1] in _MODIFIES):
        return False
    return not explained(bare, True)


def _in_glossary(bare: str) -> bool:
    return any(
        bare == stem or (len(stem) > 1 and bare.startswith(stem) and _ends(bare[len(stem) :])) for stem in ENGLISH
    )


def _ends(rest: str) -> bool:
    """Tell whether what follows a known word is an ending or a known word: `운영` does not explain `운영체제`."""
    is_known = rest in ENGLISH or _KOREAN_GRAMMAR.match(rest) is not None
    return len(rest) < 2 or is_known or _PREDICATE.search(rest) is not None
