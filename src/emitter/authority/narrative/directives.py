"""The words of orders and of duties, in English."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.verbs import DETERMINERS, LEADS, NOT_VERBS, SUBORDINATE, VERBS

ORDERS = lexicon("""
    acknowledge anticipate exempt expect nominate respect reflect understand focus account factor count trim climb
    dig drain dust fold glue grab grill hug iron knit light peel plug polish rake roll rope scan scrub season shave
    shovel sift skim sort stack staple stamp steam strap sweep tap thread twist weigh whisk take avoid stop ask
    consult seek keep apply inject swallow contact use make get go give put remove wash wear ensure remember follow
    continue begin start wait tell inform notify choose try eat drink bring call send pay sign read write open close
    press click enter turn switch pull push hold store check consider see talk speak visit discontinue resume reduce
    increase double refrain refer return submit complete fill provide confirm verify proceed do be let allow stay
    leave move become beware stick discard dispose dilute mix rinse clean dry heat cool replace install uninstall
    disconnect unplug evacuate exit lie sit stand walk run lift lower breathe rest monitor measure limit restrict
    cut quit accept reject decline approve deny refuse sell buy invest transfer withdraw file report dial phone
    email hand collect throw taste test add pour stir cook boil compare knead attach adjust select schedule book
    cancel renew register enrol enroll vote save spend borrow lend trust ignore disregard treat bear note watch look
    listen think prepare plan protect secure lock update upgrade download upload delete empty feed opt aim arrange
    attend assess obtain inspect identify determine decide examine evaluate establish encourage explain explore
    gather handle hire inquire enquire join learn locate maintain manage negotiate organise organize perform prevent
    pursue recycle relax remind repeat rethink retain scrape separate serve shake skip slice spread squeeze stretch
    undergo unlock unsubscribe utilise utilize consume ingest abstain administer prescribe chew crush dissolve
    sprinkle rub massage ice elevate soak tie fasten wipe
""")
"""Verbs that a sentence of instructions begins with."""

NOUNS = lexicon("""
    exempt respect focus account factor commission convert delegate dial direct display divide dry duplicate escrow
    fell forward free handle hedge hide hire honor honour interview invoice leave license massage mirror open patch
    phase pin plant pledge prune purge ramp rebuild rewrite route scrap secure seed separate slice soak split
    sponsor spread stage state stretch substitute surrender tender top transition triage trial trigger triple veto
    void wind wire repeal waste count trim climb dig drain dust fold glue grab grill hug iron knit light peel plug
    polish rake roll rope scan scrub season shave shovel sift skim sort stack staple stamp steam strap sweep tap
    thread twist weigh whisk use call check store test report sign rest run cover contact drink exercise sleep walk
    watch plan cut limit measure file cook heat cool hand book vote taste charge record request review change help
    search support release return move start wait try look talk visit stand lift lower press click fill rinse clean
    feed transfer drive swap trade fast ice email phone update upgrade download upload order offer pay place process
    purchase rent repair reserve reply result retreat ring ride rule sail sack sample scale schedule screen seal set
    shape share ship show shut slip slow speed spin stay stick stock stop storm strike stroke study swing switch
    target tax tear throw tie tip touch tour track train travel treat trust turn view wash water weather weight
    welcome work worry wrap yield exit fit fix flag fly frame freeze gift grant group guide halt harm hate hold hope
    host house hunt hurt impact import increase influence insert invite issue judge jump key kick kill lack land
    launch lead lease level lie line link list load lock log love mail make mark match matter meet mind mix model
    monitor mount name need note notice object pack page paint park part pass pause permit pick pilot play point
    poll post pound power practice praise present price print produce profit progress project promise proof protest
    pull punch push quarrel question quote race rain raise range rank rate reach read recall reform refund regret
    remark remedy act add aim air answer appeal arm attack attempt auction audit back balance ban bank bar base bat
    battle bear beat benefit bet bid bill bind bite blame block blow board bomb bond boost border borrow boss bottle
    bound bow box brake branch brand break breed brief broadcast brush budget build burn bus button buy cable camp
    cancer cap capture care carpet cast catch cause challenge chance charm chart chase chat cheat claim class clear
    close coach coat code comb comfort command comment compound concern conduct conflict contract contrast control
    copy cost cough court crack craft crash credit cross crowd cry cure curve cycle damage dance dare date deal
    debate decay decline decrease default delay delight demand deposit design desire detail diet dispute document
    double doubt draft drag draw dream dress drift drill drop dump duty echo edge edit empty end escape estimate
    excuse exhibit experience experiment export extract eye face fail fall farm favor favour fear figure film
    finance find fine finish fire fish float flood floor flow force form found fuel function fund supply suspect
    think
