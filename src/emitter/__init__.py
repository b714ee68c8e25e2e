"""Typed output and decisions from language models.

Public names load on first use, so importing this package loads no vendor SDK. The rest of the library is in
``emitter.decisions``, ``emitter.authority``, ``emitter.bulk``, ``emitter.host``, ``emitter.stores``,
``emitter.telemetry``, ``emitter.errors`` and ``emitter.testing``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports
from emitter.version import __version__ as __version__

if TYPE_CHECKING:
    from emitter.api import AsyncEmitter as AsyncEmitter
    from emitter.api import Emitter as Emitter
    from emitter.bulk import aemit_many as aemit_many
    from emitter.bulk import emit_many as emit_many
    from emitter.client.binding_moments import aemit_binding_moment as aemit_binding_moment
    from emitter.client.binding_moments import astream_binding_moment as astream_binding_moment
    from emitter.client.binding_moments import emit_binding_moment as emit_binding_moment
    from emitter.client.binding_moments import stream_binding_moment as stream_binding_moment
    from emitter.client.documents import aemit as aemit
    from emitter.client.documents import astream as astream
    from emitter.client.documents import emit as emit
    from emitter.client.documents import stream as stream
    from emitter.client.rate_limits import RateLimit as RateLimit
    from emitter.client.result import Emission as Emission
    from emitter.client.result import Trace as Trace
    from emitter.client.result import Withheld as Withheld
    from emitter.client.routing import Fallback as Fallback
    from emitter.errors import AuthenticationError as AuthenticationError
    from emitter.errors import BadRequest as BadRequest
    from emitter.errors import EmissionError as EmissionError
    from emitter.errors import EmitterError as EmitterError
    from emitter.errors import InputError as InputError
    from emitter.errors import Invalid as Invalid
    from emitter.errors import LimitReached as LimitReached
    from emitter.errors import NotFound as NotFound
    from emitter.errors import RateLimited as RateLimited
    from emitter.errors import Refused as Refused
    from emitter.errors import Truncated as Truncated
    from emitter.errors import Unreachable as Unreachable
    from emitter.messages import Usage as Usage
    from emitter.models import BindingMoment as BindingMoment
    from emitter.models import Option as Option
    from emitter.models import Trust as Trust
    from emitter.policy import Policy as Policy
    from emitter.policy import Prices as Prices
    from emitter.profiles import Profile as Profile
    from emitter.prompts import Example as Example
    from emitter.prompts import Material as Material
else:
    _NO_PATCHED_CLIENT = 'Write Emitter("openai/gpt-6-sol"), with client=client for a client of your own.'
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "client.documents": "emit aemit stream astream",
            "client.binding_moments": (
                "emit_binding_moment aemit_binding_moment stream_binding_moment astream_binding_moment"
            ),
            "bulk": "emit_many aemit_many",
            "api": "Emitter AsyncEmitter",
            "client.rate_limits": "RateLimit",
            "client.result": "Emission Trace Withheld",
            "client.routing": "Fallback",
            "errors": (
                "AuthenticationError BadRequest EmissionError EmitterError InputError Invalid LimitReached "
                "NotFound RateLimited Refused Truncated Unreachable"
            ),
            "messages": "Usage",
            "models": "BindingMoment Option Trust",
            "policy": "Policy Prices",
            "profiles": "Profile",
            "prompts": "Example Material",
        },
        hints={
            **dict.fromkeys(("from_provider", "from_openai", "from_anthropic", "patch"), _NO_PATCHED_CLIENT),
            "Partial": "Call stream(...).partials().",
        },
    )
