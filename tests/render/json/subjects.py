"""Every surface of JSON as a person meets it, by its name.

Each host is the least one that follows its format: it interprets no more than the format says, and it echoes what a
real one echoes.
"""

from __future__ import annotations

from tests.render.json.subject_a2ui import A2uiSubject
from tests.render.json.subject_adaptive_card import AdaptiveCardSubject
from tests.render.json.subject_forms import ElicitationSubject, OpenwopSurfaceSubject
from tests.render.json.subject_slack import SlackSubject

SUBJECTS = {
    each.renderer.name: each
    for each in (SlackSubject(), AdaptiveCardSubject(), A2uiSubject(), OpenwopSurfaceSubject(), ElicitationSubject())
}
