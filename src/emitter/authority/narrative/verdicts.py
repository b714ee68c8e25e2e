"""The words of a verdict, in English: what something is pronounced to be."""

from __future__ import annotations

from emitter.decide.lint.phrases import Phrases, lexicon

VERDICTS = lexicon("""
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
PERMITTED = lexicon("prohibited forbidden banned permitted allowed restricted")
"""What is a verdict before its noun only: of a predicate it is a rule for somebody to keep."""

OFFENCES = lexicon("""
    scam fraud forgery fake hoax breach violation crime offence offense carcinogen poison toxin felony misdemeanor
    misdemeanour counterfeit infringement fraudster criminal liar impostor narcotic toxicant match mismatch lie
    forgeries scams frauds crimes offences poisons carcinogens
""")
"""Nouns that are verdicts."""

ILLNESSES = lexicon("""
    diabetes cancer melanoma leukaemia leukemia lymphoma pneumonia tuberculosis asthma hypertension depression
    schizophrenia dementia alzheimer's epilepsy anaemia anemia sepsis meningitis hepatitis influenza flu covid
    covid-19 malaria measles mumps cholera arthritis gout osteoporosis migraine stroke angina bronchitis copd eczema
    psoriasis appendicitis cirrhosis hiv aids autism adhd ptsd anorexia bulimia carcinoma sarcoma tumour tumor
    infection thrombosis embolism arrhythmia gonorrhoea syphilis chlamydia lupus celiac coeliac glaucoma cataract
    cataracts concussion scabies shingles chickenpox rabies tetanus gastritis colitis endometriosis hypothyroidism
    hyperthyroidism hypoglycaemia hypoglycemia obesity
""")
TESTED = lexicon("positive negative normal abnormal elevated")
"""What is a verdict on a test, or on whoever was tested."""

TESTS = lexicon("test tests result results sample samples screen screening culture swab biopsy scan patient he she you")
SUBJECTS = lexicon("you he she patient child man woman applicant client claimant driver subject customer i")

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

FOUND = Phrases.of(
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
TESTED_AS = Phrases.of(f"{_IS} [{_ADVERBS}] [{_ADVERBS}] {'|'.join(sorted(TESTED))}")
ILL = Phrases.of(
    f"has|have [{_ADVERBS}] [a|an|the] [severe|mild|acute|chronic|early|type|stage] [1|2|one|two|bacterial|viral] "
    f"{_ILLNESS}",
    f"suffers|suffered from [a|an|the] [severe|mild|acute|chronic|early] {_ILLNESS}",
    f"is|was|are|were suffering from [a|an|the] [severe|mild|acute|chronic|early] {_ILLNESS}",
)
ALONE = Phrases.of(
    f"[{_ADVERBS}] [{_ADVERBS}] {_VERDICT}|{_PERMITTED}|{_NOUN}|{_ILLNESS} [to|for|by] [use|eat|drink|all]"
)
"""A verdict without a verb: "Status: approved." """

HARD_S = lexicon("to for and or in under when because on by but")
"""What follows a verdict that "'s" was the verb of."""

OPENS = lexicon("whether unless until lest how assuming suppose what")
CONDITIONS = lexicon("if when once where provided")
RELATIVES = lexicon("that which who")
MAYBE = lexicon("may might could can would to not should a an the in of no any")
"""What takes a bare verb out of the indicative."""

DOUBTS = Phrases.of(
    "not|never|hardly .. mean|say|imply|confirm|verify|prove|establish|guarantee|show|claim|know|determine|conclude|"
    "suggest|tell|state|indicate|decide",
    "no evidence|proof|guarantee|indication|claim|finding|sign that|of",
    "not [yet] known|clear|proven|established|certain|shown|confirmed",
    "possible|likely|unlikely|conceivable|thought|believed|plausible|suspected|unclear that",
    "in case",
    "nothing|nobody suggests|shows|says|indicates|proves|claims|said that",
    "decides|decide|determines|determine|asks|ask|tests|test|checks|check|says|say if|whether|which",
)
NO_VERDICT = Phrases.of(
    f"{_IS} [{_ADVERBS}] covered by|with|in",
    f"{_IS} [not|no|a|an|the] [a|an] legal|medical|true|false advice|term|terms|matter|matters|document|documents|"
    "entity|question|questions|fiction|system|systems|story|name|representation|friend",
)
"""What sounds like a verdict and says what kind of thing it is."""

COPULAS = lexicon("is are was were am remains remain")
FURTHER = lexicon("and but yet or")
"""What a second verdict follows."""

BEHIND = lexicon("to for in under by on at as with from when if because and or")
"""What follows a verdict that no noun follows."""

PARTLY = lexicon("some few hardly")
WHEN = lexicon("when if unless only where")
"""What follows a verdict in a definition: "a tumour is malignant when ..."."""
