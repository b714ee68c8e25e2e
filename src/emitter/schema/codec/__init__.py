"""The way there and back, one codec for each form: what stands on the wire, and what it means.

``encode`` raises ``Unencodable`` for what has no place in the form, ``decode`` never raises and returns what
it does not understand as it is, for the local check to judge. What it must not guess at (JSON text that is cut or
names a property twice, entries that contradict each other) it returns as ``Unread``, which the check refuses.
``admits`` tells whether a document could be of this form.
"""

from emitter.schema.codec.base import Codec as Codec
from emitter.schema.codec.base import Late as Late
from emitter.schema.codec.base import Unread as Unread
from emitter.schema.codec.choices import Among as Among
from emitter.schema.codec.choices import Tagged as Tagged
from emitter.schema.codec.choices import Wrapped as Wrapped
from emitter.schema.codec.leaves import Free as Free
from emitter.schema.codec.leaves import Plain as Plain
from emitter.schema.codec.leaves import Text as Text
from emitter.schema.codec.lists import Array as Array
from emitter.schema.codec.lists import Slots as Slots
from emitter.schema.codec.objects import Beside as Beside
from emitter.schema.codec.objects import Entries as Entries
from emitter.schema.codec.objects import Extras as Extras
from emitter.schema.codec.objects import Member as Member
from emitter.schema.codec.objects import Object as Object
