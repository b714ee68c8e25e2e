# ruff: noqa: E501, RUF001  the phrases are those of their languages, one to a line
"""Classify the prose around a document.

Prose is harmless only if all of it is recognised as such (see ``harmless_prose``). Any other prose makes the document
doubtful. A short list of phrases finds the refusals and retractions among it, in the languages that models are most
often asked in: it decides only whether a doubtful document may stand after all.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache
from typing import Final
from unicodedata import normalize

from emitter.recover.harmless_prose import is_harmless


class Stance(Enum):
    """The stance of the prose towards the document."""

    PLAIN = auto()
    """It consists of lead-ins, sign-offs and markup."""
    DOUBTFUL = auto()
    """It says more, which may concern the document."""
    RETRACTED = auto()
    """It refuses the document or takes it back."""


def classify_prose(prose: str) -> Stance:
    """Return the stance of ``prose`` towards the document that it surrounds."""
    if is_harmless(prose):
        return Stance.PLAIN
    plain = normalize("NFKC", _APOSTROPHE.sub("'", _MARKUP.sub("", prose))).casefold()
    words = _SPACES.sub(" ", plain.translate(_TURKISH_LETTERS))
    # A line break may end a sentence or interrupt it.
    readings = (words, _LINE_BREAKS.sub(" ", words)) if "\n" in words else (words,)
    is_retracted = any(pattern.search(reading) for pattern in _load_patterns() for reading in readings)
    return Stance.RETRACTED if is_retracted else Stance.DOUBTFUL


_APOSTROPHE = re.compile("[\u2018\u2019ʼ\u00b4`\uff07]")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r" *\n[>\s]*")
_TURKISH_LETTERS = {ord("\u0131"): "i", 0x307: None}
"""Turkish letters, whose capitals are letters of other languages."""
_MARKUP = re.compile("[*_~\u00ad\u200b-\u200d\u2060\ufeff]")
_WITHIN_10, _WITHIN_30, _WITHIN_60 = (rf"[^.!?;\n]{{0,{most}}}?" for most in (10, 30, 60))
_CANNOT = (
    r"(?:can(?:'?t|not| not)|could(?:n't| not)|won't|will not|would(?:n't| not)|should(?:n't| not)|must(?:n't| not)"
    r"|may not|shall not|shan't|(?:do|did)(?:n't| not) (?:want|intend|wish|plan|agree|consent|feel comfortable)(?: to)?"
    r"|(?:am|are|'m|'re)(?: \w+)? (?:unable|not (?:able|allowed|permitted|comfortable|willing|going|authori[sz]ed"
    r"|prepared|at liberty|in a position|designed|programmed)|unwilling|forbidden|prohibited)(?: to| from| with)?"
    r"|not (?:able|allowed|permitted|comfortable|willing|going)(?: to| with)?|unable to|ain't)"
)
_ACT = (
    r"(?:help|assist|provid|comply|complies|fulfil|giv|do (?:that|this|so|it|what)|doing (?:that|this|so|it)|answer"
    r"|creat|generat|produc|complet|continu|proceed|shar|support|output|write|writing|return|suppl|send|offer"
    r"|participat|engag|recommend|endors|stand by|stand behind|vouch|go ahead|go along|go through|be part|make (?:that|this|it)"
    r"|accommodat|facilitat|satisf|deliver|respond|fabricat|invent|oblige|let you|hand (?:it|that|this|over|out)|approv"
    r"|submit|process (?:this|that|the|your|it)|carry (?:this|that|it) out|perform|handle|discuss|disclos|reveal|forg)"
)
_ABOUT_THE_TEXT = r"find|see|wait|tell|verif|determin|confirm|locat|identif|read|know|establish|infer|extract|guess|assume|sure|certain"
_IT = (
    r"(?:this|that|it|these|those|the above|above|everything (?:above|i)|all of (?:this|that|the above)|what i|my (?:answer"
    r"|response|output|json|draft|first|last|previous|earlier)|the (?:previous|preceding|first|last|earlier|following|given)?"
    r" ?(?:json|document|object|answer|draft|output|response|data|values?|result|block|snippet|record|entry|message))"
)
_WRONG = (
    r"(?:wrong|incorrect|invalid|false|fake|bogus|fabricated|made[ -]?up|fictional|fictitious|hallucinated|untrue"
    r"|inaccurate|nonsense|unusable|unreliable|unacceptable|void|a (?:lie|hallucination|mistake|fraud|forgery|trick|joke|test only)"
    r"|not (?:correct|right|real|valid|final|true|accurate|genuine|usable|acceptable|ok|okay|something i|what you|to be used"
    r"|(?:the|my|a|an)(?: \w+)? (?:answer|response|result|document|output))"
    r"|(?:just|only|merely|simply)(?: \w+)? (?:an? |the )?(?:\w+ )?(?:draft|example|placeholder|guess|template|illustration"
    r"|sketch|mock-?up|sample|test|joke)|an? (?:\w+ )?(?:draft|placeholder|guess|mock-?up)\b)"
)
_HARM = (
    r"(?:fraud|illegal|unlawful|unethical|wrong|harmful|dishonest|deceptive|dangerous|inappropriate|improper|forgery"
    r"|misleading|unsafe|a crime|a violation|a lie|a mistake|against (?:my|our|the law))"
)
_ENGLISH: Final = (
    (
        r"(?:^|[.!?\n]) ?(?:no|nope|nah|no way|not doing (?:that|this|it)|denied|declined|refused|(?:request|access|permission)"
        r" (?:denied|refused|rejected|declined))\b ?(?:[.!\n]|$)"
    ),
    r"\b(?:i|we)(?:'ve| have|'m| am|'d| would)?(?: \w+)? (?:deci\w+|cho[os]\w+|opt\w*|elect\w*|prefer\w*|determined|inclined) not to\b",
    r"\b(?:i|we)(?:'m| am|'re| are) (?:declining|refusing|withdrawing|retracting)\b|\bi(?:'d| would) be lying\b",
    r"\b(?:i|we) (?:do not|don't) (?:think|believe|feel) (?:that )?(?:i|we|it is|it's|this is|that is) (?:\w+ )?(?:should|can|could|right|ok|ethical|appropriate)",
    r"\byou (?:should|must|may|can) ?(?:n't|not) (?:use|trust|rely|submit|send|accept|process|act)",
    rf"\b{_IT}(?: \w+){{0,3}}? (?:should|must|needs to|has to|ought to|is to) (?:be (?:ignored|disregarded|discarded|deleted|thrown)|not be)\b",
    (
        rf"\b(?:i|we|this (?:model|assistant|system|ai))(?: \w+)?(?: ?'ll| will)? ?{_CANNOT}"
        rf"(?:[ ,]+(?!{_ABOUT_THE_TEXT})[\w'-]+){{0,5}}?[ ,]+{_ACT}"
    ),
    rf"\b(?:i|we) {_CANNOT}(?: \w+)?\s*+(?:[.!?;,\u2026-]|$)",
    rf"(?:^|[.!?;:,\n\u2014-])\W*(?:{_CANNOT}) (?:\w+ ){{0,2}}{_ACT}",
    r"\bi(?:'m| am) (?:sorry|afraid)[ ,.]+(?:but )?(?:no\b|i (?:can|won|will not|must|have to)|(?:this|that|it) (?:is not|isn't))",
    r"\b(?:i|we)(?:'d| would| will|'ll| must| have to| need to| am going to|'m going to)?(?: \w+)? (?:decline|refuse)\b(?! to guess)",
    r"\b(?:i|we)(?:'d| would) (?:rather|prefer) not\b|\bnot going to happen\b|\bi (?:hereby )?(?:object|resign|withdraw|retract)\b",
    r"\bi(?:'ll| will| must| have to| should)? (?:take|have to take) (?:it|this|that) back\b|\bi take (?:it|this|that) all back",
    (
        r"\b(?:your|the|this|that|such an?|the above)? ?(?:request|task|demand|prompt|it|this|that|answer)"
        r" (?:cannot|can't|could not|couldn't|can not|will not|won't|must not|should not|shouldn't|may not) be"
        r" (?:\w+ )?(?:provid|giv|complet|fulfil|process|shar|answer|us|trust|reli|honou?r|accept|don|met|generat|produc|creat)"
    ),
    (
        r"\b(?:request|task|answer|document|json|response)(?: \w+)? (?:is|was|has been|must be)(?: hereby)? (?:declined|refused"
        r"|denied|rejected|withdrawn|retracted|revoked|cancell?ed)\b|\b(?:consider|treat) (?:it|this|that)(?: \w+)? (?:withdrawn"
        r"|retracted|void|cancell?ed)\b"
    ),
    r"\b(?:violat\w*|against|breach\w*|contrary to|conflicts? with) (?:\w+ ){0,3}?(?:polic|guideline|terms|rules|principles|values|law\b)",
    (
        rf"\b(?:ignore|disregard|discard|forget|delete|scrap|scratch|retract|throw away|(?:don't|do not|never|please not)"
        rf"(?: \w+)? (?:use|trust|rely on|submit|accept|send|process|act on|parse|read|take|consider|treat|save|store|file|pay|execute))\b"
        rf"{_WITHIN_30}\b(?:{_IT})\b"
    ),
    r"\b(?:ignore|disregard) (?:me|all|everything)\b|\bnever ?mind\b|\b(?:scratch|strike|forget|cancel) (?:that|this|it)\b",
    rf"(?<!if )(?<!unless )\b{_IT}(?: \w+){{0,3}}?(?:'s|'re| is| was| are| were| isn't| aren't| wasn't| seems| looks)(?: \w+){{0,2}}? {_WRONG}",
    (
        rf"(?<!if )(?<!unless )\b{_IT}(?: \w+){{0,2}}? (?:isn't|aren't|wasn't|ain't|doesn't look)(?: \w+)? (?:correct|right|real|valid|final|true|accurate"
        rf"|genuine|what|my|the (?:\w+ )?(?:answer|result))"
    ),
    (
        rf"\b(?:this|that|it|which|doing so|to do so)(?: \w+){{0,3}}?(?:'s|'d be| is| was| would be| might be| could be| may be|"
        rf" constitutes| amounts to| would constitute)(?: \w+){{0,2}}? {_HARM}"
    ),
    (
        r"\bi (?:was|am|must have been) (?:completely |totally |clearly )?(?:wrong|mistaken|lying)\b|\bi (?:lied|made (?:\w+ ){1,3}up\b"
        r"|made (?:a|an) (?:\w+ )?(?:mistake|error)|changed my mind|made all)"
    ),
    r"\b(?:on|upon) (?:second thoughts?|reflection|further (?:thought|reflection|consideration))\b",
    (
        r"\b(?:there is|there's|here is|here's|i have|i've got) no (?:json|answer|document|valid|such|final)|\bno (?:json|answer|document)"
        r" (?:for you|will be|can be|today)\b|\bmy (?:final |real |actual )?answer is no\b"
    ),
    r"\b(?:actually|wait|hmm+|no)[ ,.!\u2026-]+(?:that|this|it)(?:'s| is| was) (?:not|wrong|in|false|a )",
)
_ACTS_DE = r"(?:helfen|behilflich|unterstütz|bereitstell|liefer|geben|tun|machen|erfüll|erstell|ausgeb|nachkomm|beantwort|fortfahr|zustimm|entsprech|anbiet|generier|dienen|mitwirk|empfehl)"
_ACTS_FR = r"(?:aid|fourni|donn|fai|répond|assist|continu|satisfai|créer|génér|produi|propos|poursuiv|partag|accéd|particip|rempli|complét)"
_ACTS_ES = r"(?:ayud|proporcion|dar\b|dart|darl|hac|cumpl|respond|asist|continu|gener|crea|ofrec|compart|proced|complet|facilit|brind|entreg|particip|realiz)"
_ACTS_PT = r"(?:ajud|fornec|dar\b|faz|cumpr|respond|auxili|continu|ger|cri|oferec|compartilh|prest|prosseg|complet|realiz|entreg|particip|atend)"
_ACTS_IT = r"(?:aiut|forni|dar|far|rispond|assist|continu|gener|crea|proced|soddisf|complet|offri|condivid|partecip|esegu|produ)"
_ACTS_NL = r"(?:help|geven|verstrek|lever|doen|voldo|beantwoord|maken|bieden|verder|genereren|meewerk|uitvoer)"
_ACTS_PL = r"(?:pom|poda|udzieli|zrobi|dostarcz|spełni|wygener|kontynu|utworzy|odpowied|wykona|dać|zrealizow)"
_ACTS_RU = r"(?:помо|предост|дать|выполн|сдела|ответ|созда|продолж|генер|сгенер|поддерж|участв|надат|допомог|викон)"
_OTHER_LANGUAGES: Final = (
    rf"\b(?:ich|wir) (?:kann|können|darf|dürfen|werde|werden|möchte|will|wollen)\b{_WITHIN_60}\b(?:nicht|kein\w*)\b{_WITHIN_60}{_ACTS_DE}",
    rf"\b(?:kann|können|darf|dürfen|werde|werden|möchte|will) (?:ich|wir)\b{_WITHIN_60}\b(?:nicht|kein\w*)\b{_WITHIN_60}{_ACTS_DE}",
    r"\b(?:ich|wir) (?:kann|darf|werde|will) (?:das |dies |es )?nicht\s*+(?:[.!,]|$)",
    rf"\b(?:ich|wir) (?:lehne\w*|weigere\w*|verweigere\w*|muss|müssen)\b(?:{_WITHIN_60}\b(?:ab|ablehnen|verweigern)\b| mich| uns)",
    rf"\b(?:ignorier\w*|vergiss|vergessen sie|verwirf|verwerfen sie|missachte\w*)\b{_WITHIN_30}\b(?:das|dies\w*|den|die|obige\w*|es)\b",
    rf"\b(?:verwende\w*|benutze\w*|nutze\w*)\b{_WITHIN_30}\bnicht\b",
    rf"\b(?:das|dies|dieses|obige\w*|es|die antwort|das json)\b{_WITHIN_30}\b(?:ist|war|wäre|sind) {_WITHIN_10}(?:falsch|erfunden|betrug|ungültig|unzulässig|illegal|nicht (?:korrekt|richtig|echt|gültig)|nur ein)",
    rf"\b(?:je|nous) (?:ne |n')(?:(?:peu|pui|pourr|saur|vai|veu|voul|pouv|dois|souhait)\w*|suis{_WITHIN_30}(?:en mesure|autorisé\w*|capable))\b{_WITHIN_60}{_ACTS_FR}",
    rf"\b(?:m'est|nous est) impossible\b{_WITHIN_30}{_ACTS_FR}",
    r"\bje (?:ne )?(?:peux|puis) pas\s*+(?:[.!,]|$)|\bje (?:refuse|décline|dois (?:refuser|décliner))\b|\bnous (?:refusons|déclinons)\b",
    rf"\b(?:ignore[zr]|oublie[zr]|jete[zr])\b{_WITHIN_30}\b(?:ceci|cela|ce|cette|le|la|ces|tout)\b|\b(?:n'|ne l'|ne )(?:utilise|tene|tiens|prene)\w* (?:pas|aucun)",
    rf"\b(?:c'est|ceci est|cela est|ce json est|c'était|ce serait) {_WITHIN_10}(?:faux|incorrect|erroné|inventé|fictif|une? (?:fraude|erreur|mensonge)|illégal)|\b(?:ce n'est|ceci n'est) pas (?:correct|vrai|valide|réel|ma réponse|la réponse)",
    rf"\bno (?:te |le |les |os |lo )?(?:puedo|podemos|podré|podría|debo|voy a|quiero|es posible|estoy (?:en condiciones|autorizad\w))\b{_WITHIN_60}\b{_ACTS_ES}",
    r"\bno puedo\s*+(?:[.!,]|$)|\bme niego\b|\b(?:debo|tengo que) (?:rechazar|negarme|declinar)\b|\brechazo (?:esta|la|su|tu)\b",
    rf"\b(?:ignor[ae]n?|descart[ae]n?|olvid[ae]n?)\b{_WITHIN_10}\b(?:esto|eso|lo|el|la|ese|este)\b|\bno (?:lo |la )?(?:us[ae]s?|use[ns]?|utilice[ns]?|utilices|confíe[ns]?)\b",
    rf"\b(?:esto|eso|lo anterior|ese json|este json|la respuesta) {_WITHIN_10}(?:es|está|era|sería) {_WITHIN_10}(?:falso|incorrect|inventad|mal\b|fraude|ilegal|erróne|un error|inválid)",
    rf"\bnão (?:te |lhe |o |a )?(?:posso|podemos|poderei|poderia|devo|vou|quero|consigo|estou (?:apto|autorizad\w))\b{_WITHIN_60}\b{_ACTS_PT}",
    r"\bnão posso\s*+(?:[.!,]|$)|\b(?:recuso|recuso-me|me recuso|devo recusar|tenho que recusar)\b",
    rf"\b(?:ignore|desconsidere|descarte|esqueça)\b{_WITHIN_10}\b(?:isto|isso|o|a|este|esse)\b|\bnão (?:o |a )?(?:use|utilize|confie)\b",
    rf"\b(?:isto|isso|o acima|este json|esse json|a resposta) {_WITHIN_10}(?:é|está|era|seria) {_WITHIN_10}(?:falso|incorret|errad|inventad|fraude|uma fraude|ilegal|um erro|inválid)",
    rf"\bnon (?:ti |le |vi |lo )?(?:posso|possiamo|potrò|potrei|devo|voglio|intendo|sono in grado|sono autorizzat\w)\b{_WITHIN_60}\b{_ACTS_IT}",
    r"\bnon posso\s*+(?:[.!,]|$)|\b(?:mi rifiuto|devo rifiutar\w*|rifiuto (?:di|questa|la))\b",
    rf"\b(?:ignora|ignorate|ignorare|ignori|scarta|scartate)\b{_WITHIN_10}\b(?:questo|quello|il|la|ciò|quanto)\b|\bnon (?:usar\w*|utilizzar\w*|usate|utilizzate)\b",
    rf"\b(?:questo|ciò|quello|il json|la risposta) {_WITHIN_10}(?:è|era|sarebbe) {_WITHIN_10}(?:falso|sbagliat|errat|inventat|frode|una frode|illegal|non (?:corrett|valid))",
    rf"\b(?:ik|wij|we) (?:kan|kunnen|mag|mogen|zal|zullen|wil|ga)\b{_WITHIN_60}\b(?:niet|geen)\b{_WITHIN_60}{_ACTS_NL}|\b(?:kan|mag|zal) ik\b{_WITHIN_60}\b(?:niet|geen)\b{_WITHIN_60}{_ACTS_NL}",
    r"\bik (?:weiger|moet (?:dit |dat )?(?:weigeren|afwijzen))\b|\bnegeer\b|\bgebruik (?:dit|dat|het)\b[^.\n]{0,20}\bniet\b|\b(?:dit|dat|het) is (?:onjuist|fout|verzonnen|fraude|niet (?:correct|juist|echt))",
    rf"\bnie (?:mogę|możemy|będę|chcę|jestem w stanie|powinien\w*)\b{_WITHIN_60}\b{_ACTS_PL}|\b(?:odmawiam|muszę odmówić)\b|\bzignoruj\w*\b|\bto (?:jest )?(?:błęd\w*|fałsz\w*|nieprawd\w*|oszustw\w*|zmyślon\w*)",
    rf"\b(?:не|ні) (?:могу|можем|смогу|сможем|буду|хочу|в состоянии|можу|зможу)\b{_WITHIN_60}{_ACTS_RU}",
    r"\b(?:отказываюсь|вынужден\w* отказать\w*|відмовляюсь)|\b(?:про)?игнорируй\w*|\bне используй\w*|\bэто (?:было )?(?:неверн|неправильн|ошибк|мошеннич|выдум|неправд|обман)\w*",
    rf"\bkan{_WITHIN_30}\b(?:inte|ikke)\b{_WITHIN_30}\b(?:hjälp|hjelp|hjælp|ge|gi|give|tillhandah|bistå|svar|göra|gjøre)|\bjag vägrar\b|\b(?:nemohu|nemůžu|nemôžem)\b{_WITHIN_30}(?:pomoc|pomôc|poskytn|uděl|odpov)",
    r"(?:yardimci olama|yardim edeme|sağlayama|vereme|yapama|yerine getireme|sunama|reddediyor|yanitlayama|oluşturama)\w*|(?:göz ardi ed|dikkate alma|kullanmay)\w*",
    r"không thể (?:giúp|cung cấp|hỗ trợ|trả lời|thực hiện|đưa ra|tạo)|tôi từ chối|\b(?:tidak|tak) (?:bisa|dapat|boleh) (?:membantu|memberikan|menyediakan|melakukan|memenuhi|menjawab|membuat|melanjutkan)|\bsaya menolak\b|\babaikan\b",
)
_UNSPACED_LANGUAGES: Final = (
    r"(?:无法|無法|不能|不会|不會|不便|不可以|不愿|不願|拒绝|拒絕)[^。！？，,.!?\n]{0,10}?(?:提供|帮|幫|协助|協助|完成|回答|满足|滿足|生成|继续|繼續|执行|執行|给出|給出|处理|處理|支持|这样做|這樣做|这么做|写|输出|配合)",
    r"我(?:必须|必須|只能)?(?:拒绝|拒絕)|(?:请|請)?(?:忽略|无视|無視)(?:以上|上述|这|這|上面|它|前)|(?:不要|请勿|請勿|勿)(?:使用|采用|採用|用|相信)",
    r"(?:以上|这|這|上述|上面|前面)[^。！？，\n]{0,14}?(?:错误|錯誤|假的|不正确|不正確|错的|錯的|虚构|虛構|不是真|作废|作廢|无效|無效|欺诈|欺詐|违法|違法|编造|編造)",
    r"(?:答え|応え|手伝い|提供|対応|協力|出し|渡し|教え|作成|生成|回答|応じ|支援)[^。\n]{0,12}?(?:できません|出来ません|かねます|できない|いたしません|ません)|お?断り(?:し|い|さ)|拒否(?:し|い)",
    r"無視して|(?:使用し|使わ)ないで|(?:上記|これ|以上|この)[^。\n]{0,14}?(?:間違|誤り|虚偽|架空|偽|詐欺|無効)",
    r"(?:도와|도울|제공|답변|처리|수행|생성|지원|응답|드릴|해드|작성)[^.\n]{0,14}?(?:수 없|수없|못합|않겠|거부|거절|불가)|(?:거절|거부)(?:합|하)|무시(?:해|하)|사용하지 ?(?:마|말)|(?:위|이)[^.\n]{0,14}?(?:잘못|틀렸|거짓|허위|사기)",
    r"لا (?:أستطيع|استطيع|يمكنني|يمكننا|أقدر|نستطيع)[^.\n\u060c]{0,30}?(?:مساعد|تقديم|توفير|إعطاء|فعل|القيام|الإجابة|تلبية)|أرفض|تجاهل",
    r"(?:मदद|प्रदान|सहायता|उत्तर|दे|कर)[^।.\n]{0,12}?नहीं[^।.\n]{0,12}?(?:सकत|करू|दू)",
)


@cache
def _load_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of all phrases, compiled when a text is first classified."""
    tables = ((*_ENGLISH, *_OTHER_LANGUAGES), _UNSPACED_LANGUAGES)
    return tuple(re.compile("|".join(phrases)) for phrases in tables)
