"""What a clause that states a position begins with: the verbs of decisions, in the imperative.

The list settles nothing by itself: it only tells that one clause commits although another names something open.
"""

from __future__ import annotations

from emitter.decide.lint.phrases import lexicon

VERBS = lexicon("""
    abandon abort accept acknowledge acquire act activate add adjourn adjust admit adopt advance advertise advise
    agree align allocate allow amend announce answer apologise apologize appeal append apply appoint approve archive
    arrange ask assign attach attend audit authorise authorize automate avoid award back ban begin bill bind block
    book borrow bring build buy call cancel cap capture carry carve cease change charge check choose clean clear
    close collect combine commission commit compensate complete concede conduct confirm connect contact continue
    convert copy correct cover create cull cut deactivate debit decline decommission deduct defer delay delegate
    delete delist deliver demand deny deploy deposit destroy dial dig direct disable discard disclose discharge
    discontinue disconnect dismiss dispatch display dispose dispute distribute divert divide do donate double
    downgrade draft drain draw drive drop duplicate earmark edit eliminate email employ enable encrypt end enforce
    engage enrol enroll enter escalate escrow establish evacuate evict exclude execute exercise exit expand expel
    expire export extend extract fail fall fell file fill finance finish fine fire fit fix flag fly forbid forgive
    forward found free freeze fund gate gather get give go grant grow halt hand have hedge hide hire hold honour
    honor host ignore implement import impose improve include increase inform insert inspect install instruct insure
    integrate interview introduce invest invite invoice isolate issue join keep kill launch lay lead lease leave
    lend let levy license lift limit liquidate list litigate load lock log lower mail maintain make manage mandate
    mark match measure meet merge migrate mirror mitigate mothball mount move name notify offer omit onboard open
    operate opt order outsource override overrule pack park pass patch pause pay permit phase pick pilot pin place
    plan plant pledge point post postpone prepare prescribe present press print proceed process procure produce
    prohibit promote protect prove provide provision prune publish pull purchase purge push put quarantine quit
    quote raise ramp rate reactivate read reallocate reassign rebase rebook rebuild recall receive recommend record
    recruit redact redeploy redirect reduce refer refinance refuse refund register reinstate reissue reject relaunch
    release relocate remain remove rename renew renovate rent reopen reorder repair repay repeal replace replant
    reply report repost represent reprice reprint request require reschedule rescind reserve reset resign resolve
    respond restart restore restrict restructure resume retain retire retitle retract return reuse revert revise
    revoke reward rewrite ring roll rotate route run sack sail save scale schedule scrap seal secure seed seek
    select sell send separate serve set settle share shelve ship shorten shrink shut sign simplify skip slow sow
    spend spin split sponsor stage standardise standardize start state stay stick stop store strike submit subscribe
    substitute sue supply support surrender suspend swap switch take target tax teach tear tell tender terminate
    test thank tie tighten top track trade train transfer transition travel treat trial trigger trim triple triage
    turn unblock uninstall unlock unpublish unsubscribe update upgrade uphold upload use vacate vaccinate validate
    anonymise anonymize bake boil brush cook cool cross debug downsize dry heat immunise immunize inject mow paint
    phone polish rehire repaint resurface retrain reword rezone ride rinse stitch strengthen sublet sweep tow unload
    unpack vary veto visit void vote wait waive walk warn wash weaken wear wind wipe wire withdraw withhold wrap write
    yield
""")

UNSETTLED = lexicon("""
    analyse analyze assess be consider debate decide deliberate determine discuss evaluate explore feel figure hear
    investigate know learn look ponder rather reconsider reflect remember revisit see study think understand weigh
""")
"""Verbs that leave the decision where it was."""

UNSETTLED_RULES = UNSETTLED | lexicon("choose pick review wait consult gather ask examine meet want vary depend hinge")
"""Those that leave it there when it is said of somebody that they should."""

MODALS = lexicon("should must shall will ought need needs")
SUBORDINATE = lexicon(
    "because since although though unless whereas while which who whose where as if when once given provided despite "
    "until after before with without whatever wherever whenever however whichever for"
)
"""The words a clause begins with that supports another, or limits it."""

CUTS = lexicon("because since although though unless whereas while which who whose where")
"""Those that begin such a clause without a comma."""

LEADS = lexicon(
    "so and but then therefore thus hence still yet instead please accordingly also now just simply kindly "
    "therefore consequently nonetheless nevertheless today tonight tomorrow immediately first "
    "honestly overall ultimately personally currently generally frankly really"
)
"""What may stand before an imperative."""

DETERMINERS = lexicon(
    "the a an it them this that these those our your his her its their all both every each no him us me any"
)

NOT_VERBS = (
    SUBORDINATE
    | LEADS
    | DETERMINERS
    | lexicon("""
    or is are was were am be been do does did has have had can could may might must shall should will would not i
    you he she we they who whom what why how whether either neither nor than that there here of in on at by to from
    into onto over under about between among across through during within against per via like near off out up down
    again further too very more most less least even only also ever never perhaps maybe possibly probably likely
    such same other another some many several few much enough half quite rather almost
""")
)
"""Words that no imperative is, so that a determiner after any other word makes that word one."""
