"""Where proposals are kept: their bytes, under their hash, and under each URI that they are served at.

Source: draft-hardt-aauth-r3-02, sections 7.2 ("serve those exact bytes verbatim") and 10.2 ("persists it keyed by its
r3_s256"). Who may fetch one is for the host to see to (section 11.1): an agent may not.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Final

from emitter.authority.proposal.proposal import Proposal, read_proposal
from emitter.errors import InputError, Tampered
from emitter.store import Entry, Fresh

if TYPE_CHECKING:
    from emitter.store import Store

RUN: Final = "emitter.proposals"
"""The run under which a store keeps proposals."""

_DOCUMENT: Final = "emitter.proposal"
_ADDRESS: Final = "emitter.proposal.uri"


def fresh_uri(prefix: str = "urn:uuid:") -> str:
    """Return an ``r3_uri`` that nobody can guess: ``prefix``, such as ``https://api.example/r3/``, and a random id.

    Raises ``InputError`` for a prefix that the id would run together with.
    """
    if not prefix.endswith(("/", ":", "=")) or ":" not in prefix:
        raise InputError("prefix is the beginning of a URI, up to a slash, a colon or an equals sign.")
    return f"{prefix}{uuid.uuid4()}"


class Shelf:
    """Keeps proposals in a store; for threads and processes as the store is."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, proposal: Proposal) -> Proposal:
        """Keep a proposal, and return it; it may be put again, under other URIs too.

        Raises ``InputError`` where its URI is that of other bytes, ``Tampered`` where what is kept under its hash is
        not what was put, and ``StoreFailed``.
        """
        kept = self._store.once(RUN, _by_hash(proposal.s256), partial(_document, proposal))
        _proposal(kept.entry, proposal.s256)
        if proposal.uri:
            self._address(proposal)
        return proposal

    def get(self, s256: str) -> Proposal | None:
        """Return the proposal with a hash, as it was first put; None where none was.

        Raises ``Tampered`` where what is kept is not what was put, and ``StoreFailed``.
        """
        entry = self._store.find(RUN, _by_hash(s256))
        return None if entry is None else _proposal(entry, s256)

    def serve(self, s256_or_uri: str) -> bytes | None:
        """Return the bytes to serve at a URI or for a hash, as they were put; None where there are none.

        Raises ``Tampered`` where what is kept is not what was put, and ``StoreFailed``.
        """
        address = self._store.find(RUN, _by_uri(s256_or_uri))
        found = self.get(s256_or_uri if address is None else _named(address, s256_or_uri))
        return None if found is None else found.document

    def _address(self, proposal: Proposal) -> None:
        kept = self._store.once(RUN, _by_uri(proposal.uri), partial(_address, proposal)).entry
        if _named(kept, proposal.uri) != proposal.s256:
            raise InputError(
                "Another proposal is served at this URI.", hint="Give each proposal its own: see fresh_uri."
            )


def _by_hash(s256: str) -> str:
    return f"s256:{s256}"


def _by_uri(uri: str) -> str:
    return f"uri:{uri}"


def _document(proposal: Proposal) -> Fresh:
    about = {"s256": proposal.s256, "uri": proposal.uri}
    return Fresh(Entry(_DOCUMENT, about, {"document": proposal.document.decode()}))


def _address(proposal: Proposal) -> Fresh:
    return Fresh(Entry(_ADDRESS, {"s256": proposal.s256}, {}))


def _proposal(entry: Entry, s256: str) -> Proposal:
    document, uri = entry.envelope.get("document"), entry.outcome.get("uri")
    if entry.type != _DOCUMENT or not isinstance(document, str) or not isinstance(uri, str):
        raise _tampered(s256)
    try:
        return read_proposal(document.encode("utf-8", "surrogatepass"), s256, uri=uri)
    except (InputError, Tampered):
        raise _tampered(s256) from None


def _named(entry: Entry, uri: str) -> str:
    s256 = entry.outcome.get("s256")
    if entry.type != _ADDRESS or not isinstance(s256, str):
        raise _tampered(uri)
    return s256


def _tampered(place: str) -> Tampered:
    return Tampered(
        "What the store keeps of a proposal is not what was put there.",
        place=place,
        hint="Serve and approve nothing of it, and find out who wrote into the store.",
    )
