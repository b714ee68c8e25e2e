"""Who may be a source of what is said, in English: the words of the attributive mode."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases, lexicon

_ONE = lexicon("""
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

QUOTED = lexicon("""
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

BODIES = lexicon("""
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

OWN = lexicon("""
    i we it us me that this there model models assistant system systems bot ai analysis analyses assessment
    assessments narrative answer summary evidence fact facts truth experience sense logic reason results result
    findings finding everyone everybody nobody anybody all many some others people they he she one these those
    history intuition calculation calculations view opinion conclusion above below what thing things rumour rumours
    word both most few none someone anyone idea question problem nothing something everything anything
""")
"""Whoever is no source: the speaker, nobody in particular, and what speaks for itself."""

BACK = lexicon("it he she they")
"""What may stand for a source that was named before."""

FIGURES = lexicon("data figures statistics numbers results findings estimates service services")
"""What is a source when it is said whose it is."""

BARE = lexicon("the these those our all test tests lab laboratory overall scan such my your")
"""What does not say whose it is."""

NO_SUBJECT = lexicon("""
    within into onto over under between against during through about after before
    a an the of in on at by for from to with without and or but as than if is are was were be been being am not no
    may might can could will would shall should must had which's very more most less this's each every any his her
    its their our my your these those when because
""")
"""What stands before a verb that is none here."""

BE = lexicon("is are was were be been being")
GOES_ON = lexicon("of are were is was from in on at for and or to which have has had can may will but with by")
"""What follows a noun that looks like a verb."""

MINE = Phrases.of(
    "us|me|myself|ourselves|nobody|everybody|everyone|logic|experience|reason|plan|this|it|what|rumour|rumours",
    "common sense",
    "our|my [own] analysis|assessment|model|models|view|opinion|calculation|calculations|system|judgement|judgment|"
    "estimate|estimates|understanding|knowledge|conclusion|findings",
    "this|the assistant|model|system|analysis|narrative|summary|bot|answer|service",
    "the evidence|facts|truth",
)
ACCORDING = Phrases.of(
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
NOT_THERE = lexicon("above below here previously earlier before")
NO_CLAIM = Phrases.of(
    "i|we|it [also] can|could|am|are|is|do|does|did not [yet|be|able|possible|to|been] "
    "verify|confirm|say|tell|answer|give|provide|recommend|know|advise|judge|assess|find|verified|confirmed|"
    "established|determined|known|possible|able",
    "this|the [text|summary|overview|narrative|information|answer] is|does not [a|an|meant|legal|medical|financial] "
    "advice|substitute|recommendation|replace|advise|diagnosis|decision",
    "no source|sources|documentation|information|statement .. is|was|were|are|could|can .. available|found|given|named",
    "here is|are what|an|a|the",
    "see also|section|chapter|page|the",
)
