"""A per-call proposal: the one call that a person is asked about, as a document that is known by its hash.

Source: draft-hardt-aauth-r3-02, sections 7 and 10. Its bytes are written once, and never again: they are hashed, stored
and served as they are. Whoever serves them lets no agent fetch them (section 11.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.authority.proposal.detail import Call, detail_of, summary_of
from emitter.authority.proposal.digests import Digested, r3_s256, same
from emitter.authority.proposal.display import Display
from emitter.authority.proposal.document import checked, content_of, written
from emitter.authority.proposal.parameters import bound, plain, valid
from emitter.authority.proposal.vocabulary import VOCABULARY_MCP, operation_of
from emitter.errors import InputError, Tampered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.wire import Json

LONGEST_INLINE: Final = 1_024
"""Characters up to which a text stands in a proposal whole, where nothing else is asked for."""

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2000}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document as it is served, its ``r3_s256``, and its ``r3_uri``, empty where it has none yet.

    There is none that does not hold: raises ``Tampered`` for bytes of another hash, and ``InputError`` for what is no
    proposal. Each view is read from the bytes anew, so that nobody changes what was approved.
    """

    document: bytes = field(repr=False)
    s256: str
    uri: str = ""

    def __post_init__(self) -> None:
        _check(self.document, self.s256, self.uri)

    @property
    def vocabulary(self) -> str:
        """The URI of the vocabulary."""
        return str(content_of(self.document)["vocabulary"])

    @property
    def operation(self) -> Mapping[str, Json]:
        """The one operation, as its vocabulary spells it."""
        (operation,) = content_of(self.document)["operations"]
        return dict(operation)

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The parameters as they stand in the document: an object in a value that has ``s256`` is a digest object."""
        return dict(content_of(self.document)["parameters"])

    @property
    def account(self) -> str | None:
        """The account at the resource, if the request named one."""
        return content_of(self.document).get("account")

    @property
    def display(self) -> Display | None:
        """What a person is shown, if the document has it."""
        return Display.of_json(content_of(self.document).get("display"))


def propose(  # noqa: PLR0913  all but the first two have defaults
    operation: Mapping[str, Json] | str,
    parameters: dict[str, Json],
    *,
    vocabulary: str = VOCABULARY_MCP,
    account: str | None = None,
    display: Display | None = None,
    digested: Iterable[str | Digested] = (),
    longest: int = LONGEST_INLINE,
    uri: str = "",
) -> Proposal:
    """Return the proposal of a call; raises ``InputError`` for what has no place in one.

    ``operation`` is spelled as the vocabulary has it; a text is short for the member that names it. A value may be
    bytes. ``digested`` are parameters to keep back: names, JSON pointers, or a ``Digested`` with more to say; one
    that the call does not have is none. A text of more than ``longest`` characters stands as a digest with an excerpt,
    and so does a list or an object of which more than sixteen times as much would stand.

    Without a ``display``, or without its ``detail``, that is made from the call: it shows each parameter that is not
    kept back, as text. ``uri`` is the ``r3_uri``; see ``fresh_uri``.
    """
    call = Call(
        operation=operation_of(operation, vocabulary),
        vocabulary=vocabulary,
        parameters=bound(valid(parameters), digested, longest),
        account=account,
    )
    content = checked(_content(call))
    document = written({**content, "display": _display(call, display)})
    return Proposal(document, r3_s256(document), uri)


def read_proposal(document: bytes, s256: str, *, uri: str = "") -> Proposal:
    """Return the proposal that bytes hold.

    Raises ``Tampered`` where the hash is that of other bytes, and ``InputError`` for what is no proposal.
    """
    return Proposal(document, s256, uri)


def _content(call: Call) -> dict[str, Json]:
    return {
        "vocabulary": call.vocabulary,
        "operations": [call.operation],
        **({} if call.account is None else {"account": call.account}),
        "parameters": plain(call.parameters),
    }


def _display(call: Call, display: Display | None) -> dict[str, Json]:
    given = Display(summary_of(call)) if display is None else display
    shown = given.to_json()
    return shown if given.detail is not None else {**shown, "detail": detail_of(call, shown.get("irreversible"))}


def _check(document: object, s256: object, uri: object) -> None:
    if not isinstance(document, bytes) or not isinstance(s256, str) or not isinstance(uri, str):
        raise InputError("A proposal is bytes, their hash as a text, and a URI or an empty text.")
    if uri and not _URI.fullmatch(uri):
        raise InputError("The URI of a proposal is an absolute one, in ASCII.", hint="See fresh_uri.")
    if not same(r3_s256(document), s256):
        raise Tampered("The document is not the one that this hash was taken of.", place=uri or "the document")
    content_of(document)
