"""Forms of output that an emission can ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.forms.binding_moment import NO_ACTIONS as NO_ACTIONS
    from emitter.forms.binding_moment import DecisionTerms as DecisionTerms
    from emitter.forms.binding_moment import binding_moment_form as binding_moment_form
    from emitter.forms.binding_moment import decision_selectors as decision_selectors
    from emitter.forms.binding_moment import option_digests as option_digests
    from emitter.forms.document import document_form as document_form
    from emitter.forms.document import document_selectors as document_selectors
    from emitter.forms.document import document_terms as document_terms
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "binding_moment": "NO_ACTIONS DecisionTerms binding_moment_form decision_selectors option_digests",
            "document": "document_form document_selectors document_terms",
        },
    )
