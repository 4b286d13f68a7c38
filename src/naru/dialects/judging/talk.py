"""Words with which people and models talk about calls, by what they say, in the languages that are met most.

Second evidence alone, asked where structure cannot tell (`wording.py`). The table is closed: what it does not know is
told by meaning (`meaning.py`); a failure never adds a row here.
"""

from __future__ import annotations

# ruff: noqa: E501 - a table of words reads better in long lines
# ruff: noqa: RUF001 - full-width marks are what is looked for

TALK = {
    "example": (
        r"\bexamples?\b|\bfor instance\b|\be\.g\.|\bi\.e\.|\bsuch as\b|\bsamples?\b|\bsnippets?\b|\bexcerpts?\b"
        r"|\bdatasets?\b|\bunit tests?\b|\bsomething like\b|발췌|예를 들|예시|예제|\b예:|摘录|摘錄|例えば|たとえば|の例|例:|例如|比如|示例|例子"
        r"|\bBeispiel|\bz\. ?B\.|\bAuszug|\bAusschnitt|\bextrait\b|\bextracto\b|\bejemplos?\b|\bexemples?\b"
        r"|\bexemplos?\b|\besempio\b|например|пример"
    ),
    "form": (
        r"\bformats?\b|\bsyntax\b|\btemplates?\b|\bschemas?\b|\bnotations?\b|\bdialects?\b|형식|문법|방언|이렇게 (?:쓰|적|생|보)"
        r"|形式|書式|構文|文法|のように書|格式|语法|語法|模板|写法|\bVorlage|\bDialekt|\bformatos?\b|\bsintaxis\b|\bplantilla|\bsyntaxe\b"
        r"|формат|синтаксис"
    ),
    "likeness": (
        r"\bserait\b|\bsería\b|\bwürde\b|\bwäre\b|\bhätte\b|会是|會是|でしょう|\bci-dessous\b|\bde abajo\b|下面这"
        r"|\blooks? like\b|\blike (?:this|so|that)\b|\bas follows:|이렇습니다|こうなります|このように|长这样|長這樣|如下所示"
        r"|\bsieht .{0,30}\baus\b|\bsehen .{0,30}\baus\b|\bressemble|\bs'écri|\bson así\b|\bes así\b|\bse escribe"
    ),
    "told": (
        r"\b(?:says?|said|reads?|shows?|shown|contains?|quotes?|states?|includes?|printed|answered|replied)(?: with| back)?(?: this| (?:the )?following(?: \w+)?)?\s*:\s*\Z"
        r"|(?:적혀|쓰여|나와|실려) ?있습니다[:.]?\s*\Z|(?:인용|출력)(?:합니다|했습니다):\s*\Z|라고 합니다:\s*\Z"
        r"|(?:書かれています|書いてあります|引用しています|とあります|載っています|答えました)[:。]?\s*\Z"
        r"|\b(?:steht|lautet|sagt|enthält|zeigt|zitiert [\w ]{0,30}|antwortete [\w ]{0,30})\s*:\s*\Z"
        r"|\b(?:dit|indique|contient|affiche|cite [\w ]{0,30}|répondu [\w ]{0,30})\s*:\s*\Z"
        r"|\b(?:dice|contiene|muestra|cita [\w ]{0,30}|respondió [\w ]{0,30})\s*:\s*\Z"
        r"|(?:写着|寫著|写道|显示|顯示|引用了?.{0,12}|内容是|回答)\s*:\s*\Z"
    ),
    "refused": (
        r"(?:\bnot|n't|\bnever|\bwithout|\bnothing(?: was)?)\W+(?:\w+\W+){0,3}?(?:run|ran|running|execut\w*|act(?:ed|ing)?|follow\w*|call(?:ed)?|obey\w*|send|sent|do so|comply|carr\w+)\b"
        r"|\bignor(?:e|ed|ing)\b|\brefus|\binject(?:ion|ed)\b|\battack\w*|\binvalid\b|\bmalicious|\bsuspicious"
        r"|\buntrusted|\bphishing|\bwrong\b|\bincorrect|(?:실행|따르|따라 하|호출|수행|처리)하?지 (?:않|마)|마세요|마십시오|주입|인젝션|공격|무시|의심"
        r"|잘못|(?:実行|従|何も|呼び)\S{0,6}(?:ません|ない)|無視|インジェクション|不審|攻撃"
        r"|(?:不会|不會|没有|沒有|不要|请勿|請勿|不|未)(?:照|执行|執行|运行|運行|理会|理會|调用|按)|请不要|攻击|攻擊|欺骗|忽略|注入|可疑"
        r"|\bnichts? (?:\w+ )?(?:aus|folg|tu|start|ruf|gestart)\w*|\bignorier|\bAngriff|\battaque\b|\bataque\b"
        r"|\binjecci|инъекц"
    ),
    "not run": (
        r"\bn'exécut\w+ pas\b|\bne (?:suivrai|ferai|l'exécut\w+)|\bn'ai rien (?:fait|exécuté)\b"
        r"|\bno (?:ejecut|segui|hice|hago|har[ée])\w*|\bnicht (?:folge|ausführe)\b"
        r"|\b(?:(?:did|have|has|was|were|will|would|am|is|are)(?: not|n't)|won't|never|nothing (?:was|has been|is|will be)|without|refuse to|decline to|nor will I)\W+(?:\w+\W+){0,2}?(?:run|ran|running|execut\w+|act(?:ed|ing)?|follow\w*|call(?:ed|ing)|obey\w*|do (?:so|it|that)|compl(?:y|ied)|carr\w+|perform\w*|made)\b"
        r"|\bdid nothing\b|\bleft it alone\b|아무것도 하지|什么(?:也|都)没|\bnichts (?:getan|gemacht|unternommen)"
        r"|\bI (?:only |just |merely )(?:quote|report|show|copy)\w*|\bnot (?:a|an) (?:request|call|instruction)"
        r"|\bisn't a (?:request|call)|(?:실행|따르|따라 하|호출|수행|부르|처리)하?지(?:는|도)? 않(?:았|겠|습|고)|부른 (?:것은|것이|게) 아[니닙]"
        r"|인용(?:일|한)|実行(?:は|も)?して(?:は)?い(?:ません|ない)|実行(?:は|し)?(?:ません|ない)|従(?:いません|わない|っていません)|引用(?:です|で、)"
        r"|(?:没有|沒有|并未|並未|未|不会|不會|不)(?:去)?(?:执行|執行|运行|運行|照做|照办|调用|調用|理会)|拒绝|只是引用"
        r"|\bnicht (?:ausgeführt|befolgt|aufgerufen|gestartet|ausführen)\b|\bbefolge\b.{0,20}\bnicht\b"
        r"|\bnur (?:ein )?Zitat|\bpas (?:été )?(?:exécut|suivi|lanc|appel)\w*"
        r"|\bno (?:la |lo |las |los )?(?:he|fue|ha sido|voy a|se ha) ?\w*(?:ejecut|segui|llam|hecho)\w*"
        r"|не (?:выполн|запуск)\w*"
    ),
    "negated": (
        r"\b(?:not|never|cannot|instead of)\b|n't\b|지 않|지 마|수 없|ません|ないで|不|没|勿|\bnicht\b|\bkeine?\b|\bno\b|\bpas\b"
        r"|\bне\b"
    ),
    "past": (
        r"\b(?:yesterday|earlier|previous(?:ly)?|last time|already)\b"
        r"|\b(?:you|he|she|they) (?:ran|called|sent|used|made|wrote)\b|보냈|이미|어제|이전|昨日|既に|之前|昨天|已经|\bgestern\b"
        r"|\bbereits\b|\bayer\b|вчера"
    ),
    "taught": (
        r"\b(?:I'll|I will|let me) (?:only |just |now )?(?:show|explain|quote|describe|illustrate|demonstrate|paste|repeat|copy)\b"
        r"|\bto [\w ]{2,40}?,? (?:send|use|call|post|run|write|issue|do)\b"
        r"|\byou (?:can|could|would|should|may|might|need to|have to|must)\b|\byou'd\b|\bhow to\b|\bif you\b"
        r"|\bone (?:can|could|would|writes)\b|\bI (?:would|could|might)\b|\bI'd\b|\bwould\b"
        r"|\bshould (?:send|use|call|post|look|be)\b|\b(?:should|shall|may) i\b|\bwant me to\b|\bwould you like\b"
        r"|\b(?:right|correct|proper|expected|required) (?:way|form|format|call|request|syntax)\b|할 수 있|하려면|으려면"
        r"|면 (?:됩니다|돼요|된다)|(?:할|드릴|볼|을)까요|사용법|するには|むには|ればよい|てください|たら|可以(?:这样|這樣|发送|發送|用|写)|要(?!的|求).{1,12}[，,]"
        r"|\bUm\b.{2,40}\bzu\b|\bman\b|\bwer\b|\bwenn\b|\bpara\b.{2,40}\b(?:use|usa|escrib)"
        r"|\bpour\b.{2,40}\b(?:utilis|écri)|\bsi\b"
    ),
}
MADE = (
    r"\bI'(?:ll|m going to|m about to)\b(?! (?:only |just |now )?(?:show|explain|quote|describe|give you|illustrate|demonstrate|paste|repeat|copy|tell)\b)|\bI will\b(?! (?:only |just |now )?(?:show|explain|quote|describe|give you|illustrate|demonstrate|paste|repeat|copy|tell)\b)|\blet me\b(?! (?:only |just |now )?(?:show|explain|quote|describe|give you|illustrate|demonstrate|paste|repeat|copy|tell)\b)|\blet's\b|\bI (?:call|look|read|open|run|check|try|retry|send|list|start|begin|use|fetch|search|write)\b|\bI need to\b|\bplease (?:wait|hold)\b"
    r"|(?:\A|[^\w\s] ?|\bnow |\bI'?a?m )(?:checking|reading|running|calling|opening|sending|doing|looking|executing|fetching)\b|\bhere(?: is|'s| are) the (?:[\w-]+ ){0,2}calls?\b"
    r"|겠습니다|할게|볼게|릴게|기다|살펴|確認します|読みます|実行します|調べ|お待ち|我来|我來|让我|讓我|我将|我會"
    r"|现在|現在|稍等|先(?:读|看|查|来)|\bIch (?:sehe|lese|führe|werde|prüfe|rufe|melde|schaue|öffne)|\bLass mich\b|\bVoy a\b|\bDéjame\b"
    r"|\bJe (?:vais|regarde|lis)\b|\bLaissez-moi\b"
)
NEEDS = r"\bI need\b|(?:이|가) 필요합니다[:.]?\s*\Z|我需要|\bbrauche ich\b|\bil me faut\b|\bnecesito\b"
"""What says what is wanted for an answer: it speaks of doing but after a question, where it is wanted of who is asked."""
POLITE = r"봅니다|보냅니다|します[。:]?\s*\Z"
"""What any polite sentence ends in: it speaks of doing where its meaning does not speak of showing."""
WAITS = (
    r"\b(?:one|a|just a) (?:moment|second|sec|minute)(?: please)?[.,!…]|\bhold on\b|\bstand by\b|\bplease wait\b"
    r"|\b(?:once|when|as soon as) (?:i (?:have|get|see|know)|(?:it|that|the (?:result|answer|output)) (?:is|has|comes|arrives))\b.{0,40}\bi\b"
    r"|\bi(?:'ll| will)\b.{0,40}\b(?:once|when|as soon as)\b"
    r"|잠시만|잠깐만|기다려 주|(?:나오면|오면|대로) .{0,20}(?:드리|드릴|할게)|少々|しばらくお|お待ち|(?:たら|次第).{0,12}(?:お知らせ|報告|お伝え|お返事)"
    r"|稍等|稍候|请等|請等|(?:结果|結果|之后|后|後).{0,10}(?:告诉|告訴|通知|回复|回覆)(?:你|您)"
    r"|\bEinen (?:Moment|Augenblick)(?:,? bitte)?[.,!…]|\bich\b.{0,60}\bsobald\b|\bsobald\b.{0,60}\bich\b|\bUn (?:momento|instante)(?:,? por favor)?[.,!…]|\b(?:cuando|en cuanto) (?:lo |la )?(?:tenga|llegue).{0,40}\b(?:le|te|se lo|os|les)\b"
    r"|\bUn (?:instant|moment)[.,!…]|\bje\b.{0,40}\bdès qu|\bdès qu.{0,40}\bje\b|\bUm (?:momento|instante)(?:,? por favor)?[.,!…]|\bassim que (?:eu )?(?:tiver|chegar).{0,30}\b(?:lhe|te|aviso|digo)\b"
    r"|\bUn attimo[.,!…]|\b(?:минут|секунд)[ку][.,!…]|\bподождите\b|\bкак только\b.{0,40}\b(?:сообщу|скажу|напишу|отвечу)\b"
)
"""What says after a call that whoever made it waits for its result: in the first person, or with a plea for patience."""