""")
"""Those that are nouns as well: one is an order only before what a noun does not stand before."""

FINITE = lexicon("""
    is are was were has have had can may might could will would does do did 's been remains remain becomes become
    means mean shows comes come takes makes gets goes gives leads helps needs matters matter differs differ varies
    vary depends depend costs begins ends starts improves affects causes reduces raises rises falls grows contains
    includes consists requires let reads
""")
"""Verbs that make a subject of what stands before them."""

BEFORE = (
    LEADS | lexicon("always next finally firstly second secondly lastly otherwise if necessary well ok yes and or also")
) - {"if"}
PLACES = lexicon("""
    amid among around behind below beneath beside besides beyond despite except inside including like minus
    notwithstanding outside past plus regarding throughout till toward towards underneath unlike upon versus within
    concerning half double known given taken seen left built once today yesterday tomorrow monday tuesday wednesday
    thursday friday saturday sunday hence here there thanks whoever each some most much several two three four five
    six seven eight nine ten one zero rather quite such what why who whose i'm hello hi dear according due owing
    prior better worse best worst tell
""") - {"tell"}
NOT_ORDERS = (NOT_VERBS | PLACES) - lexicon("do be let")
KNOWN = (VERBS | ORDERS) - lexicon("may can will own")
FOLLOWING = (DETERMINERS - {"that"}) | lexicon(
    "one yourself plenty more less enough out up off down away back with at to from until"
)
"""What follows an order, and not a noun."""

VERBS_IN_LY = lexicon("apply supply reply rely comply multiply fly imply")
STATES = lexicon("""
    cross cost last transmit grow live exist work fly sell run rank appear seem tend belong contain consist include
    require know take weigh form occur happen fall rise accompany carry produce follow become remain tell use want
    provide receive keep lead help depend turn stand lie stay serve describe reach pass hold bring allow enable
    prefer like study meet
""")
"""Verbs by which many are said to do something: "cover letters accompany applications"."""

GERUNDS = lexicon("stop start begin quit keep try avoid continue consider")
"""Verbs that are orders before a verb in -ing."""
ADVERBIAL = lexicon("""
    "twice again carefully hands any when if before after two three four five six eight ten here there now
    immediately" put calm away still home together apart indoors outside inside
""")
"""What follows those of ``ORDERS`` that are nouns as well."""

INTRODUCES = (
    SUBORDINATE
    | PLACES
    | LEADS
    | lexicon("""
    to first second third next then finally lastly otherwise once should were in on at by from into over under about
    between across during against via near off up down after before with without
