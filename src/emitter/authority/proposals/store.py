"""Keep proposals in a store, by hash and by URI, and serve their exact bytes.

The host decides who may fetch a proposal. An agent may not (section 11.1).

Source: draft-hardt-aauth-r3-02, sections 7.2 and 10.2.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from emitter.authority.proposals.proposal import Proposal, read_proposal
from emitter.errors import InputError, Tampered
from emitter.stores import Entry, NewEntry
from emitter.stores.protocol import require_known

if TYPE_CHECKING:
    from emitter.stores import Store

PROPOSAL_RUN_ID: Final = "emitter.proposals"
"""The store run that holds proposals."""
_DOCUMENT_TYPE: Final = "emitter.proposal"
_URI_TYPE: Final = "emitter.proposal.uri"


def new_proposal_uri(prefix: str = "urn:uuid:") -> str:
    """Return an unguessable ``r3_uri``: ``prefix``, such as ``https://api.example/r3/``, and a random id.

    Raises:
        InputError: The prefix does not end in a slash, a colon or an equals sign.
    """
    if not prefix.endswith(("/", ":", "=")) or ":" not in prefix:
        raise InputError("prefix must be the beginning of a URI, ending in a slash, a colon or an equals sign.")
    return f"{prefix}{uuid.uuid4()}"


class ProposalStore:
    """Keeps proposals in a store, with the store's guarantees for threads and processes."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, proposal: Proposal) -> Proposal:
        """Store a proposal and return it. It may be stored again under other URIs.

        Raises:
            InputError: Its URI belongs to another document.
            Tampered: The stored document was changed.
            StoreFailed: The store failed.
        """
        outcome = {"s256": proposal.s256, "uri": proposal.uri}
        new = NewEntry(Entry(_DOCUMENT_TYPE, outcome, {"document": proposal.document.decode()}))
        stored = self._store.get_or_create(PROPOSAL_RUN_ID, _hash_key(proposal.s256), lambda: new)
        if not stored.created:
            _read_entry(stored.entry, proposal.s256)
        if proposal.uri:
            self._register_uri(proposal)
        return proposal

    def get(self, s256: str) -> Proposal | None:
        """Return the proposal with a hash as first stored, or None.

        Raises:
            Tampered: The stored document was changed.
            StoreFailed: The store failed.
        """
        entry = self._store.find(PROPOSAL_RUN_ID, _hash_key(s256))
        return None if entry is None else _read_entry(entry, s256)

    def serve(self, s256_or_uri: str) -> bytes | None:
        """Return the stored bytes to serve for a URI or hash, or None.

        Raises:
            Tampered: The stored document was changed.
            StoreFailed: The store failed.
        """
        address = self._store.find(PROPOSAL_RUN_ID, _uri_key(s256_or_uri))
        proposal = self.get(s256_or_uri if address is None else _read_uri_entry(address, s256_or_uri))
        return None if proposal is None else proposal.document

    def _register_uri(self, proposal: Proposal) -> None:
        new = NewEntry(Entry(_URI_TYPE, {"s256": proposal.s256}, {}))
        entry = self._store.get_or_create(PROPOSAL_RUN_ID, _uri_key(proposal.uri), lambda: new).entry
        if _read_uri_entry(entry, proposal.uri) != proposal.s256:
            raise InputError(
                "Another proposal has this URI.", hint="Give each proposal its own: see new_proposal_uri()."
            )


def _hash_key(s256: str) -> str:
    return f"s256:{s256}"


def _uri_key(uri: str) -> str:
    return f"uri:{uri}"


def _read_entry(entry: Entry, s256: str) -> Proposal:
    require_known(entry, "The proposal of a call")
    document, uri = entry.envelope.get("document"), entry.outcome.get("uri")
    if entry.type != _DOCUMENT_TYPE or not isinstance(document, str) or not isinstance(uri, str):
        raise _store_tampered(s256)
    try:
        return read_proposal(document.encode("utf-8", "surrogatepass"), s256, uri=uri)
    except (InputError, Tampered):
        raise _store_tampered(s256) from None


def _read_uri_entry(entry: Entry, uri: str) -> str:
    s256 = entry.outcome.get("s256")
    if entry.type != _URI_TYPE or not isinstance(s256, str):
        raise _store_tampered(uri)
    return s256


def _store_tampered(place: str) -> Tampered:
    return Tampered(
        "A proposal in the store was changed.",
        place=place,
        hint="Do not serve or approve it, and find out who changed the store.",
    )
