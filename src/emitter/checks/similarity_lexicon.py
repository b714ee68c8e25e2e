"""Word lists for comparing questions: function words, negators, synonyms, opposites, irregular forms and units.

The lists cover common words of decision questions in English, and function words of some other languages.
"""

from __future__ import annotations

from typing import Final


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH: Final = _word_set(
    "a an the this that these those it its he she they them their we us our ours you your yours i me my mine "
    "is are was were be been being am do does did done doing have has had having will would shall should can could "
    "may might must ought let lets want wants wish like prefer need needs go goes going proceed carry make makes made "
    "take takes get gets give given happen happens handle handled deal dealt "
    "and or but if then than so as at by for from in into of off on onto out over to up upon with within about "
    "against between through via per under during until till "
    "what which who whom whose how when where why whether "
    "please ok okay yes yeah also just only still yet too very really any some all both each every there here "
    "one ones other another different same such else everyone everybody someone somebody anyone anybody everything "
    "something anything way ways manner"
)
"""Articles, pronouns, prepositions, modal and light verbs, and what begins a question."""
FOREIGN: Final = _word_set(
    "der die das den dem des ein eine einen einem einer eines und oder aber wir ihr sie ich es uns soll sollen sollte "
    "sollten wollen will möchten kann können darf dürfen wird werden ist sind im am zum zur auf an mit von für bei aus "
    "le la les l un une des du de d et ou nous vous il elle on faut doit devons devrions peut pouvons est sont au aux "
    "en dans sur avec pour par que qui quoi "
    "el los las una unos y o nosotros debemos deberíamos debe puede podemos es son al del con por para qué "
    "lo gli i uno e dobbiamo dovremmo deve può è sono di da con per che "
    "os as um uma devemos deve pode é são ao do da dos das com em no na "
    "het een wij we moeten moet kunnen kan is zijn van voor met te op"
)
"""The same few of German, French, Spanish, Italian, Portuguese and Dutch."""
FUNCTION_WORDS: Final = ENGLISH | FOREIGN
"""What says nothing of what a question is about."""
NEGATORS: Final = _word_set(
    "not no never without neither nor none cannot nicht kein keine keinen keiner nie ohne ne pas non jamais sans "
    "nunca sin niet geen nooit não nem sem mai senza нет не ни"
)
"""Words that turn a question round."""
PRONOUNS: Final = _word_set("it this that they them these those he she him her so")
"""What stands in a clause for something that an earlier one names."""
INNER_NEGATORS: Final = _word_set("no without neither nor none never ohne sans sin sem senza без kein keine keinen")
"""Negators of a part of a question only."""
RELATIVE_WORDS: Final = _word_set("who whom whose which that where because if unless until although though")
"""Words after which a negation is of what they begin, where they do not begin the question."""
NARROWING_WORDS: Final = _word_set(
    "only partial partially temporary temporarily provisional provisionally readonly staging canary pilot trial half "
    "affected unaffected once if unless until except excluding instalment installment subset sample selected draft "
    "before after encrypted interim limited restricted anonymised anonymized redacted"
)
"""What narrows a question, however much of it stays as it was."""
PREPOSITIONS: Final = _word_set(
    "in on at to for of with by from under against during within between until till per via through into over near "
    "inside outside toward towards across above below behind beside beyond along among around onto after before"
)
"""What begins an addition that says where, when, for whom, by what means or on what terms."""
ARTICLES: Final = _word_set(
    "the a an this that these those it its them him her us our your his their my all every each any some"
)
"""What a noun is not followed by, and a verb is."""
DISCOURSE_NOUNS: Final = _word_set(
    "view good benefit interest sake manner mind thought juncture plan light basis context purpose respect regard "
    "behalf spirit wake hindsight meantime conclusion circumstance advice recommendation suggestion proposal "
    "consideration opinion discussion conversation remark message comment concern objection worry doubt finding "
    "evidence fact situation development hurry urgency judgement judgment fairness clarity reflection haste question "
    "answer decision matter point issue problem thing sense reason idea background "
    "standpoint viewpoint perspective reckoning"
)
"""What an addition speaks of that is of the talk, or of why, and not of the matter."""
SENTENCE_ADVERBS: Final = _word_set(
    "regardless anyway anyhow nonetheless nevertheless indeed altogether honestly frankly simply finally definitely "
    "certainly kindly respectfully surely ultimately therefore thus hence moreover furthermore besides meanwhile "
    "perhaps maybe possibly"
)
"""Adverbs that are said beside a question and change nothing of it."""
ASIDES: Final = (
    r"\bin\s+(?:your|my|our)\s+(?:own\s+)?(?:opinion|view|eyes|judge?ment)\b",
    (
        r"\b(?:is|would)\s+it\s+(?:be\s+)?(?:right|wise|fine|ok|okay|good|best|sensible|reasonable|appropriate|acceptable"
        r"|advisable|correct|time|all\s+right|alright|a\s+good\s+idea)\s+(?:(?:with|for|by)\s+you\s+)?"
        r"(?:if\b|(?=to\b|that\b|for\b))"
    ),
    r"\b(?:would|do)\s+you\s+(?:mind|object|agree)\s+if\b",
    r"\bwith\s+your\s+(?:permission|approval|consent|agreement|blessing|leave)\b",
    r"\b(?:at|for|on|from)\s+(?:your|our|my)\s+(?:earliest\s+)?(?:convenience|review|decision|consideration|side)\b",
    r"\bwithout\s+(?:any\s+)?(?:further\s+|more\s+)?(?:delay|ado|discussion|debate)\b",
    r"\bin\s+favou?r\s+of\b",
    r"\bafter\s+everything(?:\s+(?:that\s+)?(?:we|you|i)(?:\s+have)?\s+\w+)?\b",
    r"\bat\s+(?:long\s+last|last|any\s+rate|the\s+end\s+of\s+the\s+day)\b",
    r"\bin\s+(?:practice|theory|essence|effect|reality|truth|earnest|any\s+event|all\s+(?:fairness|honesty))\b",
    r"\b(?:on\s+the\s+whole|by\s+and\s+large|by\s+all\s+means|all\s+in\s+all|above\s+all)\b",
    r"\bwith\s+(?:[\w'\u2019]{1,30}\s+){1,5}(?:in\s+mind|considered|taken\s+into\s+account)\b",
    r"\bwith\s+(?:(?:all\s+)?(?:that|this)\s+said|(?:all\s+)?due\s+respect)\b",
    (
        r"\b(?:all\s+things\s+considered|on\s+balance|on\s+reflection|in\s+the\s+end|in\s+(?:any|this)\s+case|in\s+fact"
        r"|of\s+course|for\s+the\s+record|by\s+any\s+chance|to\s+be\s+clear|under\s+(?:(?:the|these)\s+circumstances|these\s+conditions)"
        r"|at\s+this\s+(?:point|stage|time)|all\s+the\s+same|as\s+it\s+stands|as\s+such)\b"
    ),
)
"""Turns of phrase that do the same."""
CLAUSE_OPENERS: Final = (
    "should",
    "shall",
    "considering",
    "although",
    "though",
    "despite",
    "given",
    "because",
    r"since\s+(?:the|this|that|there|it|i|you|we|they)",
    "notwithstanding",
    r"regardless\s+of",
    r"in\s+spite\s+of",
    r"in\s+(?:the\s+)?light\s+of",
    r"in\s+view\s+of",
    r"now\s+that",
    r"so\s+that",
    r"in\s+order\s+(?:to|that)",
    r"so\s+as\s+to",
    r"to\s+(?:avoid|prevent|ensure|save|meet|minimi[sz]e|protect|comply|satisfy|address|resolve|unblock|spare|catch|reach)",
    r"for\s+(?:\w+\s+){0,2}(?:reasons?|sake)",
    r"on\s+(?:the\s+)?(?:basis|grounds?|strength|account)\s+of",
    r"in\s+(?:accordance|line|keeping|agreement|response|reply|answer|reaction)\s+(?:with|to)",
    r"(?:due|owing|thanks)\s+to",
    r"as\s+a\s+(?:matter|result|consequence|precaution|(?:first|next|last)\s+step)",
    r"as\s+(?:(?:i|you|we|they|he|she)\s+\w+|planned|discussed|agreed|proposed|recommended|suggested|mentioned|before)",
    r"as\s+(?:\w+\s+){1,4}(?:suggest|recommend|propos|advis|request|plann|demand|ask)ed",
)
"""What begins a clause without a mark before it: the question itself, or what is said for or against it."""
CONDITION_OPENERS: Final = _word_set("if unless until once provided only except")
"""What a clause begins with under which all the rest stands."""
CONNECTIVES: Final = _word_set("and but or so then please")
"""What may stand before it."""
VERBAL_FUNCTION_WORDS: Final = _word_set(
    "is are was were be been being am do does did done doing have has had having will would shall should can could may "
    "might must ought let lets want wants wish like prefer need needs go goes going proceed carry make makes made take "
    "takes get gets give given happen happens handle handled deal dealt we i you they it he she just still yet too "
    "very really also please and or then so"
)
"""Those of the little words of English after which a word does not say which of the next is meant."""
FILLER_ADJECTIVES: Final = _word_set(
    "current present said aforementioned above proposed planned pending scheduled usual regular existing requested "
    "mentioned outstanding important urgent relevant respective entire whole full complete actual given following "
    "necessary required intended discussed upcoming"
)
"""What may stand before any word and says nothing of which is meant."""
UNSPACED_NEGATORS: Final = ("不", "没", "沒", "勿", "別", "别", "ない", "なく", "ません", "ไม่")
"""The same in scripts that put no spaces between words, wherever they stand."""
OBJECTION_WORDS: Final = _word_set(
    "wrong question questions ask asks asked asking answer answers option options choice choices choose decide "
    "decided deciding decision decisions frame framing premise premises assume assumes assumed assumption point matter "
    "matters issue issues problem thing things think thought believe see say says said know mean means ready ripe "
    "right sense different first instead rather actually real bad better good object objection reopen discuss "
    "reconsider consider again because since "
    "early late later soon sooner rest rests false true stop stops trust understand explain explained deliberate "
    "premature nonsense stupid silly absurd ridiculous hmm hm um eh huh wtf lol wow no nope call look looks missing "
    "busy tomorrow maybe perhaps never always enough time wait waiting moment tell telling talk sure unsure certain "
    "clear unclear confused confusing vague idea reason reasons why sorry thanks thank ready done quite much more less "
    "little big hard easy simple care bother annoying annoyed hate ignore ignored read listen try tired useless "
    "pointless irrelevant misleading unfair leading loaded biased crap shit damn hell today yesterday"
)
"""What an objection says of the question as such, and not of what it overlooks."""
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
NUMBERS: Final = {
    **{
        word: str(value) for value, word in enumerate(_NUMBER_WORDS.split()) if word != "one"
    },  # which is mostly a pronoun
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
}
POSSESSIVE_MARK: Final = "\u00a7"
"""What stands for the ending of an owner, and is no part of a word."""
PHRASE_REPLACEMENTS: Final = (
    (r"n['\u2019]t\b", " not"),
    (r"['\u2019]s\b", POSSESSIVE_MARK),
    (r"\bonce\s+(?:more|again)\b", ""),
    (r"\bafter\s+all\b", ""),
    (r"\bin\s+(?:what|which)\s+(?:way|manner)\b", "how"),
    (r"\bread[\s-]only\b", "readonly"),
    (r"\b(?:v|versions?\s+v?)(?=\d)", ""),
    (r"\bor\s+not\b", ""),
    (r"\b(re|un|pre|de|co|non)-(?=\w)", r"\1"),
    (r"\broll(?:ed|ing|s)?\s+back\b", "rollback"),
    (r"\broll(?:ed|ing|s)?\s+out\b", "rollout"),
    (r"\b(?:turn|switch|shut)(?:ed|ing|s)?\s+off|\bshut(?:ting|s)?\s+down\b", "disable"),
    (r"\b(?:turn|switch)(?:ed|ing|s)?\s+on\b", "enable"),
    (r"\b(?:put|hold|held)\s+off\b", "postpone"),
    (r"\bset(?:ting)?\s+up\b", "create"),
    (r"\bget(?:ting)?\s+rid\s+of\b", "delete"),
)
"""Words that mean one thing together, and what takes their place."""
POWERS_OF_TEN: Final = {"k": 3, "thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9}
"""The power of ten that a word after a number stands for."""
CURRENCIES: Final = {
    "$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "jpy",
    "dollar": "usd",
    "dollars": "usd",
    "euro": "eur",
    "euros": "eur",
    "pound": "gbp",
    "pounds": "gbp",
    "yen": "jpy",
}
IRREGULAR_FORMS: Final = {
    form: word
    for line in (
        "buy bought,sell sold sale sales,send sent,keep kept,hold held,pay paid,tell told,write wrote written",
        "leave left,draw drew drawn,withdraw withdrew withdrawn,break broke broken,build built",
        "rebuild rebuilt,lend lent,lose lost,win won,run ran,begin began begun,speak spoke spoken,tear tore torn",
        "steal stole stolen,freeze froze frozen",
        "show shown,know knew known,grow grew grown growth,throw threw thrown,fly flew flown,drive drove driven",
        "ride rode ridden,rise rose risen,see saw seen,hear heard,teach taught,bring brought,catch caught,seek sought",
        "find found,meet met,feed fed,lead led,feel felt,sweep swept,stand stood,sit sat,strike struck,stick stuck",
        "hang hung,bind bound,shoot shot,shrink shrank shrunk,sink sank sunk,hide hid hidden,forget forgot forgotten",
        "forbid forbade forbidden,spend spent,use used uses using usage,choose chose chosen choice,fall fell fallen",
        "eat ate eaten,repay repaid,undo undid undone,redo redid redone,die died dying,dig dug,lay laid,shake shaken",
        "child children,repeat repeated repeating,carry carried carrying,person people persons,woman women,man men",
        "tax taxes",
        "acquire acquisition,extend extension,suspend suspension,expand expansion,reduce reduction,omit omission",
        "introduce introduction,admit admission,submit submission,convert conversion,include inclusion",
        "exclude exclusion,close closure,depart departure,deliver delivery deliveries,prove proof proven,merge merger",
        "respond response,maintain maintenance,insure insurance,accept acceptance,assist assistance,divide division",
        "demolish demolition,abolish abolition,publish publication,repeat repetition,explain explanation",
        "destroy destruction,construct construction,store storage,revise revision,renew renewal",
        "advertise ad ads advert adverts advertisement advertising,analyse analysis analyze,defer deferral",
    )
    for word, *forms in map(str.split, line.split(","))
    for form in forms
}
"""By form: the word that it is a form of, or is made from, where no ending tells it."""
PHRASAL_VERBS: Final = {
    (verb, particle): word
    for line in (
        "cancel: call off, break off; postpone: put off, push back; advance: bring forward, move up",
        "investigate: look into; check: look over, go over; submit: hand in, send in, turn in",
        "reject: turn down, vote down; approve: wave through, let through, nod through, sign off",
        "disable: switch off, turn off, shut off, shut down, power off, power down",
        "enable: switch on, turn on, power up; hire: take on; introduce: bring in; dismiss: lay off, let go",
        "demolish: tear down, pull down, knock down; return: send back, give back, bring back, take back",
        "repay: pay back, pay off; forward: pass on; retire: phase out; withdraw: back out, pull out, opt out",
        "rent: rent out; lend: lend out; shorten: cut short; reduce: cut down, cut back, scale down, scale back",
        "increase: scale up, top up; accelerate: speed up; admit: own up, let in; abandon: give up",
        "delete: do away, throw away, throw out, cut out, take down, take off, take away, strike out; add: add on",
        "exclude: leave out; start: start up, kick off; close: close down; disconnect: cut off",
        "replace: swap out, swap over, change over; acquire: take over, buy out; sell: sell off",
        "distribute: hand out, give out; continue: carry on, keep on; withhold: hold back, keep back",
        "keep: stick with; complete: fill in; resign: step down; fix: sort out; rollback: roll back",
        "rollout: roll out; create: set up, put together; publish: go live, put live; participate: take part",
        "proceed: go ahead; give: hand over; do: carry out; happen: take place",
    )
    for word, _, pairs in (each.partition(": ") for each in line.split("; "))
    for verb, particle in map(str.split, pairs.split(", "))
}
"""By verb and particle: the word that says the same alone."""
CONCEPT_GROUPS: Final = (
    (
        "keep retain preserve",
        "delete remove erase purge drop discard wipe deletion removal scrap abolish eliminate abandon dispose",
    ),
    (
        "approve accept confirm authorise authorize agree allow permit grant approval endorse ratify greenlight",
        "reject decline deny refuse forbid block revoke denial refusal ban prohibit disallow veto",
    ),
    ("enable activate", "disable deactivate"),
    ("start begin launch commence ", "stop halt end terminate abort cancel cease"),
    ("resume continue unpause", "pause suspend interrupt"),
    ("increase raise grow expand", "decrease reduce lower shrink cut"),
    ("buy purchase acquire", "sell"),
    ("publish post", "unpublish retract"),
    ("deploy ship rollout roll", "rollback revert"),
    ("open reopen", "close shut"),
    ("lock freeze", "unlock unfreeze thaw"),
    ("include add insert", "exclude omit"),
    ("subscribe enrol enroll", "unsubscribe"),
    ("upgrade update", "downgrade"),
    ("hire recruit employ engage", "fire dismiss sack"),
    ("share disclose reveal expose", "withhold hide conceal"),
    ("release free unblock", "hold"),
    ("encrypt", "decrypt"),
    ("mount attach connect join link", "unmount detach disconnect leave unlink"),
    ("renew extend prolong", "expire lapse"),
    ("send transmit forward dispatch email mail", ""),
    ("pay remit settle transfer wire payment transferral", ""),
    ("postpone delay defer reschedule adjourn", ""),
    ("schedule book reserve arrange booking", ""),
    ("restart reboot", ""),
    ("restore recover", ""),
    ("move migrate relocate migration shift", ""),
    ("sign", ""),
    ("choose pick select use adopt opt", ""),
    ("fix repair patch correct mend", ""),
    ("replace swap substitute exchange", ""),
    ("inform notify tell alert notification", ""),
    ("check verify review inspect audit examine", ""),
    ("refund reimburse", ""),
    ("merge combine", ""),
    ("customer client", ""),
    ("supplier vendor provider", ""),
    ("employee staff worker personnel", ""),
    ("document file", ""),
    ("bug defect defective fault flaw", ""),
    ("money funds", ""),
    ("bill invoice", ""),
    ("agreement contract", ""),
    ("meeting appointment", ""),
    ("db database", ""),
    ("prod production", ""),
    ("repo repository", ""),
    ("now immediately today", ""),
    ("before", "after"),
    ("permission access right", ""),
    ("picture image photo photograph", ""),
    ("tonight evening", ""),
    ("candidate applicant", ""),
    ("job position role vacancy", ""),
    ("company firm business enterprise", ""),
    ("car vehicle automobile", ""),
    ("lorry truck", ""),
    ("plane aircraft airplane aeroplane", ""),
    ("trip journey", ""),
    ("holiday vacation", ""),
    ("parcel package", ""),
    ("goods merchandise", ""),
    ("doctor physician", ""),
    ("lawyer attorney solicitor", ""),
    ("pupil student", ""),
    ("child kid", ""),
    ("tenant renter lodger", ""),
    ("flat apartment", ""),
    ("shop store", ""),
    ("road street", ""),
    ("error mistake", ""),
    ("risk danger hazard", ""),
    ("fee charge", ""),
    ("wage salary", ""),
    ("discount rebate", ""),
    ("medicine medication drug", ""),
    ("illness disease", ""),
    ("exam examination", ""),
    ("grade mark", ""),
    ("movie film", ""),
    ("website site", ""),
    ("folder directory", ""),
    ("outage downtime", ""),
    ("phone telephone ring", ""),
    ("waste rubbish garbage trash", ""),
    ("statute law", ""),
    ("quick fast rapid", ""),
    ("cheap inexpensive", ""),
    ("expensive costly", ""),
    ("investigate probe", ""),
    ("demolish raze", ""),
    ("submit lodge", ""),
    ("retire decommission discontinue sunset", ""),
    ("shorten abridge", "lengthen"),
    ("rent lease", ""),
    ("assist help support aid", ""),
    ("teach train instruct", ""),
    ("build construct erect", ""),
    ("repeat redo", ""),
    ("answer reply respond", ""),
    ("finish complete conclude", ""),
    ("accelerate expedite hasten", "slow decelerate"),
    ("assign allocate allot", ""),
    ("promote", "demote"),
    ("announce declare", ""),
    ("show display exhibit", ""),
    ("gather collect", ""),
    ("protect safeguard secure", ""),
    ("monitor supervise oversee watch", ""),
    ("change modify alter amend adjust switch", ""),
    ("compensate indemnify", ""),
    ("vaccinate inoculate immunise immunize", ""),
    ("kill cull slaughter", ""),
    ("damage harm", ""),
    ("split divide separate", ""),
    ("recommend advise suggest propose", ""),
    ("dispute contest challenge", ""),
    ("sue litigate", ""),
    ("fund finance sponsor", ""),
    ("transport haul", ""),
    ("enlarge widen broaden", "narrow"),
    ("tighten", "loosen relax ease"),
    ("strengthen", "weaken"),
    ("simplify streamline", ""),
    ("stay remain", ""),
    ("heat warm", "cool chill"),
    ("empty drain", ""),
    ("award prize", ""),
    ("complaint grievance", ""),
    ("participant attendee", ""),
    ("trainee apprentice", ""),
    ("summary abstract", ""),
    ("survey poll questionnaire", ""),
    ("vote ballot", ""),
    ("dose dosage", ""),
    ("pharmacy chemist", ""),
    ("elevator lift", ""),
    ("cellar basement", ""),
    ("garden yard", ""),
    ("pavement sidewalk", ""),
    ("petrol gasoline", ""),
    ("warranty guarantee", ""),
    ("deadline cutoff", ""),
    ("login logon", ""),
    ("wording text", ""),
    ("big large", ""),
    ("color colour", ""),
    ("center centre", ""),
    ("license licence", ""),
    ("program programme", ""),
)
"""Words that mean the same in a question for a decision, and those that mean the opposite."""
