"""Every exception of the library, and nothing else.

EmitterError
  InputError                what the caller handed over cannot be used
    UnknownModel            no such vendor, or not ``vendor/model``
    MissingKey              no credentials in the usual place
    MissingExtra            a vendor's SDK, or another extra, is not installed
    BadProfile              a file of ``providers/`` does not hold
    BadPrompt               a file of ``prompts/`` does not hold
    BadCassette             a cassette does not hold
    BadTraffic              a recorded exchange does not hold
    BadJournal              a journal is of another run, in use, or does not hold
    NotCanonical            a text or a value has no canonical form, and so no digest
    TooLong                 the envelope is longer than a surface can carry
    ResolutionError         an answer to a decision cannot be taken; nothing happened
      BadResolution         it is none of the three that there are
      NoSuchOption          it names an option that the envelope does not have
      HatchClosed           it uses a veto that the envelope does not offer
      WrongDigest           it answers another envelope
      UnknownDecision       nobody asked this
      AlreadyResolved       the decision was resolved otherwise before
      DecisionExpired       the decision was open for a time, which is over
      BadToken              the token is forged, spent or of another decision
  UnexpectedRequest         a replay met a request that its cassette does not know
  JournalFailed             the journal of a run could not be written
  StoreFailed               a store could not be read or written, or kept its caller waiting too long
    StoreAltered            what it keeps is not what was written into it; it is Tampered too
  Uncompilable              a schema no sound form of which the vendor takes
  Unencodable               a value that the compiled schema cannot say
  EmissionError             the emission ended without an envelope
    Refused                 the model or a filter said no
    Truncated               the answer never fitted its budget
    PromptTooLong           the prompt leaves no room for an answer in the model's window
    Invalid                 the answer never satisfied its schema
    AuthenticationError     the vendor did not accept the key, or the key may not do this (401, 403)
    BadRequest              the vendor rejected the request, and says why (400, 422)
    NotFound                the vendor has no such model or address (404)
    RateLimited             the vendor had too many requests, to the end (429)
      QuotaExhausted        the account has no credit left
    Unreachable             the network failed, or the vendor could not serve (5xx)
    LimitReached            a limit of the caller's left nothing for a further call
      TokenLimitReached     ``Policy.max_total_tokens``
      CostLimitReached      ``Policy.max_cost``
      DeadlineReached       ``Policy.deadline``; it is ``Unreachable`` too
    CheckFailed             a check or a validator of the caller's own raised
    CapabilityNotProvided   no model at hand has what the caller requires of it
  AuthorityError            an act, or a grant of authority, was refused; nothing happened
    NotConsent              no option was chosen that grants this
    UnsignedAnswer          the answer is not signed by a key that was named
    NotApproved             the principal was asked, and did not choose that it be done
    ApprovalPending         the principal was asked, and has not answered yet
    UnknownConfirm          nobody confirmed this
    ConfirmExpired          the time of the authority is over, or has not begun
    ConfirmRevoked          the authority was taken back
    NotRevocable            the authority cannot be taken back
    OutOfScope              the authority does not cover this act
    RiskExceeded            the act is riskier than what was approved
    LimitExceeded           the act would spend more than is left
    LimitUnknown            a limit that nobody here can enforce
    LimitUnstated           the act does not say how much it takes of what is limited
    WorkflowStopped         the workflow, or the step, was stopped
    OtherCall               the call is not the one that was approved
    AlreadyUsed             what may be used once was used
    Unfinished              the act was begun before, and nobody knows how it ended
  PartiallyDone             a guarded tool failed after part of its effect happened
  Tampered                  a record, a proposal or a chain of records is not what was written

UnknownModelWarning         a warning: no table knows the model, so its limits are assumed
"""

