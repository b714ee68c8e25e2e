"""A decision as one HTML page: to be read as it stands, or, with a form, to be answered.

Source: draft-morrison-binding-moment-envelope-00, section 8.

``RENDERER.draw(moment)`` is a whole document without script, picture or address, fit for a file, a mail's attachment
or a frame: each answer shows the key that stands for it. ``Html(Form(action))`` draws the same page with working forms,
and reads what they send.
"""

from emitter.render.html.form import Form as Form
from emitter.render.html.page import QUESTION as QUESTION
from emitter.render.html.renderer import RENDERER as RENDERER
from emitter.render.html.renderer import Html as Html
