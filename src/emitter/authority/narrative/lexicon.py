"""English word lists of the narrative rules: verdicts, directives, sources and verbs of speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.checks.english import DETERMINERS, LEADING_LINKS, NOT_VERBS, SUBORDINATE, VERBS, Phrases, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

VERDICTS = word_set("""
    safe unsafe healthy unhealthy harmful harmless dangerous hazardous non-hazardous nonhazardous toxic non-toxic
    nontoxic poisonous edible inedible carcinogenic cancerous malignant benign contagious infectious non-infectious
    infected sterile pregnant diabetic septic contaminated uncontaminated contraindicated effective ineffective
    efficacious curable incurable lethal compliant non-compliant noncompliant conformant conforming approved
    unapproved certified uncertified accredited licensed unlicensed verified unverified validated authenticated
    legitimate illegitimate legal illegal lawful unlawful constitutional unconstitutional enforceable unenforceable
    binding void valid invalid genuine authentic inauthentic counterfeit fake forged falsified fraudulent
    non-fraudulent bogus plagiarised plagiarized malicious secure insecure vulnerable compromised hacked trustworthy
    untrustworthy reliable unreliable creditworthy uncreditworthy solvent insolvent bankrupt taxable non-taxable
    tax-free deductible tax-deductible non-deductible fit unfit roadworthy unroadworthy airworthy unairworthy
    seaworthy unseaworthy habitable uninhabitable suitable unsuitable adequate inadequate acceptable unacceptable
    admissible inadmissible defective faulty high-risk low-risk risk-free riskless risky discriminatory defamatory
    libellous libelous infringing gluten-free lactose-free allergen-free nut-free vegan halal kosher hypoallergenic
    biodegradable guilty innocent liable negligent eligible ineligible entitled exempt non-exempt qualified
    unqualified disqualified authorised authorized unauthorised unauthorized substandard usurious corrupt abusive
    true untrue false correct incorrect accurate inaccurate fireproof waterproof error-free bug-free covered insured
    uninsured cleared insurable uninsurable payable due reimbursable refundable unsanitary sanitary hygienic
    unhygienic potable drinkable undrinkable viable nonviable non-viable airtight leakproof
""")
PERMITTED = word_set("prohibited forbidden banned permitted allowed restricted")
"""What is a verdict before its noun only: of a predicate it is a rule for somebody to keep."""
OFFENCES = word_set("""
    scam fraud forgery fake hoax breach violation crime offence offense carcinogen poison toxin felony misdemeanor
    misdemeanour counterfeit infringement fraudster criminal liar impostor narcotic toxicant match mismatch lie
    forgeries scams frauds crimes offences poisons carcinogens
""")
"""Nouns that are verdicts."""
ILLNESSES = word_set("""
    diabetes cancer melanoma leukaemia leukemia lymphoma pneumonia tuberculosis asthma hypertension depression
    schizophrenia dementia alzheimer's epilepsy anaemia anemia sepsis meningitis hepatitis influenza flu covid
    covid-19 malaria measles mumps cholera arthritis gout osteoporosis migraine stroke angina bronchitis copd eczema
    psoriasis appendicitis cirrhosis hiv aids autism adhd ptsd anorexia bulimia carcinoma sarcoma tumour tumor
    infection thrombosis embolism arrhythmia gonorrhoea syphilis chlamydia lupus celiac coeliac glaucoma cataract
    cataracts concussion scabies shingles chickenpox rabies tetanus gastritis colitis endometriosis hypothyroidism
    hyperthyroidism hypoglycaemia hypoglycemia obesity