from emitter.errors.authority import AlreadyUsed as AlreadyUsed
from emitter.errors.authority import ApprovalPending as ApprovalPending
from emitter.errors.authority import AuthorityError as AuthorityError
from emitter.errors.authority import ConfirmExpired as ConfirmExpired
from emitter.errors.authority import ConfirmRevoked as ConfirmRevoked
from emitter.errors.authority import LimitExceeded as LimitExceeded
from emitter.errors.authority import LimitUnknown as LimitUnknown
from emitter.errors.authority import LimitUnstated as LimitUnstated
from emitter.errors.authority import NotApproved as NotApproved
from emitter.errors.authority import NotConsent as NotConsent
from emitter.errors.authority import NotRevocable as NotRevocable
from emitter.errors.authority import OtherCall as OtherCall
from emitter.errors.authority import OutOfScope as OutOfScope
from emitter.errors.authority import PartiallyDone as PartiallyDone
from emitter.errors.authority import RiskExceeded as RiskExceeded
from emitter.errors.authority import Unfinished as Unfinished
from emitter.errors.authority import UnknownConfirm as UnknownConfirm
from emitter.errors.authority import UnsignedAnswer as UnsignedAnswer
from emitter.errors.authority import WorkflowStopped as WorkflowStopped
from emitter.errors.base import EmitterError as EmitterError
from emitter.errors.emission import AuthenticationError as AuthenticationError
from emitter.errors.emission import BadRequest as BadRequest
from emitter.errors.emission import CapabilityNotProvided as CapabilityNotProvided
from emitter.errors.emission import CheckFailed as CheckFailed
from emitter.errors.emission import CostLimitReached as CostLimitReached
from emitter.errors.emission import DeadlineReached as DeadlineReached
from emitter.errors.emission import EmissionError as EmissionError
from emitter.errors.emission import Invalid as Invalid
from emitter.errors.emission import LimitReached as LimitReached
from emitter.errors.emission import NotFound as NotFound
from emitter.errors.emission import PromptTooLong as PromptTooLong
from emitter.errors.emission import QuotaExhausted as QuotaExhausted
from emitter.errors.emission import RateLimited as RateLimited
from emitter.errors.emission import Refused as Refused
from emitter.errors.emission import TokenLimitReached as TokenLimitReached
from emitter.errors.emission import Trace as Trace
from emitter.errors.emission import Truncated as Truncated
from emitter.errors.emission import Unreachable as Unreachable
from emitter.errors.given import BadCassette as BadCassette
from emitter.errors.given import BadJournal as BadJournal
from emitter.errors.given import BadProfile as BadProfile
from emitter.errors.given import BadPrompt as BadPrompt
from emitter.errors.given import BadTraffic as BadTraffic
from emitter.errors.given import InputError as InputError
from emitter.errors.given import MissingExtra as MissingExtra
from emitter.errors.given import MissingKey as MissingKey
from emitter.errors.given import NotCanonical as NotCanonical
from emitter.errors.given import TooLong as TooLong
from emitter.errors.given import UnknownModel as UnknownModel
from emitter.errors.given import UnknownModelWarning as UnknownModelWarning
from emitter.errors.resolution import AlreadyResolved as AlreadyResolved
from emitter.errors.resolution import BadResolution as BadResolution
from emitter.errors.resolution import BadToken as BadToken
from emitter.errors.resolution import DecisionExpired as DecisionExpired
from emitter.errors.resolution import HatchClosed as HatchClosed
from emitter.errors.resolution import NoSuchOption as NoSuchOption
from emitter.errors.resolution import ResolutionError as ResolutionError
from emitter.errors.resolution import UnknownDecision as UnknownDecision
from emitter.errors.resolution import WrongDigest as WrongDigest
from emitter.errors.running import JournalFailed as JournalFailed
from emitter.errors.running import StoreAltered as StoreAltered
from emitter.errors.running import StoreFailed as StoreFailed
from emitter.errors.running import Tampered as Tampered
from emitter.errors.running import Uncompilable as Uncompilable
from emitter.errors.running import Unencodable as Unencodable
from emitter.errors.running import UnexpectedRequest as UnexpectedRequest
