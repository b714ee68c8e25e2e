"""A test kit for surfaces: whoever draws a decision holds the drawing to the draft's contract for renderers.

``class TestMySurface(SurfaceContract): subject = MySubject()`` is a class of tests for pytest, and
``check_surface(MySubject())`` the same without it. The subject looks at a drawing as a person does:
``RendererSubject`` holds what every ``Renderer`` has, and leaves text, option, hatches, select, answer and object.

Source: draft-morrison-binding-moment-envelope-00, sections 4, 6.3, 8 and 11.
"""

from emitter.testing.surfaces.contract import SurfaceContract as SurfaceContract
from emitter.testing.surfaces.contract import check_surface as check_surface
from emitter.testing.surfaces.hostile import HOSTILE as HOSTILE
from emitter.testing.surfaces.hostile import HUGE as HUGE
from emitter.testing.surfaces.hostile import everywhere as everywhere
from emitter.testing.surfaces.hostile import labelled as labelled
from emitter.testing.surfaces.moments import FEW as FEW
from emitter.testing.surfaces.moments import MOMENTS as MOMENTS
from emitter.testing.surfaces.moments import ordinary as ordinary
from emitter.testing.surfaces.require import Broken as Broken
from emitter.testing.surfaces.results import GOOD as GOOD
from emitter.testing.surfaces.results import MALFORMED as MALFORMED
from emitter.testing.surfaces.results import PAYLOAD as PAYLOAD
from emitter.testing.surfaces.results import WITHOUT as WITHOUT
from emitter.testing.surfaces.subject import NotOffered as NotOffered
from emitter.testing.surfaces.subject import RendererSubject as RendererSubject
from emitter.testing.surfaces.subject import ShownOption as ShownOption
from emitter.testing.surfaces.subject import Subject as Subject
