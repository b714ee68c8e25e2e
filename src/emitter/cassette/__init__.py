"""Cassettes: HTTP recorded and replayed at the seam where the vendors' SDKs send.

Both transports are ``httpx2``'s, sync and async in one, so a replay runs the SDK, the adapters and the
emission exactly as a live call does. Streams are kept as the text of their events.

Replay is strict: a request that the cassette does not hold raises ``UnexpectedRequest`` with a readable
difference. Of headers and query parameters only a short list of harmless ones is kept. All others count as
credentials: their values are struck from both bodies, in each of their usual encodings, before anything is
written.
"""

from emitter.cassette.file import Cassette as Cassette
from emitter.cassette.file import Interaction as Interaction
from emitter.cassette.file import Provenance as Provenance
from emitter.cassette.file import load as load
from emitter.cassette.file import parse as parse
from emitter.cassette.file import save as save
from emitter.cassette.secrets import STRUCK as STRUCK
from emitter.cassette.transport import Record as Record
from emitter.cassette.transport import Replay as Replay
from emitter.cassette.transport import http_client as http_client