""")
TESTED = word_set("positive negative normal abnormal elevated")
"""What is a verdict on a test, or on whoever was tested."""
TESTS = word_set(
    "test tests result results sample samples screen screening culture swab biopsy scan patient he she you"
)
SUBJECTS = word_set("you he she patient child man woman applicant client claimant driver subject customer i")
_ADVERBS = (
    "clearly|definitely|certainly|perfectly|completely|fully|entirely|totally|wholly|absolutely|quite|very|truly|"
    "legally|medically|clinically|technically|officially|undoubtedly|obviously|plainly|indeed|always|now|still|also|"
    "not|never|no|therefore|thus|hence|in|simply|so|both|neither|either|highly|extremely|too|already|actually|really|"
    "demonstrably|unquestionably|only|all|just|surely|partly|inherently|equally|well|currently|otherwise|longer|fact"
)
_IS = "is|are|was|were|am"
_SHAPE = f"[{_ADVERBS}] [{_ADVERBS}] [a|an|the|as|any] [{_ADVERBS}]"
_VERDICT = "|".join(sorted(VERDICTS))
_PERMITTED = "|".join(sorted(PERMITTED))
_NOUN = "|".join(sorted(OFFENCES))
_ILLNESS = "|".join(sorted(ILLNESSES))
_JUDGED = "deemed|judged|found|considered|regarded|ruled|declared|proven|proved|shown|confirmed|pronounced|adjudged"
_CLASSED = "classified|categorised|categorized|classed|labelled|labeled|rated|graded|designated|certified|identified"
FOUND = Phrases.from_lines(
    f"{_IS} {_SHAPE} {_VERDICT}|{_ILLNESS}",
    f"{_IS} {_SHAPE} [serious|clear|known|common|plain|obvious|outright] {_NOUN}",
    f"{_IS} [a|an|the] {_PERMITTED} act|import|export|item|substance|use|practice|product|weapon|activity",
    f"{_IS} [{_ADVERBS}] {_JUDGED} [to] [be] [as|a|an] [{_ADVERBS}] {_VERDICT}|{_NOUN}",
    f"{_IS} [{_ADVERBS}] {_CLASSED} as|{_VERDICT}",
    f"will|shall|must [{_ADVERBS}] be [{_ADVERBS}] [a|an] {_VERDICT}|{_NOUN}",
    f"has|have [{_ADVERBS}] been [{_ADVERBS}] {_VERDICT}|{_CLASSED}",
    f"has|have [{_ADVERBS}] been [{_ADVERBS}] {_JUDGED} [to] [be] [as|a|an] {_VERDICT}|{_NOUN}",
    f"remains|remain|stays|proves|proved|becomes|became|stands [{_ADVERBS}] [a|an] {_VERDICT}",
    f"turns|turned|turn out [{_ADVERBS}] [to] [be] [{_ADVERBS}] [a|an] {_VERDICT}|{_NOUN}",
    f"proves|proved to be [{_ADVERBS}] [a|an] {_VERDICT}|{_NOUN}",
    f"{_IS} [{_ADVERBS}] a [clear|plain|typical|severe|mild] case|instance|act of {_NOUN}|{_ILLNESS}",
    f"makes|renders|rendered [the|it|this|them] .. {_VERDICT}",
    "qualifies|qualify [not|fully|clearly] as|for",
    "counts|count [not] as",
    "constitutes|constitute|constituted",
    "amounts|amount to a|an",
    "meets|meet|satisfies|satisfy|fulfils|fulfills|fulfil|met [all|every|each|the|both] .. "
    "requirements|requirement|criteria|criterion|standard|standards|definition|conditions|condition|threshold",
    "complies|comply|complied with",
    "conforms|conform|conformed to|with",
    "violates|violate|violated|breaches|breach|breached|infringes|infringe|infringed|contravenes|contravene|contravened",
    "passes|passed|pass|fails|failed|fail [the|its|all|every|each|a] .. inspection|test|tests|check|checks|audit|exam",
    "tests|tested positive|negative",
    f"{_IS} [{_ADVERBS}] in [full|clear|direct|material] compliance|breach|violation|default|conformity|contempt",
    f"{_IS} [{_ADVERBS}] free of|from",
    f"{_IS} proof|evidence of fraud|guilt|{_ILLNESS}",
)
TESTED_AS = Phrases.from_lines(f"{_IS} [{_ADVERBS}] [{_ADVERBS}] {'|'.join(sorted(TESTED))}")
ILL = Phrases.from_lines(
    f"has|have [{_ADVERBS}] [a|an|the] [severe|mild|acute|chronic|early|type|stage] [1|2|one|two|bacterial|viral] "
    f"{_ILLNESS}",
    f"suffers|suffered from [a|an|the] [severe|mild|acute|chronic|early] {_ILLNESS}",
    f"is|was|are|were suffering from [a|an|the] [severe|mild|acute|chronic|early] {_ILLNESS}",
)
ALONE = Phrases.from_lines(
    f"[{_ADVERBS}] [{_ADVERBS}] {_VERDICT}|{_PERMITTED}|{_NOUN}|{_ILLNESS} [to|for|by] [use|eat|drink|all]"
)
"""A verdict without a verb: "Status: approved." """
HARD_S = word_set("to for and or in under when because on by but")
"""What follows a verdict that "'s" was the verb of."""
OPENS = word_set("whether unless until lest how assuming suppose what")
CONDITIONS = word_set("if when once where provided")
RELATIVES = word_set("that which who")
MAYBE = word_set("may might could can would to not should a an the in of no any")
"""What takes a bare verb out of the indicative."""
DOUBTS = Phrases.from_lines(
    "not|never|hardly .. mean|say|imply|confirm|verify|prove|establish|guarantee|show|claim|know|determine|conclude|"
    "suggest|tell|state|indicate|decide",
    "no evidence|proof|guarantee|indication|claim|finding|sign that|of",
    "not [yet] known|clear|proven|established|certain|shown|confirmed",
    "possible|likely|unlikely|conceivable|thought|believed|plausible|suspected|unclear that",
    "in case",
    "nothing|nobody suggests|shows|says|indicates|proves|claims|said that",
    "decides|decide|determines|determine|asks|ask|tests|test|checks|check|says|say if|whether|which",
)
NO_VERDICT = Phrases.from_lines(
    f"{_IS} [{_ADVERBS}] covered by|with|in",
    f"{_IS} [not|no|a|an|the] [a|an] legal|medical|true|false advice|term|terms|matter|matters|document|documents|"
    "entity|question|questions|fiction|system|systems|story|name|representation|friend",
)
"""What sounds like a verdict and says what kind of thing it is."""
COPULAS = word_set("is are was were am remains remain")
FURTHER = word_set("and but yet or")
"""What a second verdict follows."""
BEHIND = word_set("to for in under by on at as with from when if because and or")
"""What follows a verdict that no noun follows."""
PARTLY = word_set("some few hardly")
WHEN = word_set("when if unless only where")
"""What follows a verdict in a definition: "a tumour is malignant when ..."."""
ORDERS = word_set("""
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
NOUNS = word_set("""
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
FINITE = word_set("""
    is are was were has have had can may might could will would does do did 's been remains remain becomes become
    means mean shows comes come takes makes gets goes gives leads helps needs matters matter differs differ varies
    vary depends depend costs begins ends starts improves affects causes reduces raises rises falls grows contains
    includes consists requires let reads
""")
"""Verbs that make a subject of what stands before them."""
BEFORE = (
    LEADING_LINKS
    | word_set("always next finally firstly second secondly lastly otherwise if necessary well ok yes and or also")
) - {"if"}
PLACES = word_set("""
    amid among around behind below beneath beside besides beyond despite except inside including like minus
    notwithstanding outside past plus regarding throughout till toward towards underneath unlike upon versus within
    concerning half double known given taken seen left built once today yesterday tomorrow monday tuesday wednesday
    thursday friday saturday sunday hence here there thanks whoever each some most much several two three four five
    six seven eight nine ten one zero rather quite such what why who whose i'm hello hi dear according due owing
    prior better worse best worst tell
""") - {"tell"}
NOT_ORDERS = (NOT_VERBS | PLACES) - word_set("do be let")
KNOWN = (VERBS | ORDERS) - word_set("may can will own")
FOLLOWING = (DETERMINERS - {"that"}) | word_set(
    "one yourself plenty more less enough out up off down away back with at to from until"
)
"""What follows an order, and not a noun."""
VERBS_IN_LY = word_set("apply supply reply rely comply multiply fly imply")
STATES = word_set("""
    cross cost last transmit grow live exist work fly sell run rank appear seem tend belong contain consist include
    require know take weigh form occur happen fall rise accompany carry produce follow become remain tell use want
    provide receive keep lead help depend turn stand lie stay serve describe reach pass hold bring allow enable
    prefer like study meet
""")
"""Verbs by which many are said to do something: "cover letters accompany applications"."""
GERUNDS = word_set("stop start begin quit keep try avoid continue consider")
"""Verbs that are orders before a verb in -ing."""
ADVERBIAL = word_set("""
    "twice again carefully hands any when if before after two three four five six eight ten here there now
    immediately" put calm away still home together apart indoors outside inside
""")
"""What follows those of ``ORDERS`` that are nouns as well."""
INTRODUCES = (
    SUBORDINATE
    | PLACES
    | LEADING_LINKS
    | word_set("""
    to first second third next then finally lastly otherwise once should were in on at by from into over under about
    between across during against via near off up down after before with without
""")
) - word_set("each some most much two three four five six seven eight nine ten one zero who whose")
"""What a clause begins with that leads up to an order."""
TELLS = Phrases.from_lines(
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
PLAINLY = Phrases.from_lines(
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
DUTIES = Phrases.from_lines(
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
    f"{_PERSONS} {_PRESENT} [not] to " + "|".join(sorted(KNOWN | word_set("be"))),
)
REQUIRED_LAST = word_set("required advised mandatory compulsory obligatory advisable prohibited forbidden banned urged")
"""What states a duty at the end of a clause: "evacuation is advised"."""
MODALS = word_set("must should shall ought")
NEEDS = word_set("need needs")
HAVES = word_set("have has")
ARTICLES = word_set("the a an no any this their our its his her your of in every")
SOFTENS = word_set("may might could")
ASKS = word_set("whether how what why")
"""What makes a question of a duty."""
WHO_ASKS = word_set("of on about over decide decides ask asks wonder know question and")
"""What "who" makes a question after; after anybody else it is whose duty it is."""
_ONE = word_set("""
    label leaflet manual guide guideline documentation document report study survey paper article author researcher
    scientist expert doctor physician pharmacist pathologist toxicologist regulator agency authority ministry
    government court judge statute law by-law bylaw directive regulation standard contract terms notice record
    register registry file chart note letter memo minutes statement brochure prospectus catalogue catalog datasheet
    specification sheet vendor maker manufacturer company bank lender insurer airline school university institute
    council city police union landlord tenant applicant witness coroner inspector auditor encyclopedia encyclopaedia
    dictionary textbook review literature bulletin press newspaper website page entry database dataset census
    archive chronicle diary obituary curriculum invoice certificate code rule policy handbook insert booklet trial
    sign research scholar historian economist engineer surveyor analyst mayor minister spokesman spokeswoman
    spokesperson board committee commission panel journal magazine blog post interview transcript testimony map poll
    questionnaire plaintiff defendant claimant customer user patient parent teacher officer department office bureau
    association society foundation charity forecast filing ledger log programme brief constitution treaty charter
    warrant vet veterinarian nurse dentist surgeon therapist chemist biologist geologist physicist tribunal
    arbitrator ombudsman seller buyer listing neighbour neighbor lease guidance advert advertisement email message
    al wikipedia supplier timetable schedule operator appraiser gazette tariff preface footnote caption subtitle
    agenda syllabu glossary almanac atlas yearbook whitepaper preprint abstract thesis dissertation biography memoir
    petition affidavit deposition complaint indictment verdict opinion ruling ordinance decree resolution communique
    announcement advertiser flyer poster newsletter column editorial critic reviewer commentator biographer
    translator editor publisher reporter correspondent official embassy hospital clinic laboratory federation
    consortium carrier retailer shop dealer broker adviser advisor consultant contractor architect builder plumber
    electrician mechanic coach trainer owner manager director founder staff employee worker resident pilot captain
    crew passenger driver pupil student child mother father brother sister colleague friend instructions receipt
    ticket prescription diagnosis scan inspection audit assay appraisal quote order warranty guarantee licence
    license permit visa passport advisory recall alert warning wiki forum thread comment tweet podcast documentary
    film broadcast deed form sketch drawing photo blueprint timesheet manifest passbook bookkeeper secretary
    accountant lawyer librarian curator guard midwife farmer fisherman sailor soldier priest bishop envoy senator
    governor president prime-minister heir trustee guardian executor notary clerk cashier waiter cook baker butcher
    tailor painter poet novelist playwright composer conductor singer actor actress producer playbill script
    libretto lyrics inscription plaque gravestone monument slogan motto proverb saying legend myth fable gospel
    scripture bible quran torah service
""")
SOURCES = (
    _ONE
    | {f"{each}s" for each in _ONE}
    | {f"{each[:-1]}ies" for each in _ONE if each.endswith("y")}
    | {f"{each}es" for each in _ONE if each.endswith(("s", "sh", "ch", "x"))}
    | {f"{each[:-2]}en" for each in _ONE if each.endswith("man")}
)
"""Persons, bodies and texts that are quoted, one or many."""
ROLES = ("ist", "ists", "ian", "ians", "eer", "eers", "woman", "women")
"""How the name of whoever has a trade ends."""
QUOTED = word_set("""
    foreman foremen chairman chairmen chairwoman headmaster headmasters headmistress grower growers keeper keepers
    villager villagers islander islanders local locals hunter hunters miner miners trader traders merchant merchants
    traveller travellers traveler travelers veteran veterans survivor survivors bystander bystanders onlooker onlookers
    prisoner prisoners warden wardens ranger rangers gardener gardeners breeder breeders vicar vicars rabbi rabbis imam
    imams monk monks duke king queen ambassador ambassadors diplomat diplomats delegate delegates inventor inventors
    designer designers programmer programmers developer developers tester testers maintainer maintainers investigator
    investigators detective detectives prosecutor prosecutors barrister barristers solicitor solicitors magistrate
    magistrates juror jurors jury counsel sheriff paramedic paramedics philosopher philosophers thinker thinkers
    astronomer astronomers chronicler chroniclers pundit pundits blogger bloggers narrator narrators principal
    professor professors lecturer lecturers tutor tutors instructor instructors grandmother grandfather aunt uncle
    cousin cousins wife husband widow daughter son host hosts speaker speakers adviser winemaker winemakers rolls
    papers books accounts inventory roster rota dossier dossiers annals menu recipe recipes cookbook signpost
    noticeboard ballad ballads epic saga sagas psalm psalms verse hymn tablet tablets rulebook statutes logbook
    patent patents appendix volume edition manuscript scroll scrolls parchment calendar bill amendment motion circular
    dispatch telegram cable index headline headlines banner placard tag wrapper packet slide slides chapter chapters
    shepherd shepherds blacksmith carpenter joiner watchmaker locksmith porter caretaker housekeeper landlady
""")
"""Who is a source where a sentence frames what is said as theirs, and elsewhere somebody of whom it tells."""
AGENTS = ("er", "ers", "or", "ors", "ant", "ants", "ee", "ees", "eur", "eurs", "folk")
"""How the name of whoever does something ends, and that of some things too."""
BODIES = word_set("""
    club clubs team teams band orchestra choir church churches brewery breweries bakery bakeries factory factories mill
    firm firms business businesses startup store stores supermarket hotel hotels restaurant restaurants theatre theater
    museum museums gallery galleries zoo farm farms parish diocese congregation tribe tribes clan family families
    household households village villages town towns county counties district borough province state states nation
    nations parliament congress senate cabinet consulate army navy treasury fund funds network studio syndicate guild
    league alliance coalition party parties campaign movement lobby chamber academy college colleges faculty lab labs
    observatory group groups cooperative co-op commune utility railway authorities agent agents client clients
    respondent respondents superintendent boss bosses crowd public bride groom widow orphan cousin twin twins
""")
"""Bodies and persons that speak, where they are the subject of a verb of saying."""
OWN = word_set("""
    i we it us me that this there model models assistant system systems bot ai analysis analyses assessment
    assessments narrative answer summary evidence fact facts truth experience sense logic reason results result
    findings finding everyone everybody nobody anybody all many some others people they he she one these those
    history intuition calculation calculations view opinion conclusion above below what thing things rumour rumours
    word both most few none someone anyone idea question problem nothing something everything anything
""")
"""Whoever is no source: the speaker, nobody in particular, and what speaks for itself."""
BACK = word_set("it he she they")
"""What may stand for a source that was named before."""
FIGURES = word_set("data figures statistics numbers results findings estimates service services")
"""What is a source when it is said whose it is."""
BARE = word_set("the these those our all test tests lab laboratory overall scan such my your")
"""What does not say whose it is."""
NO_SUBJECT = word_set("""
    within into onto over under between against during through about after before
    a an the of in on at by for from to with without and or but as than if is are was were be been being am not no
    may might can could will would shall should must had which's very more most less this's each every any his her
    its their our my your these those when because
""")
"""What stands before a verb that is none here."""
BE = word_set("is are was were be been being")
GOES_ON = word_set("of are were is was from in on at for and or to which have has had can may will but with by")
"""What follows a noun that looks like a verb."""
MINE = Phrases.from_lines(
    "us|me|myself|ourselves|nobody|everybody|everyone|logic|experience|reason|plan|this|it|what|rumour|rumours",
    "common sense",
    "our|my [own] analysis|assessment|model|models|view|opinion|calculation|calculations|system|judgement|judgment|"
    "estimate|estimates|understanding|knowledge|conclusion|findings",
    "this|the assistant|model|system|analysis|narrative|summary|bot|answer|service",
    "the evidence|facts|truth",
)
ACCORDING = Phrases.from_lines(
    "according to",
    "per the|its|their|his|her|section|article",
    "in the words|view|opinion|account|judgement|judgment|estimate|reading|terms of",
    "as .. stated|described|reported|noted|indicated|documented|defined|listed|shown|mentioned|explained|recorded|"
    "required in|by|on",
    "is|are|was|were [also|often|further|widely] described|reported|quoted|cited|said|listed|stated|defined|noted|"
    "mentioned|recommended|considered|regarded|classified .. .. by",
    "is|are|was|were [also|often|further] described|reported|quoted|cited|listed|stated|defined|noted|mentioned|"
    "recorded|documented in|on",
    "from .. point of view",
    "from .. perspective",
    "'s [own] view|opinion|words|account|perspective|estimate|reading|judgement|judgment|point|telling",
    "of the opinion|view that",
    "under the terms|rules|provisions|wording of",
    "attributed to",
    "quoting",
    "citing",
)
NOT_THERE = word_set("above below here previously earlier before")
NO_CLAIM = Phrases.from_lines(
    "i|we|it [also] can|could|am|are|is|do|does|did not [yet|be|able|possible|to|been] "
    "verify|confirm|say|tell|answer|give|provide|recommend|know|advise|judge|assess|find|verified|confirmed|"
    "established|determined|known|possible|able",
    "this|the [text|summary|overview|narrative|information|answer] is|does not [a|an|meant|legal|medical|financial] "
    "advice|substitute|recommendation|replace|advise|diagnosis|decision",
    "no source|sources|documentation|information|statement .. is|was|were|are|could|can .. available|found|given|named",
    "here is|are what|an|a|the",
    "see also|section|chapter|page|the",
)


def _forms(verbs: str) -> frozenset[str]:
    """Return the forms of some regular verbs: what one says, what many say, what was said."""
    return frozenset(form for verb in verbs.split() for form in _inflected(verb))


def _inflected(verb: str) -> Iterator[str]:
    stem, third, past = verb, "s", "ed"
    if verb.endswith("e"):
        past = "d"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        stem, third, past = verb[:-1], "ies", "ied"
    elif verb.endswith(("s", "sh", "ch", "x")):
        third = "es"
    yield from (verb, f"{stem}{third}", f"{stem}{past}")


SAYS = _forms("""
    say state indicate describe suggest recommend advise argue explain mention specify define assert conclude warn
    report note claim announce allege acknowledge emphasise emphasize stress believe predict propose insist deny
    quote cite caution estimate remark contend testify recount posit hypothesise hypothesize speculate opine comment
    reply declare promise recall complain outline discuss characterise characterize portray depict summarise
    summarize reiterate counter object reason concede confess contest underline highlight imply list name stipulate
    suspect
""") | word_set("said wrote write writes tell tells told submits submitted refers referred refer reads")
"""Verbs whose subject speaks, whatever it is."""
SPEAKS = _forms("""
    show add maintain observe identify require provide confirm reveal classify rate call agree prescribe demonstrate
    consider regard ask mark attribute mandate permit prohibit exclude include date trace rank treat distinguish
    compare ascribe credit blame praise criticise criticize dismiss reject assume expect project forecast calculate
    value assign dub term deem judge rule order instruct direct oblige entitle grant spell point cover contrast
    question doubt advocate favour favor paint present contain count suspect guess hope fear admit forbid teach hold
    set put give class measure locate place link connect demand urge invite allow omit bar ban attest aver avow
    assure remember recollect forecast speak talk swear vouch
""") | word_set("spoke swore gave taught held forbade admitted permitted omitted think thinks thought overruled")
"""Verbs whose subject speaks where it is a source, or what it says follows with "that"."""
SPEAKS_OF = frozenset(
    (verb, after)
    for verbs, words in (
        ("speak speaks spoke talk talks talked", "of about"),
        ("ask asks asked call calls called", "for"),
        ("vouch vouches vouched", "for"),
        ("swear swears swore", "to by"),
    )
    for verb in verbs.split()
    for after in words.split()
)
"""What such a verb goes on with, and says something all the same."""
INFERS = _forms("suggest indicate imply predict underline highlight reason argue counter conclude") | word_set(
    "tell tells told"
)
"""Those of ``SAYS`` that are said of symptoms and trends as well: here somebody has to be known to speak."""
RECORDS = _forms("record document detail") | word_set("find finds found")
"""Verbs that say something only with "that": else they are what is done, or what is kept."""
NOUNS_TOO = _forms("state report note claim list name estimate comment object reason promise quote counter state")
"""Those of ``SAYS`` that are nouns as well."""