""")
) - lexicon("each some most much two three four five six seven eight nine ten one zero who whose")
"""What a clause begins with that leads up to an order."""

TELLS = Phrases.of(
    "note|recall|remember|observe that|how|also",
    "consider [for] [the|a|an] case|example|cases|examples|instance",
    "consider how|what|why",
    "see also|section|sections|chapter|chapters|below|above|figure|table|page|appendix",
    "see the section|chapter|next|previous|figure|table|appendix|notes",
    "suppose|imagine|say x|y|n|that|a|the",
    "compare [with] section|chapter|figure|table|page",
    "let x|y|n",
    "wear and tear",
    "give and take",
    "trial and error",
)
"""What a writer says to a reader without telling them to act."""

PLAINLY = Phrases.of(
    "please",
    "do not",
    "never " + "|".join(sorted(ORDERS)),
    "let us " + "|".join(sorted(KNOWN)),
    "why not " + "|".join(sorted(KNOWN)),
    "make|be sure|certain",
    "be careful|aware|patient|cautious|prepared|warned|advised|honest",
    "feel free to",
    "say no|yes|nothing",
    "think of|about|through|twice|carefully|ahead",
    "look into|at|after|for|again",
    "pay attention|heed",
    "account for",
    "factor in",
    "focus on",
    "no smoking|entry|parking|swimming|eating|drinking|running|diving|trespassing",
)
"""What an order begins with, whatever follows."""

_PRESENT = "is|are|'s"
_ADVERB = "not|strongly|always|also|now|therefore|only|highly|generally|usually|hereby|strictly|legally|still|very|so"
_PERSONS = (
    "tenant|tenants|patient|patients|applicant|applicants|buyer|buyers|seller|sellers|employee|employees|party|parties|"
    "user|users|you|they|he|she|driver|drivers|staff|passenger|passengers|member|members|student|students|parent|parents|"
    "owner|owners|worker|workers|customer|customers|company|borrower|borrowers|everyone|everybody|all|children"
)
DUTIES = Phrases.of(
    f"{_PRESENT} [{_ADVERB}] [{_ADVERB}] required|obliged|obligated|advised|urged|encouraged|recommended|instructed|"
    "ordered|mandatory|compulsory|obligatory|advisable|prohibited|forbidden|banned|requested|bound to|by|that|in|for|"
    "at|from|before|after|during|when|while|here|and|or|without|with|on",
    f"{_PRESENT} [{_ADVERB}] supposed|meant|bound to",
    f"{_PRESENT} not allowed|permitted",
    f"it {_PRESENT} [{_ADVERB}] necessary|essential|imperative|crucial|vital|important|best|wise|better|critical|"
    "safest|advisable|recommended|time|prudent|sensible|mandatory|wisest|safer|worth to|that|for|not",
    f"it would be [{_ADVERB}] wise|best|better|advisable|prudent|sensible to",
    "is|are a must",
    f"it {_PRESENT} a [very] good|bad|wise|poor idea to",
    "no need to|for",
    "i|we [would|do|can|also|only] [strongly|also|highly|therefore|certainly] recommend|advise|suggest|urge|encourage|"
    "propose|insist",
    "my|our [own] advice|recommendation|suggestion is",
    "had|would better|rather be|not|" + "|".join(sorted(ORDERS)),
    "you would be wise|better|smart",
    "you are [much|far] better off",
    "you may|might|could|can|will|would|do [not|also|well|then|now] want|wish|like|try|consider|prefer "
    "to|talking|asking|seeing|selling|buying|waiting|stopping|taking|a|the",
    "best|only|right|safest|next|wisest|sensible|correct|proper course|option|thing|step|move|choice|way|answer "
    "[to|of|forward] [do|take|action] [here|now] is to",
    "next|first step is to",
    "nobody may",
    "nobody|no [one] is|are allowed|permitted to",
    "is|are [not] to be",
    "no one|person|visitor|visitors|passenger|passengers|employee|employees|member|party|vehicle|vehicles|child|"
    "children may",
    f"{_PERSONS} {_PRESENT} [not] to " + "|".join(sorted(KNOWN | lexicon("be"))),
)
REQUIRED_LAST = lexicon("required advised mandatory compulsory obligatory advisable prohibited forbidden banned urged")
"""What states a duty at the end of a clause: "evacuation is advised"."""

MODALS = lexicon("must should shall ought")
NEEDS = lexicon("need needs")
HAVES = lexicon("have has")
ARTICLES = lexicon("the a an no any this their our its his her your of in every")
SOFTENS = lexicon("may might could")
ASKS = lexicon("whether how what why")
"""What makes a question of a duty."""

WHO_ASKS = lexicon("of on about over decide decides ask asks wonder know question and")
"""What "who" makes a question after; after anybody else it is whose duty it is."""
