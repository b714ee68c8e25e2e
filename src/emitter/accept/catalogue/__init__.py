"""The catalogue of kinds: what a host takes, what each payload must be, and what a host may add.

``STANDARD`` holds OpenWOP's universal four and this library's own. ``register_kind`` adds a host's own,
``STANDARD.with_kinds(*media_kinds(), A2UI_KIND)`` OpenWOP's optional ones. Values and plain functions: nothing here
reads, sends or waits.
"""

from emitter.accept.catalogue.kind import Kind as Kind
from emitter.accept.catalogue.kind import Rule as Rule
from emitter.accept.catalogue.kind import path_of as path_of
from emitter.accept.catalogue.optional import A2UI_KIND as A2UI_KIND
from emitter.accept.catalogue.optional import media_kinds as media_kinds
from emitter.accept.catalogue.register import Posture as Posture
from emitter.accept.catalogue.register import register_kind as register_kind
from emitter.accept.catalogue.standard import OWN_KINDS as OWN_KINDS
from emitter.accept.catalogue.standard import STANDARD as STANDARD
from emitter.accept.catalogue.table import Catalogue as Catalogue
from emitter.accept.catalogue.universal import UNIVERSAL_KINDS as UNIVERSAL_KINDS
